"""The limits that a service tells in its headers, as buckets that calls empty.

A limit fills up steadily, as token buckets do; a service that counts by whole minutes
instead refuses now and then what went in good faith, and the pace learns from that.
What the next call will take is not known: the smaller of the last two is assumed, since
a first call, which fills a cache, is many times those that read from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.usage import Headroom

MINUTE: Final = 60.0  # what a limit counts in where its headers do not say
UNSURE: Final = 0.1  # of a limit: more is not asked for on the word of one call


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit, in its own unit (calls, tokens); times in seconds on one clock.

    Attributes:
        whole: what it holds when nothing is used.
        left: what it held at the time `at`; less than nothing where more went.
        filling: how much comes back in a second.
        size: what the next call is taken to need; last: what the last one took.
        told: when the call went whose answer told it.
    """

    what: str
    whole: float
    left: float
    filling: float
    size: float
    last: float
    at: float
    told: float


def wait(quotas: Iterable[Quota], now: float) -> float:
    """Seconds until every limit has room for one more call."""
    return max((_wait(quota, now) for quota in quotas), default=0.0)


def taken(quotas: Iterable[Quota], now: float) -> tuple[Quota, ...]:
    """The limits once one more call has gone."""
    return tuple(
        replace(quota, left=_left(quota, now) - quota.size, at=now) for quota in quotas
    )


def told(
    quotas: Iterable[Quota],
    rooms: Iterable[Headroom],
    now: float,
    *,
    went: float,
    since: int,
) -> tuple[Quota, ...]:
    """The limits by what an answer says of them.

    Args:
        went: when its call went: a stream's headers are as old as that.
        since: calls that went after it, which it cannot know of. What an earlier call
            says later counts no more.
    """
    known = {quota.what: quota for quota in quotas}
    for room in rooms:
        old = known.get(room.what)
        if old is None or went >= old.told:
            known[room.what] = _told(old, room, now, went, since)
    return tuple(known.values())


def _told(
    old: Quota | None, room: Headroom, now: float, went: float, since: int
) -> Quota:
    used = max(room.limit - room.left, 0.0)
    filling = used / room.resets if used and room.resets else room.limit / MINUTE
    sure = room.limit * UNSURE if old is None else old.last
    size = min(room.took, sure)
    left = min(room.left + filling * (now - went), room.limit) - since * size
    return Quota(room.what, room.limit, left, filling, size, room.took, now, went)


def _left(quota: Quota, now: float) -> float:
    return min(quota.left + quota.filling * max(now - quota.at, 0.0), quota.whole)


def _wait(quota: Quota, now: float) -> float:
    # A call larger than the whole limit goes when nothing of it is used.
    lacking = min(quota.size, quota.whole) - _left(quota, now)
    return max(lacking, 0.0) / quota.filling
