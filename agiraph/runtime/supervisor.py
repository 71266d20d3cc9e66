"""The supervisor of one agent: it starts loops, ends them, and answers for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agiraph.core import board, moves
from agiraph.errors import Damaged
from agiraph.model.agent import Permission
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR, folded
from agiraph.model.node import NodeState
from agiraph.model.run import RunState
from agiraph.model.worker import Identity, WorkerState, WorkerType
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.edge import Edge
from agiraph.runtime.loops.assignment import Assignment
from agiraph.runtime.loops.coordinator import Coordinator
from agiraph.runtime.loops.worker import Worker
from agiraph.runtime.news import News
from agiraph.runtime.people import questions
from agiraph.runtime.status import StatusPage
from agiraph.runtime.toolbox import toolbox
from agiraph.runtime.work import nodes, runs, staffing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.node import Node
    from agiraph.ports import Tool
    from agiraph.runtime.agent import Agent
    from agiraph.runtime.desk import Desk, Staff
    from agiraph.runtime.jobs import Work


NO_COMMAND_LINE_AGENTS = "command-line agents cannot work yet; take a harnessed worker"
ROUNDS = "rounds"


class Supervisor:
    """Runs the loops of one agent until there is nothing left to do."""

    def __init__(self, agent: Agent, edges: Mapping[str, Tool]) -> None:
        """`edges`: the tools on files and processes, the same for every agent."""
        self._agent = agent
        self._desk: Desk = agent.desk
        self._edges = edges
        self._talk: Conversation | None = None
        self._news: News | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._begun_after: dict[str, str] = {}  # loop -> the run that had ended
        self._attempts: dict[str, int] = {}
        self._cleared_up = False
        self._page = StatusPage(self._desk)
        self._edge = Edge(agent)

    # --- whether and when

    def wants(self) -> bool:
        """Whether there is something to run; asked after every look."""
        desk = self._desk
        if self._agent.gone or desk.goal is None or desk.error or desk.stopping:
            return False
        left = desk.cut_off or any(staff.left for staff in desk.staff.values())
        mail = desk.mail.has(COORDINATOR) or questions.untold(desk, COORDINATOR)
        return (
            desk.run_open or bool(mail) or left or bool(self._agent.triggers.errands())
        )

    async def run(self) -> None:
        """Start what can start, until nothing is left; cancelled, it ends its loops."""
        async with asyncio.TaskGroup() as group:
            self._desk.jobs.begin = lambda name, work: group.create_task(
                self._edge.guard(name, work), name=name
            )
            await self._edge.guard(ROUNDS, partial(self._rounds, group))
            self._desk.jobs.cut_off()
        await self._page.write()

    async def _rounds(self, group: asyncio.TaskGroup) -> None:
        desk = self._desk
        await self._clear_up()
        serving = self._edge.guard("tool servers", desk.servers.run)
        servers = group.create_task(serving, name="tool servers")
        try:
            rung = desk.bell.count
            while await self._dispatch(group):
                await self._page.write()
                await desk.bell.after(rung, self._alarm())
                if desk.bell.count == rung:
                    desk.bell.ring()  # time has passed: whoever waits looks, too
                rung = desk.bell.count
        finally:
            servers.cancel()
            for task in self._tasks.values():
                _cancel(task)

    async def _clear_up(self) -> None:
        """End what a dead daemon left running; ours ends its own."""
        if self._cleared_up:
            return
        desk = self._desk
        await self._agent.claim()
        left = await desk.world.shell.end_left_behind(desk.agent)
        await desk.jobs.recall()
        self._cleared_up = True
        if left:
            desk.world.remark(
                f"{desk.agent}: ended {left} commands left by a dead daemon"
            )

    async def write_status(self) -> None:
        """Bring `_status.md` up to date without running anything."""
        await self._page.write()

    def _alarm(self) -> float | None:
        """Seconds until something falls due by itself."""
        moments = (self._page.due(), self._desk.stage_left())
        return min((each for each in moments if each is not None), default=None)

    # --- one round

    async def _dispatch(self, group: asyncio.TaskGroup) -> bool:
        desk = self._desk
        self._reap()
        if self._agent.gone or desk.goal is None or desk.broken:
            return False
        self._end_cancelled()
        await nodes.note_faults(desk)
        await desk.book_pause()
        if desk.may_start:
            await self._coordinator(group)
            await self._wind_up(group)
            await self._workers(group)
            errands = self._agent.triggers.errands()
            for name in errands.keys() - self._tasks.keys():
                self._start(group, name, errands[name])
        await self._end_without_coordinator()
        await desk.write_board()
        return bool(self._tasks) or self.wants()

    def _reap(self) -> None:
        self._tasks = {n: task for n, task in self._tasks.items() if not task.done()}

    def _end_cancelled(self) -> None:
        nodes_now = self._desk.nodes
        for name, task in self._tasks.items():
            node = nodes_now.get(name.removeprefix("node:"))
            if node is not None and (
                node.status.state is NodeState.CANCELLED
                or node.status.attempt != self._attempts.get(name)
                or self._desk.opening
            ):
                _cancel(task)
        run = self._desk.run
        if run is not None and run.state is RunState.STOPPED:
            for name, task in self._tasks.items():
                if self._begun_after.get(name) != run.name:
                    _cancel(task)

    def _start(self, group: asyncio.TaskGroup, name: str, work: Work) -> None:
        task = group.create_task(self._edge.guard(name, work), name=name)
        task.add_done_callback(lambda _: self._desk.bell.ring())
        self._tasks[name] = task
        run = self._desk.run
        self._begun_after[name] = run.name if run and not run.state.open else ""

    # --- the coordinator

    async def _coordinator(self, group: asyncio.TaskGroup) -> None:
        desk = self._desk
        if not desk.settings.coordinator:
            desk.cut_off = False
        if COORDINATOR in self._tasks or not desk.settings.coordinator or desk.error:
            return
        if self._talk is None or self._news is None:
            self._talk = Conversation(desk.world, desk.home.conversation)
            self._talk.load()
            self._news = News(desk, self._talk)
            # A crash may have come between an answer's line and the note of it.
            await questions.told(desk, self._talk.delivered)
        by_people = self._goes_on_without()
        mail = desk.mail.waiting(COORDINATOR, self._talk.delivered)
        answers = questions.untold(desk, COORDINATOR)
        if mail or answers or (desk.run_open and not by_people) or desk.cut_off:
            loop = Coordinator(desk, self._talk, self._news)
            loop.tools = toolbox(desk, self._talk, loop, self._edges)
            self._start(group, COORDINATOR, loop.run)

    def _goes_on_without(self) -> bool:
        """Whether a run that people reopened needs no word of the coordinator."""
        desk = self._desk
        if desk.run is None or desk.run.state is not RunState.REOPENED:
            return False
        moving = moves.any_moves(desk.recorded, desk.hands())
        return moving or not board.open_nodes(desk.recorded)

    async def _end_without_coordinator(self) -> None:
        """Where nodes are people's alone, the run ends when none is open."""
        desk = self._desk
        if desk.run is None or not desk.run_open or COORDINATOR in self._tasks:
            return
        alone = not desk.settings.coordinator
        if not alone and desk.run.state is not RunState.REOPENED:
            return
        if desk.nodes and not board.open_nodes(desk.recorded) and not self._tasks:
            await runs.end_run(desk, RunState.COMPLETED, reason="no node is open")

    # --- workers

    async def _workers(self, group: asyncio.TaskGroup) -> None:
        desk = self._desk
        if desk.run is None or not desk.run_open:
            return
        for node in list(desk.nodes.values()):
            if node.status.state.at_work or node.status.state is NodeState.HELD:
                await self._resume(group, node)
        for node in board.startable(desk.nodes, desk.hands()):
            if f"node:{node.id}" in self._tasks or node.id in desk.unannounced:
                continue
            if board.unmet(node, desk.recorded):
                continue  # the end of what it needs is not on the disk yet
            freely = desk.settings.permissions.spawn is Permission.ALLOW
            name = board.choose_worker(node, desk.nodes, desk.hands(), freely=freely)
            if name is None or not desk.places.claim(name):
                continue
            staff = desk.find_staff(name) or await self._hire(node, name)
            await nodes.start(desk, node.id, staff.name)
            await self._go(group, node.id, staff, placed=True)

    async def _wind_up(self, group: asyncio.TaskGroup) -> None:
        """After a restart: who had a node in hand that has ended is freed in order."""
        desk = self._desk
        for staff in list(desk.staff.values()):
            if staff.left is None or f"node:{staff.left}" in self._tasks:
                continue
            node = desk.nodes.get(staff.left)
            if node is None or not self._is_owed(node, staff):
                staff.left = None
                continue
            worker = self._seated(staff, node.id)
            staff.node = node.id
            assignment = Assignment(self._agent, worker, staff, node.id)
            self._start(group, f"node:{node.id}", assignment.settle)

    def _is_owed(self, node: Node, staff: Staff) -> bool:
        """Whether a worker is to be freed of a node; what is at work is resumed."""
        his = node.status.worker == staff.name and staff.node in (None, node.id)
        return node.status.state.ended and his

    async def _resume(self, group: asyncio.TaskGroup, node: Node) -> None:
        """After a restart: a node that was in hand goes on where it was."""
        task = f"node:{node.id}"
        worker = node.status.worker
        if task in self._tasks or worker is None:
            return
        if node.status.state is NodeState.ASSIGNED:
            return  # it is started like a new one, once its worker is free
        staff = self._desk.find_staff(worker) or await self._hire(node, worker)
        if staff.node is None:
            await self._go(group, node.id, staff, placed=False)

    async def _hire(self, node: Node, name: str) -> Staff:
        asked = node.spec.worker
        identity = Identity(name=name)
        if isinstance(asked, Identity) and folded(asked.name) == folded(name):
            identity = replace(asked, name=name)  # its place is held under this name
        return await staffing.hire(self._desk, identity)

    async def _go(
        self, group: asyncio.TaskGroup, node: str, staff: Staff, *, placed: bool
    ) -> None:
        desk = self._desk
        if staff.identity.type is WorkerType.AUTONOMOUS:
            desk.places.leave(staff.name)
            await nodes.fail(desk, node, NO_COMMAND_LINE_AGENTS)
            return
        try:
            worker = self._seated(staff, node)
        except Damaged:
            desk.places.leave(staff.name)
            raise
        worker.shift.placed = placed
        await desk.set_staff(staff, WorkerState.BUSY, node)
        await desk.records.event(EventType.WORKER_BUSY, desk.where(node, staff.name))
        assignment = Assignment(self._agent, worker, staff, node)
        self._start(group, f"node:{node}", assignment.work)

    def _seated(self, staff: Staff, node: str) -> Worker:
        """A worker with its conversation and its tools."""
        desk = self._desk
        talk = Conversation(desk.world, desk.worker_folder(staff.name).conversation)
        talk.load()
        worker = Worker(desk, staff, desk.nodes[node], talk)
        worker.tools = toolbox(desk, talk, worker, self._edges)
        self._attempts[f"node:{node}"] = worker.attempt
        return worker


def _cancel(task: asyncio.Task[None]) -> None:
    """Once: a second time would cut off what it does to end in order."""
    if not task.cancelling():
        task.cancel()
