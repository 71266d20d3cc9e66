"""Places: how many may be at work at once; who is parked holds none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.runtime.bell import Bell


class Places:
    """A number of places, each held by a name, given in the order of asking."""

    def __init__(self, bell: Bell, limit: Callable[[], int]) -> None:
        """Places under a limit that may change at any time."""
        self._bell = bell
        self._limit = limit
        self._held: dict[str, int] = {}
        self._queue: list[str] = []

    @property
    def free(self) -> int:
        """How many places nobody holds or waits for."""
        return max(0, self._limit() - len(self._held) - len(self._queue))

    def holds(self, name: str) -> bool:
        """Whether a name has a place."""
        return name in self._held

    def waits(self, name: str) -> bool:
        """Whether a name stands in the queue."""
        return name in self._queue

    def claim(self, name: str) -> bool:
        """Take a place at once, if one is free."""
        if name in self._held or self.free <= 0:
            return False
        self._held[name] = 1
        return True

    async def enter(
        self, name: str, *, unless: Callable[[], bool] = lambda: False
    ) -> bool:
        """Take a place, waiting in line for it; a name may enter many times.

        Args:
            name: who enters.
            unless: ends the waiting without a place; looked at when the bell rings.

        Returns:
            Whether a place was taken.
        """
        if name in self._held:
            self._held[name] += 1
            return True
        self._queue.append(name)
        try:
            await self._bell.until(lambda: self._next(name) or unless())
            if not self._next(name):
                return False
            self._held[name] = self._held.get(name, 0) + 1
            return True
        finally:
            self._queue.remove(name)
            self._bell.ring()

    def leave(self, name: str) -> None:
        """Give a place back, once for each time it was entered."""
        left = self._held.get(name, 0) - 1
        if left > 0:
            self._held[name] = left
        else:
            self._held.pop(name, None)
            self._bell.ring()

    def _next(self, name: str) -> bool:
        if name in self._held:
            return True
        return len(self._held) < self._limit() and self._queue[0] == name
