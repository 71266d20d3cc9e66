"""The files of a recorded run, put away or not."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agiraph.core.packed import unpacked
from agiraph.errors import Unreadable

if TYPE_CHECKING:
    from pathlib import Path


def lines_of(*files: Path) -> list[bytes]:
    """The lines of some files, one after the other; nothing of what cannot be read."""
    return [line for file in files for line in _read(file).splitlines()]


def sessions(home: Path) -> list[Path]:
    """What compaction put aside of the coordinator's conversation, in order."""
    away = (home / "_archive" / "conversations").glob("*.jsonl.gz")
    return [*sorted(away), *sorted((home / "conversations").glob("*"))]


def events(home: Path) -> list[Path]:
    """The log of an agent's events, with what was put away of it, in order."""
    away = (home / "_archive" / "events").glob("*.jsonl.gz")
    return [*sorted(away), home / "events.jsonl"]


def _read(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        if file.suffix != ".gz":
            return data
        return b"".join(unpacked([data], PurePosixPath(file)))
    except (OSError, Unreadable):
        return b""
