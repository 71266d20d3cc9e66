"""The beginnings of an agent's logs become archives; the logs go on without them.

First the archive is made. Then a file without the lines in it takes the log's place in
one step; its first line names the archive. An archive that is newer than the one named
does not count yet: a kill in between leaves one, and the next pass finds that the log
still begins with what it holds.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agiraph.core import retention as rules
from agiraph.core.loghead import head_line
from agiraph.core.loglines import record_of, time_of
from agiraph.core.packed import lines
from agiraph.errors import AgiraphError, Occupied
from agiraph.model.layout import put_away
from agiraph.ports import PutAway
from agiraph.runtime.parts import head_at, names, pieces
from agiraph.runtime.retention.words import away

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.core.retention import Span
    from agiraph.model.layout import Home
    from agiraph.ports import Attic
    from agiraph.runtime.world import World


_BEGINNING: Final = 64 * 1024


class Logs:
    """Puts old lines away: of the events, of what was spent, and of the triggers."""

    def __init__(self, world: World) -> None:
        """In the tree of `world`."""
        self._world = world
        self._began: dict[PurePosixPath, float] = {}  # the time of the first line

    async def due(self, home: Home) -> list[str]:
        """The logs that begin with enough old lines."""
        return await asyncio.to_thread(self._due, home)

    def _due(self, home: Home) -> list[str]:
        now, keep = self._world.now().timestamp(), self._world.settings.keep.logs
        logs = (home.events, home.usage, home.fired)
        return [log.name for log in logs if rules.is_long(self._first(log), now, keep)]

    def _first(self, log: PurePosixPath) -> float:
        """When the first line with a time was written; now where there is none.

        A time of the future is none: the clock was wrong.
        """
        known = self._began.get(log)
        if known is not None:
            return known
        try:
            start = head_at(self._world.reader, log).size
            data = self._world.reader.part(log, offset=start, limit=_BEGINNING)
        except AgiraphError:
            data = b""  # one that cannot be read is not due, and keeps no other back
        now = self._world.now().timestamp()
        for line in data.splitlines():
            when = time_of((record_of(line) or {}).get("ts"))
            if when and when <= now:
                self._began[log] = when
                return when
        return now

    def _lines(self, log: PurePosixPath, start: int) -> Iterator[bytes]:
        return lines(pieces(self._world.reader, log, start))

    async def put_away(self, home: Home, attic: Attic, name: str) -> str:
        """Put the old lines of one log away."""
        log = home.path / name
        shelf = put_away(log)
        self._began.pop(log, None)
        await self._world.pen.folder(shelf)
        found = await asyncio.to_thread(self._archived, log, shelf, attic)
        if found is None:
            return ""
        span, made = found
        head = head_at(self._world.reader, log)
        archive = str(made.archive.relative_to(home.path))
        line = head_line(span.ts, archive, head.bytes + span.end - span.start)
        await self._world.pen.shorten(log, line, span.end, span.last)
        return away(f"{name} to {span.day} is", made)

    def _archived(
        self, log: PurePosixPath, shelf: PurePosixPath, attic: Attic
    ) -> tuple[Span, PutAway] | None:
        """What is to go, and the archive that holds it.

        Raises:
            Occupied: an archive is there that is not of this log; it would count.
        """
        world = self._world
        now, keep = world.now().timestamp(), world.settings.keep.logs
        head, there = head_at(world.reader, log), names(world.reader, shelf)
        for name in rules.unfinished(there, head.part):
            size = attic.held(log, head.size, shelf / name)
            found = self._span(log, head.size, head.size + size)
            if found is None or found.end - found.start != size:
                raise Occupied(
                    f"{shelf / name} is named like an archive of it, and holds "
                    "something else than it begins with; move that file away"
                )
            entry = world.reader.entry(shelf / name)
            return found, PutAway(shelf / name, size, entry.size if entry else 0)
        lines_ = self._lines(log, head.size)
        found = rules.span(lines_, head.size, now - keep, now)
        if found is None:
            return None
        wanted = shelf / rules.part_name(found.day, head.part, there)
        return found, attic.copy_away(log, (found.start, found.end), wanted, now)

    def _span(self, log: PurePosixPath, start: int, end: int) -> Span | None:
        """All lines between two offsets."""
        inside = pieces(self._world.reader, log, start, end)
        return rules.span(lines(inside), start, float("inf"))
