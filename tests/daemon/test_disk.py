"""A disk that fills up: work parks with a word, loses nothing, goes on by itself."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from agiraph.tree.room import RealDisk
from tests.support.daemon import Daemon
from tests.support.scripts import (
    at_gate,
    call,
    done,
    drop,
    gate,
    open_gate,
    speak,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1024 * 1024
SIZE = 48 * MIB
LIBC = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own with 48 MiB."""
    if not sys.platform.startswith("linux"):
        pytest.skip("a small disk is made by tmpfs, which Linux has")
    home = tmp_path / "home"
    (home / "agents").mkdir(parents=True)
    where = str(home / "agents").encode()
    options = f"size={SIZE}".encode()
    if LIBC.mount(b"tmpfs", where, b"tmpfs", 0, options) != 0:
        pytest.skip(f"no disk may be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield home
    finally:
        LIBC.umount2(where, 2)  # MNT_DETACH


def fill(root: Path, *, leave: int) -> Path:
    """Fill the disk until so many bytes are left."""
    ballast = root / "ballast"
    room = RealDisk(str(root)).room()
    assert room.bytes is not None
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        file.write(b"x" * (room.bytes - leave))
        while not leave:
            file.write(b"x" * 4096)
    return ballast


def test_below_the_floor_everything_parks_and_above_it_goes_on_by_itself(
    small: Path,
) -> None:
    with Daemon(small, {}) as daemon:
        write = call("write_file", path="scratch/a.md", content="After the flood.\n")
        speak(daemon, "news", [gate("go"), write, done()])
        drop(daemon, "news")
        at_gate(daemon, "news", "go")
        ballast = fill(daemon.root, leave=8 * MIB)
        daemon.until(lambda: "the disk is nearly full" in daemon.told(), "it is told")
        open_gate(daemon, "news", "go")
        daemon.until_state("news", "held")
        words = daemon.head("news/_status.md")["waiting_for"]
        assert re.match(r"the disk is nearly full: [78] MiB left; everything", words)
        calls = len(daemon.lines("news/usage.jsonl"))

        speak(daemon, "late", [done()])
        drop(daemon, "late")
        daemon.until_state("late", "held")
        assert not daemon.there("late/usage.jsonl")
        assert len(daemon.lines("news/usage.jsonl")) == calls

        ballast.unlink()
        daemon.until_state("news", "completed")
        daemon.until_state("late", "completed")
        assert daemon.read("news/runs/*/published/a.md") == "After the flood.\n"


def test_a_disk_that_is_quite_full_loses_nothing_and_is_waited_for(
    small: Path,
) -> None:
    with Daemon(small, {}) as daemon:
        long = call("write_file", path="scratch/long.md", content="full\n" * 1800)
        speak(daemon, "flood", [gate("go"), long, done("Dry again.")])
        drop(daemon, "flood")
        at_gate(daemon, "flood", "go")
        ballast = fill(daemon.root, leave=0)
        open_gate(daemon, "flood", "go")
        daemon.until(lambda: "no room" in daemon.told(), "the full disk is told")
        before = daemon.read("flood/conversation.jsonl")
        ballast.unlink()
        daemon.until_state("flood", "completed")
        assert daemon.read("flood/conversation.jsonl").startswith(before)
        assert daemon.read("flood/runs/*/published/long.md") == "full\n" * 1800
        roles = [line["role"] for line in daemon.lines("flood/conversation.jsonl")]
        assert roles == ["system", "user", *["assistant", "tool"] * 3]
        assert len(daemon.lines("flood/usage.jsonl")) == 3


def test_a_daemon_that_starts_on_a_full_disk_waits_for_room(small: Path) -> None:
    daemon = Daemon(small, {})
    speak(daemon, "news", [done()])
    drop(daemon, "news")
    ballast = fill(daemon.root, leave=4 * MIB)
    with daemon:
        daemon.until_state("news", "held")
        ballast.unlink()
        daemon.until_state("news", "completed")
