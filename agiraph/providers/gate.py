"""The gate before one account: retries, a common pause, and a cap on calls at once.

All loops that use an account go through its one gate, so that one refusal for too
many requests holds them all instead of being met by each.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.errors import Fault, ProviderFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.conversation import Answer, Request
    from agiraph.ports import Clock, Provider

PATIENCE = 120.0
LONGEST_PAUSE = 15 * 60.0
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
AT_ONCE = 32


class Gate:
    """A provider that asks another one, again and later where that may help.

    Args:
        inner: the provider behind the gate.
        clock: tells and waits.
        patience: seconds from a call's first fault until faults are let out.
        at_once: how many calls may be under way.
        chance: a number from 0 to 1, to spread the loops; handed in for tests.
    """

    def __init__(
        self,
        inner: Provider,
        *,
        clock: Clock,
        patience: float = PATIENCE,
        at_once: int = AT_ONCE,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._clock = clock
        self._patience = patience
        self._places = asyncio.Semaphore(at_once)
        self._chance = chance
        self._until = 0.0
        self._why: ProviderFault | None = None

    async def ask(self, request: Request) -> Answer:
        """One whole answer.

        Raises:
            ProviderFault: one that does not pass, or that lasted beyond our patience;
                `retry_after` then says how long the service wants us to wait.
        """
        give_up: float | None = None
        tries = 0
        while True:
            await self._wait_for_pause(give_up)
            try:
                async with self._places:
                    return await self._inner.ask(request)
            except ProviderFault as fault:
                if not fault.passes:
                    raise
                now = self._clock.monotonic()
                give_up = now + self._patience if give_up is None else give_up
                wait = self._held(fault, tries, now)
                if now + wait > give_up:
                    raise
                tries += 1
            await self._clock.sleep(wait)

    async def close(self) -> None:
        """Close what is behind the gate."""
        await self._inner.close()

    def _held(self, fault: ProviderFault, tries: int, now: float) -> float:
        """Seconds until this call's next try; a pause for all is noted on the way."""
        back_off = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(tries, 16))
        wait = back_off * (0.5 + self._chance() / 2)
        if fault.retry_after is not None:
            # Never earlier than asked; a little spread after it.
            asked = min(fault.retry_after, LONGEST_PAUSE)
            self._pause(now + asked, fault)
            wait = asked + min(1.0, asked) * self._chance() / 2
        elif fault.kind is Fault.RATE:
            self._pause(now + wait, fault)
        return wait

    def _pause(self, until: float, why: ProviderFault) -> None:
        if until > self._until:
            self._until, self._why = until, why

    async def _wait_for_pause(self, give_up: float | None) -> None:
        """Wait while all are held, or pass on why where that takes too long."""
        while (left := self._until - (now := self._clock.monotonic())) > 0:
            latest = now + self._patience if give_up is None else give_up
            if self._why is not None and now + left > latest:
                raise replace(self._why, retry_after=left)
            spread = min(1.0, left) * self._chance() / 2
            await self._clock.sleep(left + spread)
