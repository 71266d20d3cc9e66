"""An agent at rest is left alone, over restarts too, until something of it changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import Daemon
from tests.support.scripts import done, drop, speak

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CACHE = ".agiraph/at_rest.json"


@pytest.fixture
def rested(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that was started anew after its agent `done` had come to rest."""
    daemon = Daemon(tmp_path, {})
    with daemon:
        speak(daemon, "done", [done(), done(), done()])
        drop(daemon, "done", "Bring an apple.")
        daemon.until_state("done", "completed")
        daemon.until(lambda: resting(daemon) == ["done"], "it rests", seconds=90)
        daemon.stop()
        daemon.start()
        yield daemon


def resting(daemon: Daemon) -> list[str]:
    return list(json.loads(daemon.read(CACHE))["agents"])


def test_a_changed_goal_opens_a_run(rested: Daemon) -> None:
    rested.edit("done/GOAL.md", "apple", "pear")
    rested.until(lambda: len(rested.names("done/runs/*")) == 2, "a second run")


def test_a_goal_that_changed_while_no_daemon_ran_opens_a_run(rested: Daemon) -> None:
    rested.stop()
    rested.edit("done/GOAL.md", "apple", "pear")
    rested.start()
    rested.until(lambda: len(rested.names("done/runs/*")) == 2, "a second run")


def test_a_message_is_delivered(rested: Daemon) -> None:
    rested.write("done/_inbox/hello.md", "Hello.\n")
    rested.until_there("done/_inbox/.read/hello.md")
    rested.until_event("done", "message.received")


def test_a_spec_puts_a_node_on_the_board_of_the_ended_run(rested: Daemon) -> None:
    folder = f"done/runs/{rested.names('done/runs/*')[0]}"
    rested.write(f"{folder}/nodes/more/_spec.md", "Bring a plum.\n")
    rested.until_event("done", "node.created", node="more")


def test_a_pause_of_the_tree_is_told_by_every_page(rested: Daemon) -> None:
    rested.write("PAUSE", "")
    rested.until_state("done", "paused")


@pytest.mark.parametrize("words", ["[]", '{"agents": {"done": 3}}'])
def test_a_damaged_cache_is_as_good_as_none(rested: Daemon, words: str) -> None:
    rested.stop()
    rested.write(CACHE, words)
    rested.edit("done/GOAL.md", "apple", "pear")
    rested.start()
    rested.until(lambda: len(rested.names("done/runs/*")) == 2, "a second run")
