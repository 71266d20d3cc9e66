"""The bell of one agent: it wakes whoever waits, who then looks for themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.ports import Clock


class Bell:
    """Wakes all that wait; carries no news, so a ring too many is harmless."""

    def __init__(self, clock: Clock) -> None:
        """Ring for one agent; `clock` serves the deadlines."""
        self._clock = clock
        self._waiting: set[asyncio.Future[None]] = set()
        self.count = 0

    def ring(self) -> None:
        """Wake everyone who waits now."""
        self.count += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    async def after(self, count: int, seconds: float | None = None) -> None:
        """Until it has rung since `count` was read, or until the time is up.

        For whoever looks, acts and only then waits: a ring meanwhile is not lost.
        """
        if self.count == count:
            await self.wait(seconds)

    async def wait(self, seconds: float | None = None) -> None:
        """Until the next ring, or until the time is up."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            if seconds is None:
                await waiter
                return
            async with asyncio.TaskGroup() as group:
                sleep = self._clock.sleep(max(seconds, 0.0))
                alarm = group.create_task(sleep, name="alarm of a wait")
                alarm.add_done_callback(lambda _: _settle(waiter))
                await waiter
                alarm.cancel()
        finally:
            self._waiting.discard(waiter)

    async def until(
        self, holds: Callable[[], bool], *, deadline: float | None = None
    ) -> bool:
        """Wait until something holds.

        Args:
            deadline: on the monotonic clock; None is for ever.

        Returns:
            Whether it holds; False when the deadline came first.
        """
        while not holds():
            left = None if deadline is None else deadline - self._clock.monotonic()
            if left is not None and left <= 0:
                return False
            await self.wait(left)
        return True


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
