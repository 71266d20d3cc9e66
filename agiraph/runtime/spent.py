"""What a log of model calls says, a piece at a time, from its start or its end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agiraph.core.codec import usage_from_line
from agiraph.core.loglines import record_of
from agiraph.errors import AgiraphError, NotThere, YourError
from agiraph.runtime.parts import archived, archives, head_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePosixPath

    from agiraph.model.usage import ModelCall
    from agiraph.ports import Reader

_PIECE = 1024 * 1024


def calls(
    reader: Reader, path: PurePosixPath, *, start: int = 0
) -> Iterator[ModelCall]:
    """The calls of a `usage.jsonl` from a place on; lines that are none are left out.

    Places count as if nothing had been put away; what was, is read first.
    """
    for call, _ in calls_to(reader, path, start=start):
        yield call


def calls_to(
    reader: Reader, path: PurePosixPath, *, start: int
) -> Iterator[tuple[ModelCall, int]]:
    """The same, each with the place behind its line; half a line is not read."""
    try:
        head = head_at(reader, path)
    except AgiraphError:
        return
    if start < head.bytes:
        yield from ((old, head.bytes) for old in _put_away(reader, path))
    at = max(head.offset(start), head.size)
    while True:
        try:
            piece = reader.part(path, offset=at, limit=_PIECE)
        except AgiraphError:
            return
        whole = piece.rfind(b"\n") + 1
        if not whole:
            return
        for raw in piece[:whole].splitlines(keepends=True):
            at += len(raw)
            call = _call(raw)
            if call is not None:
                yield call, head.place(at)


def _put_away(reader: Reader, path: PurePosixPath) -> Iterator[ModelCall]:
    """The calls in the archives; of one that cannot be read, as far as it can."""
    for archive in archives(reader, path):
        with suppress(AgiraphError):
            yield from _calls(archived(reader, archive))


def latest(reader: Reader, path: PurePosixPath) -> Iterator[list[ModelCall]]:
    """The calls from the end of a `usage.jsonl` on, a piece of the file at a time.

    After the file itself come the archives, each in one piece.

    Raises:
        Unreadable: to take it for empty would let a budget begin anew.
    """
    entry = reader.entry(path)
    end, rest = entry.size if entry is not None else 0, b""
    while end:
        start = max(0, end - _PIECE)
        piece = reader.part(path, offset=start, limit=end - start)
        first, *lines = (piece + rest).split(b"\n")
        rest, end = first, start
        whole = lines if start else [first, *lines]
        if found := _calls(whole):
            yield found
    for archive in reversed(archives(reader, path)):
        with suppress(NotThere):  # somebody deleted it: they said so
            yield _calls(archived(reader, archive))


def _calls(lines: Iterable[bytes]) -> list[ModelCall]:
    return [call for line in lines if (call := _call(line)) is not None]


def _call(raw: bytes) -> ModelCall | None:
    found = record_of(raw)
    try:
        return usage_from_line(found) if found is not None else None
    except YourError:
        return None
