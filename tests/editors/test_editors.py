"""Each way of saving a file is taken in once, whole, and never half or empty.

A few saves of each writer run with the other tests; all twenty of each by
`AGIRAPH_EDITOR_SAVES=20 pytest tests/editors`.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.clock import SystemClock
from agiraph.ports import Seen
from agiraph.tree.reader import DiskReader
from tests.support.editors import WRITERS, Writer

if TYPE_CHECKING:
    from pathlib import Path

SAVES = int(os.environ.get("AGIRAPH_EDITOR_SAVES", "2"))
GOAL = PurePosixPath("ada/GOAL.md")


class Eye(threading.Thread):
    """Looks again and again, as the daemon does, and keeps what it would accept."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self._reader = DiskReader(str(root), SystemClock())
        self._ended = threading.Event()
        self.accepted: list[str] = []

    def run(self) -> None:
        last = ""
        while not self._ended.wait(0.005):
            sight = self._reader.look(GOAL, limit=1 << 20)
            if sight.seen in (Seen.GOOD, Seen.BAD) and sight.sha != last:
                last = sight.sha
                self.accepted.append(sight.text or f"bad: {sight.problem}")
            elif sight.seen is Seen.ABSENT:
                self.accepted.append("absent")

    def waits_for(self, count: int) -> None:
        end = time.monotonic() + 10
        while len(self.accepted) < count and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)  # long enough for a second, wrong reaction to show

    def end(self) -> None:
        self._ended.set()
        self.join()


def version(number: int) -> str:
    lines = [f"line {line} of version {number}, to the end" for line in range(40)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.name)
def test_each_save_is_taken_in_once_and_whole(writer: Writer, tmp_path: Path) -> None:
    if writer.missing:
        pytest.skip(f"{writer.needs} is not installed")
    goal = tmp_path / "agents" / "ada" / "GOAL.md"
    goal.parent.mkdir(parents=True)
    goal.write_text(version(0))
    eye = Eye(tmp_path / "agents")
    eye.start()
    try:
        eye.waits_for(1)
        for number in range(1, SAVES + 1):
            writer.save(goal, version(number))
            eye.waits_for(number + 1)
    finally:
        eye.end()
    assert eye.accepted == [version(number) for number in range(SAVES + 1)]
