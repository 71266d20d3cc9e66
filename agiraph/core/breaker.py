"""The breaker for a daemon that keeps dying: which agents wait when it starts again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.limits import CRASHES, STARTS_ANYHOW, STARTS_WITHIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a daemon that did not end cleanly.

    Attributes:
        ended: when the next one began, in seconds since 1970.
        at_work: the agents that were at work when it died, each with how much of its
            work was on record then.
    """

    ended: float
    at_work: Mapping[str, int]


def recent(lives: Iterable[Life], now: float) -> tuple[Life, ...]:
    """The lives that ended so lately that they count; a clock set back hides none."""
    return tuple(life for life in lives if now - life.ended < STARTS_WITHIN)


def suspects(lives: Iterable[Life]) -> frozenset[str]:
    """The agents that were at work when the daemon died again and again.

    Three deaths count while nothing more of an agent's work came on record between
    them: one that gets on is not in a loop. Ten count even so.
    """
    deaths = Counter[str]()
    stuck = Counter[tuple[str, int]]()
    for life in lives:
        deaths.update(life.at_work.keys())
        stuck.update(life.at_work.items())
    return frozenset(
        {agent for (agent, _), count in stuck.items() if count >= CRASHES}
        | {agent for agent, count in deaths.items() if count >= STARTS_ANYHOW}
    )


def words(agent: str) -> str:
    """Why an agent is held, and what to do."""
    return (
        "the daemon died again and again while this agent was at work; touch GOAL.md "
        f"or `agiraph resume {agent}` to try again"
    )
