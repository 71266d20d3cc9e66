"""A node that waits: its worker holds no place meanwhile, and the board says why."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from agiraph.model.event import EventType
from agiraph.model.node import NodeState
from agiraph.model.worker import WorkerState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agiraph.model.node import Node
    from agiraph.runtime.desk import Desk, Staff
    from agiraph.runtime.loops.shift import Shift
    from agiraph.runtime.records import Where

PARKED: Final = (NodeState.WAITING, NodeState.WAITING_FOR_HUMAN, NodeState.HELD)


class NodeParking:
    """Parks the node of one shift, and lets it go on."""

    def __init__(self, desk: Desk, staff: Staff, node: str, shift: Shift) -> None:
        """For the worker `staff`, whose shift it is."""
        self._desk = desk
        self._staff = staff
        self._node = node
        self._shift = shift

    @asynccontextmanager
    async def parked(self, state: NodeState, words: str) -> AsyncIterator[None]:
        """Parked for as long as the context lasts: no place, no clock."""
        desk = self._desk
        if self._now.status.state.ended:  # it looks back: its node stays as it ended
            async with self._shift.away():
                yield
            return
        human = state is NodeState.WAITING_FOR_HUMAN
        held = state is NodeState.HELD
        kind = EventType.NODE_HELD if held else EventType.NODE_WAITING
        async with self._shift.away():
            await desk.set_state(self._node, state, waiting_for=words)
            await desk.set_staff(
                self._staff,
                WorkerState.WAITING_FOR_HUMAN if human else WorkerState.BUSY,
                self._node,
            )
            await desk.records.event(kind, self._where, words=words)
            if human:
                await desk.records.event(EventType.WORKER_WAITING, self._where)
            yield
        if self._shift.is_over:
            await desk.bell.until(lambda: False)  # until the supervisor ends it
        await self.goes_on()

    @asynccontextmanager
    async def held(self, words: str) -> AsyncIterator[None]:
        """Held: the node shows it until the context ends."""
        desk = self._desk
        desk.held[self._node] = words
        try:
            async with self.parked(NodeState.HELD, words):
                yield
        finally:
            desk.held.pop(self._node, None)

    async def goes_on(self) -> None:
        """The node runs again, and says so."""
        desk = self._desk
        human = self._now.status.state is NodeState.WAITING_FOR_HUMAN
        await desk.set_state(self._node, NodeState.RUNNING)
        await desk.set_staff(self._staff, WorkerState.BUSY, self._node)
        await desk.records.event(EventType.NODE_RESUMED, self._where)
        if human:
            await desk.records.event(EventType.WORKER_BUSY, self._where)

    @property
    def _now(self) -> Node:
        return self._desk.nodes[self._node]

    @property
    def _where(self) -> Where:
        return self._desk.where(self._node, self._staff.name)
