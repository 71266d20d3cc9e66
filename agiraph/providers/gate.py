"""The gate before one account: all its calls to one model keep one pace.

All loops that use an account go through its one gate, so that one refusal for too many
requests holds them all instead of being met by each. Each model has a lane of its own:
its limits and its pauses hold no other.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import pace as rules
from agiraph.core.pace import MOST_AT_ONCE, Going, Pace
from agiraph.errors import Fault, ProviderFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.conversation import Answer, Request
    from agiraph.ports import Clock, Provider

PATIENCE = 120.0
LONGEST_PAUSE = 15 * 60.0
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0


class Lane:
    """The calls to one model: those that wait go one after another, in order."""

    def __init__(self, clock: Clock, most: float) -> None:
        """No call was made yet."""
        self._clock = clock
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()
        self._under_way = 0
        self.pace = Pace(at_once=min(rules.FIRST_AT_ONCE, most), most=most)
        self.why: ProviderFault | None = None

    async def enter(self, latest: float | None, patience: float) -> Going:
        """Wait until a call may go; then it counts as gone.

        Args:
            latest: until when, on the monotonic clock; None is `patience` from now.

        Raises:
            ProviderFault: why all are held, where that lasts longer than `latest`.
        """
        async with self._turn:
            while True:
                now = self._clock.monotonic()
                self._not_too_long(now, now + patience if latest is None else latest)
                seconds = rules.wait(self.pace, now)
                if seconds > 0:
                    await self._clock.sleep(seconds)
                elif self._under_way >= int(self.pace.at_once):
                    self._freed.clear()
                    await self._freed.wait()
                else:
                    self.pace = rules.sent(self.pace, now)
                    self._under_way += 1
                    return Going(now, self.pace.gone)

    def leave(self) -> None:
        """A call is over, however it ended."""
        self._under_way -= 1
        self._freed.set()

    def _not_too_long(self, now: float, latest: float) -> None:
        left = self.pace.until - now
        if left > 0 and self.why is not None and self.pace.until > latest:
            raise replace(self.why, retry_after=left)


class Gate:
    """A provider that asks another one, again and later where that may help.

    Args:
        inner: the provider behind the gate.
        clock: tells and waits.
        patience: seconds from a call's first fault until faults are let out.
        at_once: how many calls to one model may ever be under way.
        chance: a number from 0 to 1, to spread the loops; handed in for tests.
    """

    def __init__(
        self,
        inner: Provider,
        *,
        clock: Clock,
        patience: float = PATIENCE,
        at_once: float = MOST_AT_ONCE,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._patience = patience
        self._at_once = at_once
        self._chance = chance
        self._lanes: dict[str, Lane] = {}

    async def ask(self, request: Request) -> Answer:
        """One whole answer.

        Raises:
            ProviderFault: one that does not pass, or that lasted beyond our patience;
                `retry_after` then says how long the service wants us to wait.
        """
        lane = self._lane(request.model)
        give_up: float | None = None
        tries = 0
        while True:
            going = await lane.enter(give_up, self._patience)
            try:
                answer = await self._inner.ask(request)
            except ProviderFault as fault:
                if not fault.passes:
                    raise
                now = self._clock.monotonic()
                give_up = now + self._patience if give_up is None else give_up
                wait = self._held(lane, fault, tries, going.at)
                if now + wait > give_up:
                    raise
                tries += 1
                if fault.kind is Fault.RATE:
                    continue  # it goes when the lane lets it; that spreads them
            else:
                now = self._clock.monotonic()
                rooms = answer.headroom
                lane.pace = rules.answered(lane.pace, now, going, rooms)
                return answer
            finally:
                lane.leave()
            await self._clock.sleep(wait)

    async def close(self) -> None:
        """Close what is behind the gate."""
        await self._inner.close()

    def _lane(self, model: str) -> Lane:
        if model not in self._lanes:
            self._lanes[model] = Lane(self._clock, self._at_once)
        return self._lanes[model]

    def _held(self, lane: Lane, fault: ProviderFault, tries: int, went: float) -> float:
        """Seconds until this call is worth another try; the lane keeps its own pace."""
        now = self._clock.monotonic()
        spread = 0.5 + self._chance() / 2
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(tries, 16)) * spread
        if fault.retry_after is not None:
            # Never earlier than asked.
            wait = fault.retry_after
        pause = min(wait, LONGEST_PAUSE)
        if fault.kind is Fault.RATE:
            lane.pace = rules.refused(lane.pace, now, went, pause)
        elif fault.kind is Fault.OVERLOADED or fault.retry_after is not None:
            lane.pace = rules.overloaded(lane.pace, now, went, pause)
        if lane.pace.until > now:
            lane.why = fault
        return wait
