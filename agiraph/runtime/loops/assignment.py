"""One assignment: a worker on a node, from its brief to what it carries on from it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core import turn as rules
from agiraph.errors import AgiraphError, NotThere, ProviderFault, StepCrashed
from agiraph.model.event import EventType
from agiraph.model.node import NodeState
from agiraph.model.run import RunState
from agiraph.model.worker import WorkerState
from agiraph.runtime.work import nodes, publishing, staffing

if TYPE_CHECKING:
    from agiraph.runtime.agent import Agent
    from agiraph.runtime.desk import Staff
    from agiraph.runtime.loops.worker import Worker


class Assignment:
    """Has a worker do its node, and frees it at the end, however that comes."""

    def __init__(self, agent: Agent, worker: Worker, staff: Staff, node: str) -> None:
        """The worker has the node in hand already."""
        self._agent = agent
        self._desk = agent.desk
        self._worker = worker
        self._staff = staff
        self._node = node

    async def work(self) -> None:
        """From its brief to its end; then the worker is free."""
        desk, node = self._desk, self._node
        desk.loops.add(node)
        try:
            await self._to_the_end()
            if desk.nodes[node].status.state is NodeState.COMPLETED:
                await self._after()
        except asyncio.CancelledError:
            # A shutdown leaves everything as it is, to go on with; its clock is kept.
            if self._is_called_off:
                await self._free()
            elif self._worker.is_over:
                self._staff.left = node
            elif not self._agent.gone:
                await desk.put_node(desk.nodes[node])
            raise
        except (NotThere, StepCrashed):
            await self._free()
            raise
        except AgiraphError as fault:
            await self._failed(str(fault))
            await self._free()
        else:
            await self._free()
        finally:
            self._staff.node = None  # whoever starts the loops again finds it free
            desk.loops.discard(node)
            desk.bell.ring()

    async def settle(self) -> None:
        """What a restart cut off behind its node's end."""
        desk, node = self._desk, self._node
        desk.loops.add(node)
        ends = True
        try:
            await self._worker.settle()
            if desk.nodes[node].status.state is NodeState.COMPLETED:
                await self._after()
        except asyncio.CancelledError:
            ends = self._is_called_off
            raise
        finally:
            try:
                if ends:
                    self._staff.left = None
                    await self._free()
            finally:
                self._staff.node = None
                desk.loops.discard(node)
                desk.bell.ring()

    @property
    def _is_called_off(self) -> bool:
        """Whether it was ended for good, and not by a shutdown."""
        desk, status = self._desk, self._desk.nodes[self._node].status
        stopped = desk.run is not None and desk.run.state is RunState.STOPPED
        given_away = status.attempt != self._worker.attempt
        cancelled = status.state is NodeState.CANCELLED
        return desk.opening or stopped or given_away or cancelled

    async def _to_the_end(self) -> None:
        try:
            end = await self._worker.run()
        except TimeoutError:
            await self._failed("timeout: its time was used up")
            return
        except ProviderFault as fault:
            await self._failed(str(fault))
            return
        match end.why:
            case rules.Why.DONE:
                if self._worker.single:
                    await self._single()
            case rules.Why.TURNS:
                await self._failed(f"max_turns: {end.note}")
            case rules.Why.STUCK:
                await self._failed(f"stuck: {end.note}")
            case rules.Why.SILENT:
                await self._failed("no_publish: it ended its turns without publishing")
            case rules.Why.REFUSED:
                await self._failed(f"refused by the model: {end.note}")

    async def _failed(self, words: str) -> None:
        await nodes.fail(self._desk, self._node, words)

    async def _single(self) -> None:
        """A single inference: its answer is the deliverable."""
        desk, node, text = self._desk, self._node, self._worker.answer
        folder = desk.node_folder(node)
        if desk.nodes[node].status.state.ended:
            return
        answer = folder.scratch / "answer.md"
        if not publishing.has_content(desk, folder.published):
            await desk.world.write(answer, text.strip().encode() + b"\n")
        work = publishing.Deliverable(node, text.strip()[:500], partial=False)
        await publishing.publish(desk, work)

    async def _after(self) -> None:
        """What the worker carries on: its history, and what it learned."""
        desk, staff, node = self._desk, self._staff, self._node
        await staffing.remember(desk, staff, node)
        if desk.settings.reflection and not self._worker.single:
            learned = await self._worker.look_back()
            if learned:
                await staffing.learn(desk, staff, node, learned)

    async def _free(self) -> None:
        desk, staff = self._desk, self._staff
        retired = staff.identity.retired
        state = WorkerState.STOPPED if retired else WorkerState.IDLE
        await desk.set_staff(staff, state, None)
        desk.mail.hand_over(staff.name)
        kind = EventType.WORKER_STOPPED if retired else EventType.WORKER_IDLE
        await desk.records.event(kind, desk.where(worker=staff.name))
