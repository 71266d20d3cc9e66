"""A tree that cannot be written: work parks with a word and goes on by itself."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import Daemon
from tests.support.scripts import (
    at_gate,
    call,
    done,
    drop,
    gate,
    open_gate,
    speak,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path


def could(*words: str) -> bool:
    """Run a command of the system's; whether it is there and allowed."""
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_a_tree_that_turns_read_only_holds_the_work_until_it_can_be_written(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {}) as daemon:
        agents = str(daemon.root)
        write = call("write_file", path="scratch/a.md", content="A\n")
        speak(daemon, "a", [gate("go"), write, done("Written.")])
        drop(daemon, "a")
        at_gate(daemon, "a", "go")
        open_gate(daemon, "a", "go")
        if not could("chattr", "-R", "+i", agents):
            could("chattr", "-R", "-i", agents)
            daemon.kill()
            pytest.skip("nothing can be made read-only by chattr here")
        try:
            daemon.until(
                lambda: "may not be written" in daemon.log.read_text(),
                "the daemon says what is wrong",
            )
            assert "give the user that runs Agiraph the right" in daemon.log.read_text()
            assert daemon.running
        finally:
            assert could("chattr", "-R", "-i", agents)
        daemon.until_state("a", "completed")
        assert daemon.read("a/runs/*/published/a.md") == "A\n"
        results = [
            x for x in daemon.lines("a/conversation.jsonl") if x["role"] == "tool"
        ]
        assert [x["name"] for x in results] == ["bash", "write_file", "finish"]
        assert "may not be written" not in told(daemon, "a", "tool")
        assert "goes on" in daemon.log.read_text()
        assert "Traceback" not in daemon.log.read_text()


def test_a_daemon_on_a_read_only_tree_says_so_and_ends(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, {})
    agents = str(daemon.root)
    mounted = could("mount", "-t", "tmpfs", "none", agents)
    if not mounted or not could("mount", "-o", "remount,ro", agents):
        pytest.skip("no read-only disk may be mounted here")
    try:
        code, _, words = daemon.run("up")
    finally:
        assert could("umount", "-l", agents)
    assert code == 4
    assert "may not be written (read-only file system)" in words
    assert "Traceback" not in words
