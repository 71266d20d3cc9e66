"""Events of ends that are on record, told after a restart where a crash kept them back.

An end is recorded before its event is told. Who reads events, such as a trigger, must
not miss it because the daemon died between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.loghead import WHOLE, head_of
from agiraph.core.loglines import record_of, time_of
from agiraph.errors import NotThere
from agiraph.runtime.work import nodes, runs

if TYPE_CHECKING:
    from agiraph.model.event import EventType
    from agiraph.model.json import JsonObject
    from agiraph.runtime.desk import Desk

_TAIL = 128 * 1024  # only what happened last can have been kept back


@dataclass(frozen=True, slots=True)
class _Told:
    """The last events; none that is older than `since` is known."""

    events: tuple[JsonObject, ...]
    since: str

    def misses(self, kind: EventType, moment: str, **about: str) -> bool:
        """Whether something that happened at a moment was not told."""
        if not moment or time_of(moment) < time_of(self.since):
            return False
        wanted = {"type": kind.value, **about}
        return not any(
            all(event.get(key) == value for key, value in wanted.items())
            and time_of(event.get("ts")) >= time_of(moment)
            for event in self.events
        )


async def tell_ends(desk: Desk) -> None:
    """Tell of each end in the newest run that was not told."""
    run = desk.run
    if run is None:
        return
    told = _told(desk)
    for node in desk.nodes.values():
        kind = nodes.ENDS.get(node.status.state)
        if kind and told.misses(kind, node.status.since, run=run.name, node=node.id):
            await nodes.tell_end(desk, node)
    if not run.state.open and told.misses(runs.end_event(run), run.ended, run=run.name):
        await runs.tell_end(desk, run)


def _told(desk: Desk) -> _Told:
    reader, path = desk.world.reader, desk.home.events
    try:
        entry = reader.entry(path)
        start = max(0, (entry.size if entry else 0) - _TAIL)
        data = reader.part(path, offset=start, limit=_TAIL)
    except NotThere:
        return _Told((), "")
    head = WHOLE if start else head_of(data)
    lines = data.split(b"\n")[1 if start else 0 :]
    events = tuple(event for line in lines if (event := record_of(line)) is not None)
    first = events[0].get("ts") if start and events else head.ts
    return _Told(events, first if isinstance(first, str) else "")
