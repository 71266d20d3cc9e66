"""An agent's working time: a clock that stands still while all is paused."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.ports import Clock


class WorkTime:
    """Counts seconds of work, and keeps what pauses took until it is on record."""

    def __init__(self, clock: Clock) -> None:
        """Nothing is paused yet."""
        self._clock = clock
        self._paused_at: float | None = None
        self._paused_for = 0.0
        self._unbooked = 0.0

    def now(self) -> float:
        """Seconds on this clock."""
        now = self._clock.monotonic()
        return (now if self._paused_at is None else self._paused_at) - self._paused_for

    def pause(self, *, on: bool) -> None:
        """A pause goes on, or none does; the same again changes nothing."""
        now = self._clock.monotonic()
        if on and self._paused_at is None:
            self._paused_at = now
        elif not on and self._paused_at is not None:
            self._paused_for += now - self._paused_at
            self._unbooked += now - self._paused_at
            self._paused_at = None

    def unbooked(self) -> float:
        """Seconds of pauses that are not on record, the one that goes on included."""
        if self._paused_at is None:
            return self._unbooked
        return self._unbooked + self._clock.monotonic() - self._paused_at

    def book(self) -> float:
        """Seconds of pauses that are over and not on record; whoever asks records."""
        seconds, self._unbooked = self._unbooked, 0.0
        return seconds
