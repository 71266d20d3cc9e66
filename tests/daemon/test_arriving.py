"""An agent is made by a GOAL.md that arrives, however it arrives."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

from tests.support.scripts import done, drop, goal, speak, told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.daemon import Daemon

TEXT = "Count to three:\none,\ntwo,\nthree."


def shell(words: str, where: Path, **variables: str) -> None:
    subprocess.run(
        ["sh", "-ec", words], cwd=where, env=os.environ | variables, check=True
    )


def by_echo(root: Path, agent: str, text: str) -> None:
    shell(f'mkdir {agent}; printf "%s" "$TEXT" > {agent}/GOAL.md', root, TEXT=text)


def by_rename(root: Path, agent: str, text: str) -> None:
    shell(
        f'mkdir {agent}; printf "%s" "$TEXT" > {agent}/.GOAL.md.tmp; '
        f"mv {agent}/.GOAL.md.tmp {agent}/GOAL.md",
        root,
        TEXT=text,
    )


def by_moving_the_folder_in(root: Path, agent: str, text: str) -> None:
    shell(
        f'mkdir -p ../{agent}/inputs; printf "%s" "$TEXT" > ../{agent}/GOAL.md; '
        f"echo one > ../{agent}/inputs/list.txt; echo I count. > ../{agent}/SOUL.md; "
        f"mv ../{agent} {agent}",
        root,
        TEXT=text,
    )


def by_copying_the_folder_in(root: Path, agent: str, text: str) -> None:
    shell(
        f'mkdir -p ../{agent}/inputs/deep; printf "%s" "$TEXT" > ../{agent}/GOAL.md; '
        f"echo one > ../{agent}/inputs/deep/list.txt; "
        f"echo I count. > ../{agent}/SOUL.md; cp -r ../{agent} .",
        root,
        TEXT=text,
    )


def by_vim(root: Path, agent: str, text: str) -> None:
    """A probe, the old file set aside, the new one written, the old one deleted."""
    home = root / agent
    home.mkdir()
    (home / "GOAL.md").touch()
    (home / ".GOAL.md.swp").write_bytes(b"b0VIM 9.0")
    (home / "4913").touch()
    (home / "4913").unlink()
    (home / "GOAL.md").rename(home / "GOAL.md~")
    (home / "GOAL.md").write_text(text, "utf-8")
    (home / "GOAL.md~").unlink()
    (home / ".GOAL.md.swp").unlink()


def by_sed(root: Path, agent: str, text: str) -> None:
    shell(
        f'mkdir {agent}; printf "%s" "$TEXT" | sed s/three/THREE/ > {agent}/GOAL.md; '
        f"sed -i s/THREE/three/ {agent}/GOAL.md",
        root,
        TEXT=text,
    )


def slowly(root: Path, agent: str, text: str) -> None:
    """A writer that keeps the file open and stops for longer than a settling."""
    (root / agent).mkdir()
    with (root / agent / "GOAL.md").open("w", encoding="utf-8") as file:
        for part in (text[:20], text[20:-8], text[-8:]):
            file.write(part)
            file.flush()
            time.sleep(0.35)


def line_by_line(root: Path, agent: str, text: str) -> None:
    for line in text.splitlines():
        shell(f'mkdir -p {agent}; echo "$LINE" >> {agent}/GOAL.md', root, LINE=line)


WAYS: tuple[Callable[[Path, str, str], None], ...] = (
    by_echo,
    by_rename,
    by_moving_the_folder_in,
    by_copying_the_folder_in,
    by_vim,
    by_sed,
    slowly,
    line_by_line,
)


def test_a_goal_that_arrives_in_any_way_is_read_whole_and_run_once(
    daemon: Daemon,
) -> None:
    for way in WAYS:
        speak(daemon, way.__name__, [done()])
        way(daemon.root, way.__name__, goal(way.__name__, TEXT))
    for way in WAYS:
        agent = way.__name__
        daemon.until_state(agent, "completed")
        assert TEXT in told(daemon, agent), agent
        assert len(daemon.names(f"{agent}/runs/*")) == 1, agent
        assert len(daemon.lines(f"{agent}/usage.jsonl")) == 1, agent


def test_a_new_home_gets_what_it_lacks_and_keeps_what_it_has(daemon: Daemon) -> None:
    speak(daemon, "bare", [done()])
    drop(daemon, "bare")
    speak(daemon, "full", [done()])
    by_copying_the_folder_in(daemon.root, "full", goal("full", TEXT))
    daemon.until_state("bare", "completed")
    daemon.until_state("full", "completed")
    for name in ("SOUL.md", "MEMORY.md", "_inbox.md", "memory", "_inbox"):
        assert daemon.there(f"bare/{name}"), name
        assert daemon.there(f"full/{name}"), name
    assert daemon.read("full/SOUL.md") == "I count.\n"
    assert "I count." in told(daemon, "full", "system")
    assert daemon.read("bare/SOUL.md") in told(daemon, "bare", "system")


def test_a_goal_without_settings_takes_those_of_the_tree(daemon: Daemon) -> None:
    speak(daemon, "plain", [done()])
    daemon.write("agiraph.yaml", "model: scripted/scripts/plain.yaml\n")
    (daemon.root / "plain").mkdir()
    daemon.write("plain/GOAL.md", "Just do it.\n")
    daemon.until_state("plain", "completed")
    assert daemon.head("plain/_status.md")["model"] == "scripted/scripts/plain.yaml"
    assert "Just do it." in told(daemon, "plain")


def test_a_goal_waits_for_settings_that_were_written_before_it(daemon: Daemon) -> None:
    speak(daemon, "later", [done()])
    for turn in range(20):  # somebody is at work on them for a second
        daemon.write("agiraph.yaml", "model: scripted/scripts/later.yaml\n")
        if not turn:
            (daemon.root / "later").mkdir()
            daemon.write("later/GOAL.md", "Just do it.\n")
        time.sleep(0.05)
    daemon.until_state("later", "completed")
    assert daemon.head("later/_status.md")["model"] == "scripted/scripts/later.yaml"


def test_a_folder_without_a_goal_is_left_alone(daemon: Daemon) -> None:
    (daemon.root / "notes").mkdir()
    (daemon.root / "notes/todo.txt").write_text("bread\n")
    speak(daemon, "after", [done()])
    drop(daemon, "after")
    daemon.until_state("after", "completed")
    assert daemon.names("notes/*") == ["todo.txt"]


def test_the_status_page_says_what_scripts_may_rely_on(daemon: Daemon) -> None:
    speak(daemon, "page", [done("It is done.")])
    drop(daemon, "page")
    daemon.until_state("page", "completed")
    page = daemon.read("page/_status.md")
    assert page.startswith("---\nstatus: completed\n")
    head = daemon.head("page/_status.md")
    assert head["run"] == daemon.names("page/runs/*")[0]
    assert head["turns"] == 1
    assert head["tokens"] > 0
    assert head["cost_usd"] == 0
    assert head["since"]
    assert "It is done." in daemon.read("page/runs/*/_output.md")
    kinds = [event["type"] for event in daemon.events("page")]
    for kind in ("agent.created", "agent.started", "agent.completed", "tool.called"):
        assert kinds.count(kind) == 1, kind
