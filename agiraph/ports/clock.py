"""Time: who knows it, and who rings at its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime, tzinfo


class Clock(Protocol):
    """The only one who knows the time; may not touch anything else."""

    def now(self) -> datetime:
        """The wall clock, with an offset."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def zone(self) -> tzinfo:
        """The time zone in which days are counted."""

    async def sleep(self, seconds: float) -> None:
        """Wait; may be cancelled."""


class Alarm(Protocol):
    """Rings at moments of the wall clock. May not decide what is due then.

    A ring is a hint: late, early or doubled ones change nothing in the end.
    """

    def set(self, name: str, at: datetime) -> None:
        """Ring for an agent at a moment; of one agent only the last one set counts."""

    def clear(self, name: str) -> None:
        """Ring no more for an agent."""

    async def close(self) -> None:
        """Let go of whatever keeps the time."""
