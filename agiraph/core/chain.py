"""The fallback chain: which of several models is asked, and how long one is put off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.limits import RETRY_LAST
from agiraph.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIRST_AWAY: Final = 60.0
LONG_AWAY: Final = 3600.0
REFUSED_AWAY: Final = 1800.0
LONGEST_AWAY: Final = 86_400.0

# Faults that say nothing about the service, only about what was asked of it.
_OF_THE_REQUEST = frozenset({Fault.REQUEST})
_FOR_A_PERSON = frozenset({Fault.KEY, Fault.MODEL, Fault.QUOTA, Fault.SDK})


@dataclass(frozen=True, slots=True)
class Setback:
    """Why a model is put off, and until when.

    Attributes:
        until: on the monotonic clock, in seconds.
        again: the same for people: hours and minutes.
        count: how often in a row it was put off.
    """

    words: str
    until: float
    again: str = ""
    count: int = 1


def pick(chain: Sequence[str], setbacks: Mapping[str, Setback], now: float) -> str:
    """The first model that is not put off; else the one that is put off no longer soon.

    Args:
        chain: at least one model.
        setbacks: by model; what is over counts no more.
        now: on the monotonic clock.
    """
    left = {model: left_of(setbacks.get(model), now) for model in chain}
    return min(chain, key=lambda model: left[model])


def left_of(setback: Setback | None, now: float) -> float:
    """Seconds for which a model is still put off; 0 when it is not."""
    return max(setback.until - now, 0.0) if setback is not None else 0.0


def away(kind: Fault, retry_after: float | None, count: int) -> float:
    """Seconds for which a model is put off after a fault.

    Args:
        kind: of the fault; a refusal of what was asked is `Fault.REQUEST`.
        retry_after: what the service itself asked for.
        count: how often in a row it was put off, from 1.
    """
    if retry_after is not None:
        return min(max(retry_after, FIRST_AWAY), LONGEST_AWAY)
    if kind in _OF_THE_REQUEST:
        return REFUSED_AWAY
    if kind in _FOR_A_PERSON:
        return LONG_AWAY
    return float(min(FIRST_AWAY * 2 ** (min(count, 10) - 1), RETRY_LAST))


def is_of_the_request(kind: Fault) -> bool:
    """Whether a fault is about one conversation alone: others go on asking."""
    return kind in _OF_THE_REQUEST
