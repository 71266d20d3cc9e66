"""A clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta, tzinfo

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class HandClock:
    """The port `Clock`: time stands still until a test moves it.

    Sleepers wake in the order of their times, each at exactly its own time.
    """

    def __init__(self, start: datetime = START, zone: tzinfo = UTC) -> None:
        self._wall = start
        self._zone = zone
        self._monotonic = 1000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        return self._wall.astimezone(self._zone)

    def monotonic(self) -> float:
        return self._monotonic

    def zone(self) -> tzinfo:
        return self._zone

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        entry = (self._monotonic + seconds, self._count, woken)
        heapq.heappush(self._sleepers, entry)
        await woken

    @property
    def sleepers(self) -> int:
        """How many wait."""
        return sum(not woken.done() for _, _, woken in self._sleepers)

    def next_wake(self) -> float | None:
        """Seconds until the first sleeper wakes; None when nobody sleeps."""
        times = [at for at, _, woken in self._sleepers if not woken.done()]
        return min(times) - self._monotonic if times else None

    def move(self, seconds: float) -> None:
        """Let time pass at once; sleepers that are due are woken in order."""
        until = self._monotonic + seconds
        while self._sleepers and self._sleepers[0][0] <= until:
            self._wake_first()
        self._pass(until - self._monotonic)

    async def advance(self, seconds: float, *, settle: int = 20) -> None:
        """Let time pass step by step, so that what wakes may sleep again on the way.

        Args:
            seconds: how far.
            settle: turns of the event loop that everybody gets after each waking.
        """
        until = self._monotonic + seconds
        await self._settle(settle)
        while self._sleepers and self._sleepers[0][0] <= until:
            self._wake_first()
            await self._settle(settle)
        self._pass(until - self._monotonic)
        await self._settle(settle)

    def jump_wall(self, seconds: float) -> None:
        """Set the wall clock only, as a person or a time server does."""
        self._wall += timedelta(seconds=seconds)

    def _wake_first(self) -> None:
        at, _, woken = heapq.heappop(self._sleepers)
        self._pass(max(0.0, at - self._monotonic))
        if not woken.done():
            woken.set_result(None)

    def _pass(self, seconds: float) -> None:
        self._monotonic += seconds
        self._wall += timedelta(seconds=seconds)

    @staticmethod
    async def _settle(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
