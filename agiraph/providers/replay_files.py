"""The files of a recorded run, put away or not."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agiraph.core.packed import unpacked
from agiraph.core.retention import ordered, talks
from agiraph.errors import Unreadable

if TYPE_CHECKING:
    from pathlib import Path


def lines_of(*files: Path) -> list[bytes]:
    """The lines of some files, one after the other; nothing of what cannot be read."""
    return [line for file in files for line in _read(file).splitlines()]


def sessions(home: Path) -> list[Path]:
    """What compaction put aside in a home or a worker's folder, each once, in order."""
    away = (home / "_archive" / "conversations").glob("*.jsonl.gz")
    found = {path.name.removesuffix(".gz"): path for path in away}
    found |= {path.name: path for path in (home / "conversations").glob("*.jsonl")}
    return [found[name] for name in talks(found)]


def events(home: Path) -> list[Path]:
    """The log of an agent's events, with what was put away of it, in order."""
    away = {path.name: path for path in (home / "_archive" / "events").glob("*")}
    return [*(away[name] for name in ordered(away)), home / "events.jsonl"]


def _read(file: Path) -> bytes:
    try:
        data = file.read_bytes()
        if file.suffix != ".gz":
            return data
        return b"".join(unpacked([data], PurePosixPath(file)))
    except (OSError, Unreadable):
        return b""
