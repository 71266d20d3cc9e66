"""The parts of a log that were put away, and what of it is left: read as one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agiraph.core.loghead import HEAD_BYTES, WHOLE, head_of
from agiraph.core.packed import lines, unpacked
from agiraph.core.retention import parts
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.layout import put_away

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.core.loghead import Head
    from agiraph.ports import Reader

_PIECE = 1024 * 1024


def head_at(reader: Reader, log: PurePosixPath) -> Head:
    """What a log begins with; as if it were whole where there is none."""
    try:
        return head_of(reader.part(log, offset=0, limit=HEAD_BYTES))
    except NotThere:
        return WHOLE


def archives(
    reader: Reader, log: PurePosixPath, head: Head | None = None
) -> list[PurePosixPath]:
    """The archives of a log, the oldest first; not one that somebody deleted.

    Args:
        reader: of the tree.
        log: which.
        head: what it began with when it was read; None: what it begins with now.

    Raises:
        Unreadable: the folder that they lie in may not be read.
    """
    head = head if head is not None else head_at(reader, log)
    if not head.size:
        return []
    shelf = put_away(log)
    try:
        there = [entry.name for entry in reader.entries(shelf)]
    except NotThere:
        return []
    return [shelf / name for name in parts(there, head.part)]


def older(
    reader: Reader, log: PurePosixPath, head: Head | None = None
) -> Iterator[Iterator[bytes]]:
    """The lines that were put away, an archive at a time, the newest first.

    As far as they can be read: `agiraph check` tells of the rest. Args: as `archives`.
    """
    with suppress(AgiraphError):
        for archive in reversed(archives(reader, log, head)):
            yield _readable(reader, archive)


def _readable(reader: Reader, archive: PurePosixPath) -> Iterator[bytes]:
    with suppress(AgiraphError):
        yield from archived(reader, archive)


def archived(reader: Reader, archive: PurePosixPath) -> Iterator[bytes]:
    """The lines in an archive, with their ends.

    Raises:
        Unreadable: it is damaged, or the system refuses.
        NotThere: somebody deleted it.
    """
    return lines(unpacked(pieces(reader, archive), archive))


def names(reader: Reader, folder: PurePosixPath) -> list[str]:
    """What lies in a folder; nothing where there is none."""
    try:
        return [entry.name for entry in reader.entries(folder)]
    except AgiraphError:
        return []


def pieces(
    reader: Reader, path: PurePosixPath, start: int = 0, end: int | None = None
) -> Iterator[bytes]:
    """The bytes of a file between two offsets, in order; raises as `part` does."""
    at = start
    while end is None or at < end:
        limit = _PIECE if end is None else min(_PIECE, end - at)
        piece = reader.part(path, offset=at, limit=limit)
        if not piece:
            return
        yield piece
        at += len(piece)
