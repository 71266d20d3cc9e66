"""A worker's shift on one node: its places, and the clock that runs meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agiraph.model.node import Node
    from agiraph.runtime.desk import Desk


class Shift:
    """Places among the workers and the runs, and the node's time.

    Whoever is away holds no place, and no clock runs for it.
    """

    def __init__(self, desk: Desk, worker: str, node: Node) -> None:
        """Nothing is held yet; `placed` says that a worker's place was claimed."""
        self._desk = desk
        self._worker = worker
        self._node = node.id
        self._attempt = node.status.attempt
        self._here = False
        self._timer: asyncio.Timeout | None = None
        self._since = 0.0
        self.placed = False

    @property
    def is_over(self) -> bool:
        """Whether this assignment has ended, or the node was given away."""
        status = self._desk.nodes[self._node].status
        return status.state.ended or status.attempt != self._attempt

    @asynccontextmanager
    async def limited(self) -> AsyncIterator[None]:
        """The time of the node runs out inside, while the shift is on.

        Raises:
            TimeoutError: it has run out.
        """
        async with asyncio.timeout(None) as self._timer:
            yield
        self._timer = None

    async def enter(self) -> None:
        """Take the places, waiting in line for them; the clock goes on."""
        if self._here:
            return
        desk = self._desk
        if not self.placed:
            await desk.places.enter(self._worker)
        self.placed = True
        await desk.world.runs.enter(desk.agent)
        self._here = True
        desk.active.add(self._worker)
        self._since = desk.world.clock.monotonic()
        if self._timer is not None:
            self._timer.reschedule(asyncio.get_running_loop().time() + self._left())

    def _left(self) -> float:
        node = self._desk.nodes[self._node]
        limit = node.spec.timeout or self._desk.settings.limits.timeout
        return max(limit - node.status.active_s, 0.0)

    def leave(self) -> None:
        """Give the places back; the clock stands still."""
        desk = self._desk
        if self.placed:
            self.placed = False
            desk.places.leave(self._worker)
        if not self._here:
            return
        self._here = False
        self._count()
        self._stop_clock()
        desk.active.discard(self._worker)
        desk.world.runs.leave(desk.agent)
        desk.bell.ring()

    def _stop_clock(self) -> None:
        timer = self._timer
        if timer is None or timer.expired() or timer.when() is None:
            return
        try:
            timer.reschedule(None)
        except RuntimeError:
            return  # its context is being left; there is nothing to stop

    def count_time(self) -> None:
        """Add the time since the last count to the node's."""
        if self._here:
            self._count()

    def _count(self) -> None:
        now = self._desk.world.clock.monotonic()
        node = self._desk.nodes[self._node]
        spent = round(node.status.active_s + now - self._since, 3)
        self._since = now
        status = replace(node.status, active_s=spent)
        self._desk.nodes[self._node] = replace(node, status=status)

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Away for as long as the context lasts."""
        self.leave()
        yield
        await self.enter()
