"""What has happened since it was last asked: the new lines of events.jsonl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.core.loglines import record_of
from agiraph.errors import AgiraphError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home
    from agiraph.ports import Reader

MOST: Final = 8 * 1024 * 1024  # bytes at a time


def size(reader: Reader, home: Home) -> int:
    """How long the log is now."""
    entry = reader.entry(home.events)
    return 0 if entry is None else entry.size


def lines(
    reader: Reader, home: Home, offset: int
) -> Iterator[tuple[int, int, JsonObject]]:
    """Whole lines from an offset: where each begins, where it ends, and its event.

    A log that is shorter than it was has been put away: then it is read from its start.
    """
    long = size(reader, home)
    at = offset if offset <= long else 0
    if at >= long:
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
            yield begin, at, found
