"""The pace of one account's calls to one model: how many at once, how many a second.

Additive increase and multiplicative decrease, as in TCP's congestion control (Chiu and
Jain, 1989), on two things: the calls under way, and, once the service has refused one
for coming too often, the calls a second. The first refusal tells the rate: what was
let through until then. Later ones lower it a little; time without one raises it, slowly
while the limit is near and faster once it seems to have moved. What a service tells of
its limits by itself holds beside that, before anything is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agiraph.core import quota

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.core.quota import Quota
    from agiraph.model.usage import Headroom

FIRST_AT_ONCE: Final = 32.0
MOST_AT_ONCE: Final = 256.0
FEWER: Final = 0.7  # of the calls under way, after a refusal
SLOWER: Final = 0.95  # of the rate, after a refusal under that rate
SLOWEST: Final = 1 / 60
LEAST_GUESS: Final = 1.0  # calls a second: one refused call alone tells no rate
NEAR: Final = 30.0  # seconds for which a limit that was met is taken to stand
CREEP, CLIMB = 0.001, 0.02  # growth of the rate a second, near that limit and beyond
TRYING: Final = 0.05  # the same, while the rate is only a first guess
SOON: Final = 5.0  # seconds within which a refusal says that the rate is far off
SPAN: Final = 1.0  # seconds over which a first burst is measured, at least
SAVED: Final = 0.25  # seconds of calls that may go late, since no timer is exact
EARLY: Final = 1e-6  # a call may go so much too early: clocks are no finer


@dataclass(frozen=True, slots=True)
class Going:
    """A call under way: when it went, and its number among all that ever went."""

    at: float
    number: int


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls may go now; times in seconds on one clock.

    Attributes:
        until: before then none goes.
        at_once: calls that may be under way.
        most: calls that may ever be under way.
        rate: calls a second; None while no limit was met.
        credit: calls that may go now under the rate, at the time `counted`.
        since: when the last refusal that counted came, or the first call went.
        begun: when calls could go on after it; sent: calls since then.
        guessed: seconds over which the rate was measured, while it is only that.
        quotas: the limits that the service tells; gone: calls that ever went.
    """

    until: float = 0.0
    at_once: float = FIRST_AT_ONCE
    most: float = MOST_AT_ONCE
    rate: float | None = None
    credit: float = 1.0
    counted: float = 0.0
    since: float | None = None
    begun: float = 0.0
    sent: int = 0
    guessed: float = 0.0
    quotas: tuple[Quota, ...] = ()
    gone: int = 0


def wait(pace: Pace, now: float) -> float:
    """Seconds until the next call may go, as far as time alone counts."""
    if now < pace.until - EARLY:
        return pace.until - now
    seconds = max(_by_rate(pace, now), quota.wait(pace.quotas, now))
    return seconds if seconds > EARLY else 0.0


def sent(pace: Pace, now: float) -> Pace:
    """A call goes."""
    quotas = quota.taken(pace.quotas, now)
    here = replace(_at(pace, now), gone=pace.gone + 1, quotas=quotas)
    if pace.rate is not None:
        return replace(here, sent=pace.sent + 1, credit=here.credit - 1.0)
    if pace.since is None or now - pace.counted > SPAN:
        here = replace(here, since=now, begun=now, sent=0)  # a burst begins
    return replace(here, sent=here.sent + 1, counted=now)


def answered(
    pace: Pace, now: float, going: Going, rooms: Iterable[Headroom] = ()
) -> Pace:
    """An answer came, with what the service says is left of its limits."""
    quotas = quota.told(
        pace.quotas, rooms, now, went=going.at, since=pace.gone - going.number
    )
    at_once = min(pace.at_once + 1.0, pace.most)
    return replace(_at(pace, now), at_once=at_once, quotas=quotas)


def refused(pace: Pace, now: float, went: float, pause: float) -> Pace:
    """A call was refused for coming too often.

    Args:
        went: when it was sent; of those that went before the last refusal only the
            pause counts, and how many they were.
        pause: seconds until the service wants to be asked again.
    """
    until = max(pace.until, now + pause)
    since = pace.since if pace.since is not None else went
    if pace.rate is not None and went <= since:
        fewer = 1.0 / pace.guessed if pace.guessed else 0.0
        least = min(pace.rate, LEAST_GUESS)
        rate = max(pace.rate - fewer, least)
        later = max(pace.counted, until)
        return replace(pace, until=until, rate=rate, counted=later, begun=later)
    span = max(now - pace.begun, SPAN)
    seen = (pace.sent - 1) / span
    rate = max(seen, LEAST_GUESS)
    if pace.rate is not None:
        soon = seen if span < SOON else pace.rate
        rate = max(min(soon, SLOWER * pace.rate), pace.rate / 2, SLOWEST)
    return Pace(
        until=until,
        at_once=max(pace.at_once * FEWER, 1.0),
        most=pace.most,
        rate=rate,
        counted=until,
        since=now,
        begun=until,
        guessed=span if pace.rate is None else 0.0,
        quotas=pace.quotas,
        gone=pace.gone,
    )


def overloaded(pace: Pace, now: float, went: float, pause: float) -> Pace:
    """The service is busy: none goes for a while, then fewer at once.

    Of many that went together only the first counts.
    """
    if now < pace.until or went < pace.until:
        return pace
    fewer = max(pace.at_once * FEWER, 1.0)
    return replace(pace, until=now + pause, at_once=fewer)


def _by_rate(pace: Pace, now: float) -> float:
    if pace.rate is None:
        return 0.0
    lacking = 1.0 - _at(pace, now).credit
    return lacking / pace.rate if lacking > EARLY else 0.0


def _at(pace: Pace, now: float) -> Pace:
    """A pace at a later moment; only a few calls are saved up."""
    if pace.rate is None or pace.since is None or now <= pace.counted:
        return pace
    passed = now - pace.counted
    step = CREEP if now - pace.since < NEAR else CLIMB
    step = TRYING if pace.guessed else step
    credit = min(pace.credit + passed * pace.rate, max(pace.rate * SAVED, 1.0))
    grown = pace.rate * (1.0 + step * passed)
    return replace(pace, credit=credit, rate=grown, counted=now)
