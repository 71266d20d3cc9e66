"""In a whole run, what is told or done is on the disk before: seen by tracing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crash.point import Play
from tests.crash.scenario import AGENT
from tests.crash.scenarios import TOOLS

if TYPE_CHECKING:
    from pathlib import Path

CALLS = "write,sendto,sendmsg,fsync,fdatasync,rename,renameat,renameat2,execve,chdir"


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The system calls of a run with tools of every kind, in order, finished ones."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not here")
    home = tmp_path_factory.mktemp("traced")
    play = Play(TOOLS, home)
    log = home / "trace"
    words = [strace, "-D", "-f", "-y", "-qq", "-s", "400", "-e", f"trace={CALLS}"]
    daemon = play.daemon
    try:
        with daemon.log.open("ab") as out:
            daemon._process = subprocess.Popen(
                [*words, "-o", str(log), sys.executable, "-m", "agiraph", "up"],
                cwd=home,
                env=daemon.environment | {"AGIRAPH_AGENTS": str(daemon.root)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        until = play.until_end()
        if not until and "ptrace" in daemon.log.read_text():
            pytest.skip("tracing is not permitted here")
        assert until, daemon.told()
        assert daemon.stop() == 0
    finally:
        play.close()
    return whole(log)


def whole(log: Path) -> list[str]:
    """One line for each call, when it had ended; sends when they began."""
    begun: dict[tuple[str, str], str] = {}
    lines = []
    for line in log.read_text("utf-8", "replace").splitlines():
        pid, _, rest = line.partition(" ")
        rest = rest.strip()
        if unfinished := re.match(r"(\w+)\((.*)<unfinished", rest):
            begun[pid, unfinished[1]] = rest
            if unfinished[1].startswith(("send", "execve")):
                lines.append(rest)
        elif resumed := re.match(r"<\.\.\. (\w+) resumed>", rest):
            name = resumed[1]
            if not name.startswith(("send", "execve")):
                lines.append(begun.get((pid, name), name))
        else:
            lines.append(rest)
    return lines


def places(traced: list[str], *parts: str) -> list[int]:
    return [n for n, line in enumerate(traced) if all(part in line for part in parts)]


def test_a_conversation_is_on_the_disk_before_a_model_is_asked(
    traced: list[str],
) -> None:
    asked = places(traced, "send", "POST /v1")
    assert len(asked) >= 5
    for request in asked:
        written = [n for n in _talk(traced, "write(") if n < request][-1]
        synced = [n for n in _talk(traced, "sync(") if written < n < request]
        assert synced, f"not flushed before request: {traced[written][:200]}"


def _talk(traced: list[str], call: str) -> list[int]:
    return places(traced, call, f"/{AGENT}/conversation.jsonl>")


def test_an_answer_is_on_the_disk_before_any_of_its_tools_starts(
    traced: list[str],
) -> None:
    answers = [
        n for n in _talk(traced, "write(") if r"\"role\":\"assistant\"" in traced[n]
    ]
    assert len(answers) >= 5
    for answer in answers:
        called = [n for n in places(traced, "write(", "tool.called") if n > answer]
        if called:
            synced = [n for n in _talk(traced, "sync(") if answer < n < called[0]]
            assert synced, traced[answer][:200]


def test_what_is_intended_is_on_the_disk_before_it_is_done(traced: list[str]) -> None:
    intents = places(traced, "write(", "journal.jsonl>", r"\"intent\"")
    assert len(intents) >= 8
    effects = [
        *places(traced, "execve(", "effects"),
        *places(traced, "rename", '"a.md"'),
        *places(traced, "rename", '"MEMORY.md"')[1:],
        *places(traced, "rename", "_coordinator_to_human.md"),
        *places(traced, "rename", '"_output.md"'),
    ]
    assert len(effects) >= 6
    for effect in effects:
        intent = [n for n in intents if n < effect][-1]
        synced = [
            n for n in places(traced, "sync(", "journal.jsonl>") if intent < n < effect
        ]
        assert synced, f"not flushed before {traced[effect][:200]}"


def test_every_file_is_on_the_disk_before_it_gets_its_name(traced: list[str]) -> None:
    named = [
        found[1]
        for line in traced
        if (found := re.match(r'rename\w*\(.*?"(\.[^"]+\.agi-[^"]+\.tmp)"', line))
    ]
    assert len(named) >= 15
    for temporary in named:
        synced = places(traced, "fsync(", temporary)
        renamed = places(traced, "rename", temporary)
        assert synced, temporary
        assert synced[0] < renamed[0], temporary
