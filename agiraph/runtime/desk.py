"""The desk of one agent: everything that is known of it while it is looked at."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.codec import write_run, write_worker_status
from agiraph.core.costs import Tally
from agiraph.model.names import folded
from agiraph.model.usage import Spend
from agiraph.model.worker import Deed, Identity, WorkerState, WorkerStatus
from agiraph.runtime.bell import Bell
from agiraph.runtime.boardpage import BoardPage
from agiraph.runtime.journal import Journal
from agiraph.runtime.memorybook import MemoryBook
from agiraph.runtime.nodepages import NodePages
from agiraph.runtime.places import Places
from agiraph.runtime.records import Records, Where
from agiraph.runtime.worktime import WorkTime
from agiraph.tools.seen import LastSeen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import PurePosixPath

    from agiraph.core.codec.approvals import Approved
    from agiraph.model.agent import Goal, Settings
    from agiraph.model.layout import Home, NodeFolder, RunFolder, WorkerFolder
    from agiraph.model.message import Question
    from agiraph.model.node import Node, NodeState, NodeStatus
    from agiraph.model.run import Run
    from agiraph.runtime.jobs import Jobs
    from agiraph.runtime.mail import Mailroom
    from agiraph.runtime.servers import Servers
    from agiraph.runtime.skills import Skills
    from agiraph.runtime.world import World


@dataclass(slots=True)
class Staff:
    """A worker on the desk.

    Attributes:
        node: the node in its hands; None when it is idle.
        left: the node that it had in hand when the daemon ended, until that is settled.
        text: the accepted identity.md.
        said: what its page says.
    """

    identity: Identity
    state: WorkerState = WorkerState.IDLE
    node: str | None = None
    left: str | None = None
    text: str = ""
    deeds: list[Deed] = field(default_factory=list)
    said: tuple[object, ...] = ()

    @property
    def name(self) -> str:
        """As its folder is called."""
        return self.identity.name


class Desk:
    """What is known of one agent, and the few ways in which it changes.

    Every change is on the disk before the bell rings.
    """

    def __init__(self, world: World, home: Home) -> None:  # noqa: PLR0915 - fields
        """An empty desk for the agent at `home`."""
        self.world = world
        self.home = home
        self.bell = Bell(world.clock)
        world.bells.add(self.bell)
        self.journal = Journal(world, home)
        self.records = Records(world, home)
        self.memory = MemoryBook(world, home)
        self.seen = LastSeen()
        self.places = Places(self.bell, lambda: self.settings.max_workers)
        self.mail: Mailroom
        self.jobs: Jobs
        self.servers: Servers
        self.skills: Skills
        # What people wrote, as it is in force.
        self.goal: Goal | None = None
        self.goal_digest = ""  # of its body
        self.soul = ""
        self.approved: frozenset[Approved] = frozenset()
        self.paused = self.stopping = False
        self.reading = asyncio.Lock()  # held while what people wrote is taken in
        self.odd: set[PurePosixPath] = set()  # names that cannot be; each told once
        self.remarks: dict[PurePosixPath, tuple[str, ...]] = {}  # odd in good files
        self.revision = 0  # counts what changes in force: who failed may try again then
        # The newest run.
        self.run: Run | None = None
        self._folder: RunFolder | None = None
        self.nodes: dict[str, Node] = {}
        self.version = 0  # counts what changes on the board
        self.faults_of = -1  # the version of it whose faults are on record
        self.staff: dict[str, Staff] = {}  # by the folded name
        self.reserved: set[str] = set()  # folded ids of nodes that are being made
        self.unannounced: set[str] = set()  # nodes whose creation is not on record yet
        self.waits: dict[str, tuple[str, ...]] = {}  # node -> those that it waits for
        self.shown: dict[str, str] = {}  # node -> the spec that its worker has read
        self.next_cycle: float | None = None  # when, on the monotonic clock
        self.resting = False  # the coordinator sleeps until then
        self._board = BoardPage(world)
        self._pages = NodePages(world)
        self._time = WorkTime(world.clock)
        # What was asked, said and spent.
        self.questions: dict[int, Question] = {}  # the open ones
        self.answered: dict[int, Question] = {}  # those whose asker is still to be told
        self.last_mail = ("", "")  # when it came, and its words
        self.spend = Spend()
        self.tally = Tally()
        # The loops, and what keeps them.
        self.loops: set[str] = set()  # nodes that have one
        self.active: set[str] = set()  # who is at work just now, commands included
        self.at: dict[str, str] = {}  # loop -> its step, to be named after a crash
        self.held: dict[str, str] = {}  # loop -> why it may not make its call
        self.holds: dict[str, str] = {}  # whose word it is -> why nothing may start
        self.opening = False  # a run is being opened
        self.cut_off = False  # a crash kept the result of a run's end back
        self.elsewhere = ""  # why another place runs the agent
        self.broken = ""  # what is damaged, until a person has mended it
        self.bad_goal = ""  # why GOAL.md is not in force
        self.unsettled = False  # GOAL.md is being written
        self._error, self._failed_at = "", -1
        self.narrow: dict[str, int] = {}  # windows smaller than they were taken for
        # What triggers look at.
        self.rests = 0  # counts how often the coordinator came to rest
        self.watchful = False  # a heartbeat waits for that
        self.planned: tuple[tuple[str, tuple[str, ...]], ...] = ()  # due times ahead

    def rested(self) -> None:
        """The coordinator has come to rest: what heartbeats see from here is new."""
        self.rests += 1
        if self.watchful:
            self.world.look(self.agent)

    def changed(self) -> None:
        """What is in force has changed: whoever is held, or failed, tries again."""
        self.revision += 1
        self._time.pause(on=self.is_paused)
        self.bell.ring()

    def working(self) -> float:
        """Seconds on a clock that stands still while all is paused."""
        return self._time.now()

    async def until(
        self, holds: Callable[[], bool], *, deadline: float | None = None
    ) -> bool:
        """Wait until something holds, or a deadline comes; a pause puts it off.

        Args:
            holds: what is waited for.
            deadline: on the clock `working`; None is for ever.

        Returns:
            Whether it holds; False when the deadline came first.
        """
        while not holds():
            left = None
            if deadline is not None and not self.is_paused:
                left = deadline - self.working()
                if left <= 0:
                    return False
            await self.bell.wait(left)
        return True

    def fail(self, words: str) -> None:
        """The coordinator cannot go on, and would fail again as things stand."""
        self._error, self._failed_at = words, self.revision
        self.bell.ring()

    @property
    def error(self) -> str:
        """Why the coordinator cannot go on; empty once what is in force has changed."""
        if self.broken:
            return self.broken
        return self._error if self._failed_at == self.revision else ""

    # --- what is in force

    @property
    def settings(self) -> Settings:
        """The agent's settings in force, or the tree's defaults without a goal."""
        return self.goal.settings if self.goal else self.world.settings.defaults

    @property
    def goal_text(self) -> str:
        """The goal in force, in a person's words; empty without one."""
        return self.goal.body if self.goal else ""

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.home.agent

    @property
    def is_paused(self) -> bool:
        """Whether nothing new may start, here or in the whole tree."""
        return self.paused or self.world.paused

    @property
    def hold(self) -> str:
        """Why nothing new may start here, beside a pause; empty when it may."""
        return "; ".join(self.holds.values()) or self.world.hold

    @property
    def may_start(self) -> bool:
        """Whether loops may start: nothing forbids it, and their tools are known."""
        closed = self.is_paused or self.hold or self.stopping or self.opening
        return not closed and not self.servers.starting

    async def until_free(self, hold: str) -> None:
        """Wait until another hold is there, or none."""
        await self.bell.until(lambda: self.hold != hold)

    async def all_read(self) -> None:
        """Wait until what people wrote together is before its readers together."""
        async with self.reading:
            return

    @property
    def run_open(self) -> bool:
        """Whether the newest run goes on."""
        return self.run is not None and self.run.state.open

    @property
    def is_settling(self) -> bool:
        """Whether somebody still has the end of a node, or of the run, to settle."""
        left = any(staff.left for staff in self.staff.values())
        return self.cut_off or left or bool(self.loops)

    @property
    def stage(self) -> int | None:
        """The number of the open stage."""
        if self.run and self.run.stages and not self.run.stages[-1].closed:
            return self.run.stages[-1].number
        return None

    def run_folder(self) -> RunFolder:
        """The newest run's folder; there must be one."""
        if self.run is None:
            raise LookupError("no run has been opened yet")
        if self._folder is None or self._folder.name != self.run.name:
            self._folder = self.home.run(self.run.name)
        return self._folder

    def node_folder(self, node: str) -> NodeFolder:
        """A node's folder in the newest run."""
        return self.run_folder().node(node)

    def worker_folder(self, worker: str) -> WorkerFolder:
        """A worker's folder in the newest run."""
        return self.run_folder().worker(worker)

    def where(self, node: str | None = None, worker: str | None = None) -> Where:
        """What a record is about."""
        return Where(self.run.name if self.run else None, node, worker, self.stage)

    @property
    def recorded(self) -> Mapping[str, Node]:
        """The nodes as their pages have them: what others are told, and start by."""
        return self._pages.recorded(self.nodes)

    def find_node(self, name: str) -> Node | None:
        """A node by its id, without regard to case."""
        wanted = folded(name)
        return next((n for n in self.nodes.values() if folded(n.id) == wanted), None)

    def find_staff(self, name: str) -> Staff | None:
        """A worker by its name, without regard to case."""
        return self.staff.get(folded(name))

    def shared(self) -> frozenset[str]:
        """The nodes whose scratch everyone in the run may read."""
        return frozenset(node.id for node in self.nodes.values() if node.spec.share)

    def hands(self) -> list[board.Hand]:
        """The workers, as far as assigning looks."""
        return [
            board.Hand(s.name, s.node is not None, s.identity.retired)
            for s in self.staff.values()
        ]

    # --- changes, each on the disk before the bell rings

    async def set_run(self, run: Run) -> None:
        """Record how the run stands."""
        data = write_run(run).encode()
        path = self.home.run(run.name).record
        await self.world.write(path, data)
        self.run = run
        self.bell.ring()

    def place(self, node: Node) -> None:
        """Put a node on the board as it is now; what was worked out before is old."""
        self.nodes[node.id] = node
        self.version += 1

    async def put_node(self, node: Node) -> None:
        """Record how a node stands."""
        path, old = self.node_folder(node.id).status, self.nodes.get(node.id)
        self.place(node)
        try:
            await self._pages.write(path, node, old)
        finally:
            self.version += 1  # an end counts for others from here
        self.bell.ring()

    async def set_node(self, node: str, status: NodeStatus) -> Node:
        """Record a node's new status; its `since` is now where the state changed."""
        old = self.nodes[node]
        if status.state is not old.status.state:
            status = replace(status, since=self.world.stamp())
        new = replace(old, status=status)
        await self.put_node(new)
        return new

    async def set_state(
        self, node: str, state: NodeState, *, waiting_for: str = "", error: str = ""
    ) -> Node:
        """Record a node's new state and why it waits or failed."""
        status = self.nodes[node].status
        return await self.set_node(
            node, replace(status, state=state, waiting_for=waiting_for, error=error)
        )

    async def set_staff(
        self, staff: Staff, state: WorkerState, node: str | None
    ) -> None:
        """Record what a worker is doing."""
        staff.state, staff.node = state, node
        self.staff[folded(staff.name)] = staff
        waiting_for = self.nodes[node].status.waiting_for if node else ""
        said = (self.run_folder().name, state, node, waiting_for)
        if said == staff.said:
            self.bell.ring()
            return
        page = write_worker_status(
            WorkerStatus(
                state=state,
                since=self.world.stamp(),
                run=self.run_folder().name,
                node=node or "",
                waiting_for=waiting_for,
            )
        )
        path = self.worker_folder(staff.name).status
        await self.world.write(path, page.encode())
        staff.said = said
        self.bell.ring()

    async def write_board(self) -> None:
        """Bring `_board.md` up to date, if what it says has changed."""
        if self.run is not None:
            await self._board.write(self.run_folder().board, self.run, self.recorded)

    def stage_age(self) -> float:
        """Seconds since the open stage opened, pauses not counted."""
        if self.run is None or not self.run.stages:
            return 0.0
        stage = self.run.stages[-1]
        opened = datetime.fromisoformat(stage.opened)
        age = (self.world.clock.now() - opened).total_seconds()
        return max(age - stage.paused - self._time.unbooked(), 0.0)

    def stage_left(self) -> float | None:
        """Seconds until the open stage's time is up; None where it has no limit."""
        run = self.run
        if run is None or not run.stages or run.stages[-1].closed:
            return None
        limit = run.stages[-1].contract.timeout
        left = limit - self.stage_age() if limit is not None else -1.0
        return left if left > 0 else None

    async def book_pause(self) -> None:
        """Put a pause that is over on the open stage's record."""
        seconds, run = self._time.book(), self.run
        if seconds and run is not None and run.stages and not run.stages[-1].closed:
            stage = run.stages[-1]
            stage = replace(stage, paused=stage.paused + seconds)
            await self.set_run(replace(run, stages=(*run.stages[:-1], stage)))

    def forget_run(self) -> None:
        """Clear what belongs to the run before another one opens."""
        self.nodes.clear()
        self.version += 1
        self.staff.clear()
        self.reserved.clear()
        self._board = BoardPage(self.world)
        self._pages = NodePages(self.world)
