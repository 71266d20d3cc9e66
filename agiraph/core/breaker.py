"""The breaker for a daemon that keeps dying: which agents wait when it starts again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.limits import CRASHES, STARTS_WITHIN

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a daemon that did not end cleanly.

    Attributes:
        ended: when the next one began, in seconds since 1970.
        at_work: the agents that were at work when it died.
    """

    ended: float
    at_work: frozenset[str]


def recent(lives: Iterable[Life], now: float) -> tuple[Life, ...]:
    """The lives that ended so lately that they count; a clock set back hides none."""
    return tuple(life for life in lives if now - life.ended < STARTS_WITHIN)


def suspects(lives: Iterable[Life]) -> frozenset[str]:
    """The agents that were at work each time of three that the daemon died."""
    counts = Counter(agent for life in lives for agent in life.at_work)
    return frozenset(agent for agent, count in counts.items() if count >= CRASHES)


def words(agent: str) -> str:
    """Why an agent is held, and what to do."""
    return (
        f"the daemon died {CRASHES} times while this agent was at work; touch GOAL.md "
        f"or `agiraph resume {agent}` to try again"
    )
