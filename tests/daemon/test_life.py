"""The daemon's own life: it starts, is killed, ends, and goes on where it was."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, call, hang
from tests.support.scripts import (
    at_gate,
    done,
    drop,
    gate,
    open_gate,
    publish,
    speak,
    told,
    until_there,
)
from tests.support.scripts import call as scripted
from tests.support.scripts import say as text
from tests.support.trees import contents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.model_asked import Asked
    from tests.support.model_replies import Scripted


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon of the test's own."""
    with Daemon(tmp_path, {}) as running:
        yield running


def working(daemon: Daemon, agent: str = "a") -> str:
    """An agent whose worker waits at a gate while its coordinator waits; its run."""
    speak(
        daemon,
        agent,
        [scripted("create_work_node", id="n", task="N."), scripted("wait"), done()],
        n=[gate("go"), publish("N")],
    )
    drop(daemon, agent)
    at_gate(daemon, agent, "go")
    return f"{agent}/runs/{daemon.names(f'{agent}/runs/*')[0]}"


# --- ending


def test_sigterm_ends_it_within_seconds_with_every_step_recorded(
    daemon: Daemon,
) -> None:
    run = working(daemon)
    shell = daemon.until(lambda: _children(daemon.pid), "the command runs")
    started = time.monotonic()
    assert daemon.stop(signal.SIGTERM) == 0
    assert time.monotonic() - started < 20
    assert "every step is recorded" in daemon.log.read_text()
    assert not any(_runs(pid) for pid in shell)
    results = told(daemon, f"{run}/workers/worker-1", "tool")
    assert "Cut off" in results
    daemon.start()
    daemon.until_state("a", "completed")
    assert len(daemon.names("a/runs/*")) == 1
    calls = [
        line
        for line in daemon.lines(f"{run}/workers/worker-1/conversation.jsonl")
        if line.get("role") == "tool" and line["name"] == "bash"
    ]
    assert len(calls) == 1, "the command is not repeated"


def test_the_first_ctrl_c_ends_it_cleanly_and_the_second_at_once(
    tmp_path: Path,
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with Daemon(tmp_path / "one", {}) as one, Daemon(tmp_path / "two", {}) as two:
        for daemon in (one, two):
            working(daemon)
        interrupted(one, two)


def interrupted(one: Daemon, two: Daemon) -> None:
    """The first is sent one Ctrl-C, the second one two."""
    assert one.stop(signal.SIGINT) == 130
    assert "every step is recorded" in one.log.read_text()
    shell = two.until(lambda: _children(two.pid), "the command runs")
    os.kill(two.pid, signal.SIGSTOP)  # so that both are pending when it goes on
    os.kill(two.pid, signal.SIGINT)
    os.kill(two.pid, signal.SIGCONT)
    two.until(lambda: "second Ctrl-C" in two.log.read_text(), "the first is heard")
    with contextlib.suppress(ProcessLookupError):
        os.kill(two.pid, signal.SIGINT)
    started = time.monotonic()
    assert two.ended() == 130
    assert time.monotonic() - started < 10
    two.until(lambda: not any(_runs(pid) for pid in shell), "no command is left")


def test_a_second_daemon_says_who_holds_the_tree_and_exits_with_seven(
    daemon: Daemon,
) -> None:
    code, out, err = daemon.run("up")
    assert code == 7
    assert out == ""
    assert str(daemon.pid) in err
    assert str(daemon.root) in err
    assert daemon.running
    daemon.kill()
    daemon.start()  # a lock that a killed daemon left holds nobody up


# --- what it says


def test_json_lines_for_machines(tmp_path: Path) -> None:
    with Daemon(tmp_path, {}, "--log-format", "json") as daemon:
        speak(daemon, "a", [done("It is done.")])
        drop(daemon, "a")
        daemon.until_state("a", "completed")
    lines = [json.loads(line) for line in daemon.log.read_text().splitlines()]
    assert all({"ts", "message"} <= line.keys() for line in lines)
    kinds = [line["type"] for line in lines if line.get("agent") == "a"]
    for kind in ("agent.created", "agent.started", "agent.completed"):
        assert kinds.count(kind) == 1, kind


# --- killed


MOMENTS = ("coordinator:1", "Alice:2", "command")


@pytest.mark.parametrize(
    ("moments", "caches"), [(MOMENTS[1:], "kept"), (MOMENTS, "deleted")]
)
def test_kill_9_at_several_moments_repeats_no_recorded_step(
    tmp_path: Path, moments: tuple[str, ...], caches: str
) -> None:
    """Counted at the model server: only what was in flight is asked twice."""
    begun: set[str] = set()
    write = f'echo x >> "{{}}"; {until_there("go")}'
    written = tmp_path / "written"

    def script(asked: Asked) -> Scripted:
        mark = f"{asked.who}:{asked.turn}"
        if mark in moments and mark not in begun:
            begun.add(mark)
            return hang(60)
        if asked.who == "Alice":
            return [
                call("write_file", path="scratch/a.md", content="A\n"),
                call("bash", command=write.format(written)),
                call("publish", summary="A"),
            ][min(asked.turn, 3) - 1]
        if asked.turn == 1:
            return call("create_work_node", id="n", task="N.", worker="Alice")
        return call("wait") if asked.turn == 2 else call("finish", summary="done")

    with (
        ModelServer(script) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        (daemon.root / "a/inputs").mkdir(parents=True)
        head = "---\nmodel: anthropic/claude-sonnet-4-5\nreflection: false\n---\n"
        daemon.write("a/GOAL.md", f"{head}Do it.\n")
        for moment in moments:
            daemon.until(
                lambda now=moment: (
                    now in begun or (now == "command" and written.exists())
                ),
                f"{moment} is in flight",
            )
            daemon.kill()
            if caches == "deleted":
                shutil.rmtree(daemon.root / ".agiraph")
            daemon.start()
        daemon.until_state("a", "completed")
        run = f"a/runs/{daemon.names('a/runs/*')[0]}"
        results = [
            line["content"]
            for line in daemon.lines(f"{run}/workers/Alice/conversation.jsonl")
            if line["role"] == "tool" and line["name"] == "bash"
        ]
    assert server.refusals == []
    assert written.read_text() == "x\n", "bash ran once"
    assert len(results) == 1
    assert "outcome is unknown" in results[0]
    asked = [f"{one.who}:{one.turn}" for one in server.requests]
    twice = {mark for mark in asked if asked.count(mark) > 1}
    assert twice == set(moments) - {"command"}
    assert all(asked.count(mark) == 2 for mark in twice)
    assert daemon.read(f"{run}/nodes/n/published/a.md") == "A\n"
    assert len(daemon.names("a/runs/*")) == 1
    assert len(daemon.events("a", "agent.completed")) == 1


def test_mail_over_restarts_and_kills_is_delivered_once(daemon: Daemon) -> None:
    speak(
        daemon,
        "a",
        [scripted("create_work_node", id="n", task="N."), text("I wait.")],
        otherwise=text("Read."),
        n=[gate("go"), publish("N")],
    )
    drop(daemon, "a")
    at_gate(daemon, "a", "go")
    daemon.append("a/_inbox.md", "Before the kill.\n")
    daemon.until(lambda: "Before the kill." in told(daemon, "a"), "it is delivered")
    daemon.kill()
    daemon.append("a/_inbox.md", "While it was down.\n")
    daemon.write("a/_inbox/late.md", "Dropped while it was down.\n")
    daemon.start()
    daemon.until(lambda: "Dropped while" in told(daemon, "a"), "the drop is delivered")
    daemon.until(lambda: "While it was" in told(daemon, "a"), "it is delivered")
    daemon.append("a/_inbox.md", "Just before the kill.\n")
    time.sleep(0.3)  # about when it is accepted: whichever side of it the kill falls
    daemon.kill()
    daemon.start()
    daemon.until(lambda: "Just before" in told(daemon, "a"), "it is delivered")
    assert daemon.stop() == 0
    daemon.start()
    speak(daemon, "b", [done()])
    drop(daemon, "b")
    daemon.until_state("b", "completed")
    said = told(daemon, "a")
    for words in ("Before the kill.", "While it was down.", "Dropped while it was"):
        assert said.count(words) == 1, words
    assert said.count("Just before the kill.") == 1
    assert daemon.names("a/_inbox/.read/*") == ["late.md"]


def test_deleting_the_caches_while_it_is_stopped_changes_nothing(
    daemon: Daemon,
) -> None:
    run = working(daemon)
    speak(daemon, "ended", [done()])
    drop(daemon, "ended")
    daemon.until_state("ended", "completed")
    kept = daemon.root / "ended/_state/accepted/SOUL.md"
    daemon.until(kept.exists, "its new SOUL.md has settled")
    assert daemon.stop() == 0
    before = contents(daemon.root / "ended")
    shutil.rmtree(daemon.root / ".agiraph")
    daemon.start()
    open_gate(daemon, "a", "go")
    daemon.until_state("a", "completed")
    assert daemon.state(f"{run}/nodes/n") == "completed"
    assert contents(daemon.root / "ended") == before


def test_a_tree_changed_while_it_was_stopped_is_taken_up_as_it_is(
    daemon: Daemon,
) -> None:
    for agent in ("edited", "left"):
        speak(daemon, agent, [done("one"), done("two")])
        drop(daemon, agent)
    for agent in ("edited", "left"):
        daemon.until_state(agent, "completed")
    assert daemon.stop() == 0
    daemon.edit("edited/GOAL.md", "Do it.", "Do it twice.")
    speak(daemon, "new", [done()])
    drop(daemon, "new")
    daemon.start()
    daemon.until_state("new", "completed")
    daemon.until(lambda: len(daemon.names("edited/runs/*")) == 2, "a second run")
    daemon.until_state("edited", "completed")
    assert len(daemon.names("left/runs/*")) == 1
    assert len(daemon.lines("left/usage.jsonl")) == 1


def _runs(pid: int) -> bool:
    """Whether a process runs: neither gone, nor dead and not yet buried."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def _children(pid: int) -> list[int]:
    """The processes that a process started, and theirs."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        found = [int(word) for word in file.read().split()]
    return found + [below for child in found for below in _children(child)]
