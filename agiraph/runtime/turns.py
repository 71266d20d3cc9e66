"""Turns: after an absence agents catch up one after another, not all in one second."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

APART: Final = 1.0  # seconds between two agents that catch up


@dataclass(slots=True)
class Turns:
    """Who of the whole tree catches up when, on the monotonic clock."""

    _next: float = 0.0
    _given: dict[str, float] = field(default_factory=dict)

    def wait(self, agent: str, now: float) -> float:
        """Seconds until it is this agent's turn; it keeps its place in the line."""
        if agent not in self._given:
            self._given[agent] = max(now, self._next)
            self._next = self._given[agent] + APART
        return max(self._given[agent] - now, 0.0)

    def done(self, agent: str) -> None:
        """The agent has caught up."""
        self._given.pop(agent, None)
