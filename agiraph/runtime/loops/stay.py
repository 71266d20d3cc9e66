"""The coordinator's stay among the runs at work: when it comes, waits and leaves."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agiraph.core.limits import GATHER_SECONDS
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR, HUMAN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


class Stay:
    """A place among the runs at work; who is away holds none.

    To answer a person no place is taken and none is waited for.
    """

    def __init__(self, desk: Desk, talk: Conversation) -> None:
        """Nothing is held yet; `talk` tells which mail was delivered."""
        self._desk = desk
        self._talk = talk
        self._entered = False
        self._in_run = False

    async def ready(self) -> None:
        """Wait while paused or held, and for a place among the runs at work."""
        desk = self._desk
        while desk.is_paused or desk.hold:
            if desk.is_paused:
                async with self.away():
                    await desk.bell.until(lambda: not desk.is_paused)
            elif hold := desk.hold:
                async with self.held(hold):
                    await desk.until_free(hold)
        await self.enter()
        await desk.all_read()

    async def enter(self) -> None:
        """Have a place among the runs; to answer a person, none is waited for."""
        desk = self._desk
        if self._in_run or (self._entered and not desk.run_open):
            return
        if desk.run_open:
            desk.active.discard(COORDINATOR)
            runs_now = desk.world.runs
            self._in_run = await runs_now.enter(desk.agent, unless=self._is_asked)
        self._entered = True
        desk.active.add(COORDINATOR)

    def _is_asked(self) -> bool:
        mail = self._desk.mail.waiting(COORDINATOR, self._talk.delivered)
        return any(message.sender == HUMAN for message in mail)

    def leave(self) -> None:
        """Give the place back."""
        if not self._entered:
            return
        self._entered = False
        if self._in_run:
            self._in_run = False
            self._desk.world.runs.leave(self._desk.agent)
        self._desk.active.discard(COORDINATOR)
        self._desk.rested()
        self._desk.bell.ring()

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Away for as long as the context lasts."""
        self.leave()
        yield
        await self.enter()

    async def sleep(
        self, over: Callable[[], bool], *, deadline: float | None = None
    ) -> None:
        """Away until something holds; what comes with it is waited for, too."""
        desk = self._desk
        async with self.away():
            if await desk.bell.until(over, deadline=deadline):
                await desk.world.clock.sleep(GATHER_SECONDS)

    @asynccontextmanager
    async def held(self, words: str) -> AsyncIterator[None]:
        """Held: shown in the status until the context ends."""
        desk = self._desk
        desk.held[COORDINATOR] = words
        await desk.records.event(EventType.AGENT_HELD, desk.where(), words=words)
        try:
            async with self.away():
                yield
        finally:
            desk.held.pop(COORDINATOR, None)
        await desk.records.event(EventType.AGENT_RESUMED, desk.where())
