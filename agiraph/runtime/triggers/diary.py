"""What has happened since it was last asked: the new lines of events.jsonl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.core.loglines import record_of
from agiraph.errors import AgiraphError
from agiraph.runtime.parts import head_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home
    from agiraph.ports import Reader

MOST: Final = 8 * 1024 * 1024  # bytes at a time


def size(reader: Reader, home: Home) -> int:
    """How long the log is now, with all that was put away of it."""
    entry = reader.entry(home.events)
    return 0 if entry is None else head_at(reader, home.events).place(entry.size)


def lines(
    reader: Reader, home: Home, place: int
) -> Iterator[tuple[int, int, JsonObject]]:
    """Whole lines from a place on: where each begins, where it ends, and its event.

    Places count as if nothing had been put away. A log that is shorter than it was has
    begun anew: then it is read from its start.

    Args:
        reader: of the tree.
        home: whose log it is.
        place: where to begin.
    """
    entry = reader.entry(home.events)
    if entry is None:
        return
    head = head_at(reader, home.events)
    at = head.offset(place)
    if not head.size <= at <= entry.size:
        at = head.size
    if at >= entry.size:
        return
    try:
        data = reader.part(home.events, offset=at, limit=MOST)
    except AgiraphError:
        return
    for raw in data.splitlines(keepends=True):
        if not raw.endswith(b"\n"):
            return  # still being written
        begin, at = at, at + len(raw)
        found = record_of(raw)
        if found is not None:
            yield head.place(begin), head.place(at), found
