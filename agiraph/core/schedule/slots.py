"""Which slots of a trigger are due between two instants."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from agiraph.core.schedule.cron import cron_slots
from agiraph.model.trigger import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from agiraph.model.trigger import Trigger

MOST: Final = 1000  # slots told one by one after a long absence
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Due:
    """Slots that are due, in order.

    Attributes:
        before: from when and until when (itself not) others were due, where they are
            too many to be told one by one.
    """

    slots: tuple[datetime, ...] = ()
    before: tuple[datetime, datetime] | None = None


def zone_of(trigger: Trigger, tree: tzinfo) -> tzinfo:
    """The time zone of a trigger: its own, or the tree's."""
    return ZoneInfo(trigger.timezone) if trigger.timezone else tree


def moment_of(at: str, zone: tzinfo) -> datetime:
    """The instant of a written date and time.

    Without an offset it is read in the zone: of an hour that comes twice the first,
    and the next minute that exists for one that is left out.
    """
    found = datetime.fromisoformat(at)
    if found.tzinfo is not None:
        return found
    there = found.replace(tzinfo=zone, fold=0)
    back = there.astimezone(UTC).astimezone(zone)
    if back.replace(tzinfo=None) == found:
        return there
    minute = found.replace(second=0, microsecond=0)
    while True:  # a gap is some hours long at most, but for islands that skip a day
        minute += timedelta(minutes=1)
        there = minute.replace(tzinfo=zone, fold=0)
        back = there.astimezone(UTC).astimezone(zone)
        if back.replace(tzinfo=None) == minute:
            return there


def slots_after(
    trigger: Trigger, *, since: datetime, after: datetime, tree: tzinfo
) -> Iterator[datetime]:
    """All slots after an instant, in order; may be without end.

    Args:
        since: when the trigger was first read.
        after: not due itself.
        tree: the time zone of the tree.
    """
    zone = zone_of(trigger, tree)
    match trigger.kind:
        case Kind.SCHEDULED:
            yield from cron_slots(trigger.cron, after=after, zone=zone)
        case Kind.AT_TIME:
            yield from _if_after(moment_of(trigger.at, zone), after)
        case Kind.DELAYED:
            yield from _if_after(since + timedelta(seconds=trigger.seconds), after)
        case Kind.HEARTBEAT:
            yield from _beats(trigger.seconds, since=since, after=after)
        case Kind.ON_EVENT | Kind.ON_IDLE:
            return  # no clock tells when these are due


def next_slots(
    trigger: Trigger, count: int, *, since: datetime, after: datetime, tree: tzinfo
) -> list[datetime]:
    """The next few slots."""
    slots = slots_after(trigger, since=since, after=after, tree=tree)
    return list(itertools.islice(slots, count))


def due(
    trigger: Trigger,
    *,
    since: datetime,
    after: datetime,
    until: datetime,
    tree: tzinfo,
    most: int = MOST,
) -> Due:
    """The slots after one instant, up to and with another.

    Args:
        most: slots that are told one by one, the newest.
    """
    # Two times of one zone are compared by their walls, which repeat; UTC does not.
    after, until = after.astimezone(UTC), until.astimezone(UTC)

    def within(start: datetime) -> tuple[datetime, ...]:
        slots = slots_after(trigger, since=since, after=start, tree=tree)
        return tuple(itertools.takewhile(lambda slot: slot <= until, slots))

    span, found = _DAY / 4, within(max(after, until - _DAY / 4))
    while len(found) < most and until - span > after:
        span *= 2
        found = within(max(after, until - span))
    kept = found[-most:]
    if len(found) < most:
        return Due(kept)
    first = next(slots_after(trigger, since=since, after=after, tree=tree))
    others = first.astimezone(UTC) < kept[0].astimezone(UTC)
    return Due(kept, (first, kept[0]) if others else None)


def _if_after(slot: datetime, after: datetime) -> Iterator[datetime]:
    if slot > after:
        yield slot


def _beats(seconds: float, *, since: datetime, after: datetime) -> Iterator[datetime]:
    """Every so many seconds from when it was first read, whatever the clocks do."""
    begun, step = since.astimezone(UTC), timedelta(seconds=seconds)
    count = max((after.astimezone(UTC) - begun) // step + 1, 1)
    while True:
        yield (begun + count * step).astimezone(since.tzinfo)
        count += 1
