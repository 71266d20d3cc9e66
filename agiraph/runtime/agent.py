"""One agent: it looks at its folder and puts what people wrote in force."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.codec import read_goal, read_mcp
from agiraph.core.codec.report import Good, Rejected
from agiraph.errors import Damaged
from agiraph.model.agent import Mode
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR
from agiraph.model.node import NodeState
from agiraph.model.run import RunState
from agiraph.ports import Seen
from agiraph.runtime.desk import Desk
from agiraph.runtime.folder import Look
from agiraph.runtime.jobs import Jobs
from agiraph.runtime.mail import Mailroom
from agiraph.runtime.ownership import Ownership
from agiraph.runtime.people import questions
from agiraph.runtime.people.intake import Intake
from agiraph.runtime.people.letters import Letters
from agiraph.runtime.quarantine import Quarantine
from agiraph.runtime.recall import mend_logs, recall_cut_off, recall_run, recall_spend
from agiraph.runtime.servers import Servers
from agiraph.runtime.skills import Skills
from agiraph.runtime.together import together
from agiraph.runtime.triggers.room import Triggers
from agiraph.runtime.work import nodes, runs
from agiraph.runtime.work.afterwords import tell_ends
from agiraph.runtime.work.boardwork import Boardwork

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from agiraph.model.agent import Goal, Settings
    from agiraph.model.layout import Home
    from agiraph.ports import Sight
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.world import World

ABSENT_SECONDS = 2.0


class Agent:
    """The desk of one agent, kept in step with its folder, a look at a time."""

    def __init__(
        self, world: World, home: Home, furnish: Callable[[], dict[str, bytes]]
    ) -> None:
        """`furnish` gives the files that a new home gets where it has none."""
        self.desk = Desk(world, home)
        self.desk.mail = Mailroom(self.desk)
        self.desk.jobs = Jobs(self.desk)
        self.desk.servers = Servers(self.desk)
        self.desk.skills = Skills(self.desk)
        self._intake = Intake(self.desk)
        self._letters = Letters(self.desk, self._intake)
        self._boardwork = Boardwork(self.desk, self._intake)
        self._ownership = Ownership(self.desk, self._intake)
        self.triggers = Triggers(self.desk, self._intake)
        self.quarantine = Quarantine(self.desk)
        self._furnish = furnish
        self._recalled = False
        self._unpaused_at: float | None = None
        self.gone = False

    async def look(self) -> float | None:
        """Take in what people wrote; seconds until another look is worth it."""
        desk = self.desk
        look = Look(desk.world.reader, desk.home, tuple(desk.questions))
        folder = await asyncio.to_thread(look.take)
        self.gone = not folder.there
        if self.gone:
            return None
        if not await self._ownership.look(folder):
            self.gone = self._ownership.let_go
            return folder.again
        if not await self._ready(folder):
            return folder.again
        desk.unsettled = folder.goal.seen is Seen.LATER
        await self._goal(folder)
        if desk.goal is None:
            return folder.again
        self._pause(folder)
        # Before a run opens: its session is frozen from the texts.
        claims = not folder.stop and self._wants_run()
        await together(self._texts(folder), *([self.claim()] if claims else []))
        await self._run(folder)
        await self._letters.take_in(folder)
        await self._triggers(folder)
        return self._soonest(folder.again)

    async def _triggers(self, folder: Folder) -> None:
        try:
            await self.triggers.look(folder.triggers)
        except Damaged as fault:
            await self.quarantine.damaged(fault)

    @property
    def at_rest(self) -> bool:
        """Whether only a change of its files, or of the tree's, can give it work."""
        desk = self.desk
        ended = desk.run is not None and not desk.run_open
        waits = desk.questions or desk.answered or desk.mail.has(COORDINATOR)
        wrong = desk.holds or desk.error or desk.bad_goal
        odd = wrong or desk.unsettled or desk.cut_off
        return (
            self._recalled
            and desk.goal is not None
            and ended
            and not (
                waits
                or odd
                or self.triggers.errands()
                or desk.is_paused
                or self._intake.any_bad
            )
            and self._unpaused_at is None
        )

    @property
    def is_ours(self) -> bool:
        """Whether it is known, and no other daemon's or gone."""
        return self._recalled and not (self.desk.elsewhere or self.gone)

    async def _ready(self, folder: Folder) -> bool:
        """Whether what was done before is known, as far as it can be read."""
        if not await self.quarantine.look(folder):
            return False
        if self._recalled:
            return True
        try:
            self._recall()
        except Damaged as fault:
            await self.quarantine.damaged(fault)
            await self.quarantine.look(folder)
            return False
        self.quarantine.recall()
        await self._ownership.settle()
        await mend_logs(self.desk)
        await tell_ends(self.desk)
        await self.desk.mail.take_up()
        return True

    def _soonest(self, again: float | None) -> float | None:
        if self._unpaused_at is None:
            return again
        left = self._unpaused_at - self.desk.world.clock.monotonic()
        return left if again is None else min(left, again)

    def _recall(self) -> None:
        desk = self.desk
        copy = self._intake.accepted(desk.home.goal)
        if copy is not None:
            found = read_goal(copy, self._defaults())
            if isinstance(found, Good):
                self._put_goal(found.value)
        desk.soul = self._intake.accepted(desk.home.soul) or ""
        servers = read_mcp(self._intake.accepted(desk.home.servers) or "{}")
        if isinstance(servers, Good) and servers.value:
            desk.servers.put(servers.value)
        recall_run(desk)
        recall_cut_off(desk)
        if desk.run_open:
            desk.journal.load()
            desk.mail.load()
        questions.load(desk)
        if desk.run_open or self._spent_today():
            recall_spend(desk)
        self._recalled = True  # not before: what could not be read is read again

    def _spent_today(self) -> bool:
        """Whether the ledger of today needs this agent's calls."""
        desk = self.desk
        usage = desk.world.reader.entry(desk.home.usage)
        return usage is not None and desk.world.day(usage.changed) == desk.world.today()

    def _defaults(self) -> Settings:
        settings = self.desk.world.settings
        return replace(settings.defaults, budget=settings.agent_budget)

    async def claim(self) -> None:
        """Make sure that the agent is on record as this daemon's, before it acts."""
        await self._ownership.claim()

    # --- the goal

    async def _goal(self, folder: Folder) -> None:
        desk, path = self.desk, self.desk.home.goal
        if folder.goal.seen is Seen.ABSENT:
            await self._intake.clear(path, folder.goal)
            desk.bad_goal = ""
            if desk.goal is not None:
                desk.goal = None
                desk.changed()
            return
        force = (
            "the last good version"
            if desk.goal
            else "nothing; the agent does not start"
        )
        goal = await self._intake.judge(
            path, folder.goal, lambda text: read_goal(text, self._defaults()), force
        )
        if goal is None:
            bad = self._intake.is_bad(path) and desk.goal is None
            desk.bad_goal = (
                "GOAL.md was not accepted; see GOAL.md.error.md" if bad else ""
            )
            return
        if desk.goal is None and self._intake.accepted(path) is None:
            await self._create()
        await self._intake.keep(path, folder.goal)
        self._put_goal(goal)
        desk.changed()

    async def _create(self) -> None:
        """Make the files that a new home lacks; a person's own are left alone."""
        desk, home = self.desk, self.desk.home
        folders = (home.memories, home.dropbox, home.questions)
        await together(
            *(self._lay(name, data) for name, data in self._furnish().items()),
            *(desk.world.pen.folder(path) for path in folders),
        )
        await desk.records.event(EventType.AGENT_CREATED, desk.where())

    async def _lay(self, name: str, data: bytes) -> None:
        path = self.desk.home.path / name
        made = await self.desk.world.pen.create(path, data)
        if made and path == self.desk.home.soul:
            self.desk.soul = data.decode()

    def _put_goal(self, goal: Goal) -> None:
        desk = self.desk
        desk.goal = goal
        desk.goal_digest = _digest(goal.body)

    def settings_changed(self) -> None:
        """The tree's defaults changed: read the accepted goal over them."""
        copy = self._intake.accepted(self.desk.home.goal)
        found = read_goal(copy, self._defaults()) if copy is not None else None
        if isinstance(found, Good):
            self._put_goal(found.value)
        self.desk.changed()

    # --- presence and prose

    def _pause(self, folder: Folder) -> None:
        """PAUSE counts at once; its absence is believed after two seconds."""
        desk, now = self.desk, self.desk.world.clock.monotonic()
        if folder.pause:
            self._unpaused_at = None
            if not desk.paused:
                desk.paused = True
                desk.changed()
        elif desk.paused and self._unpaused_at is None:
            self._unpaused_at = now + ABSENT_SECONDS
        elif desk.paused and self._unpaused_at is not None and now >= self._unpaused_at:
            self._unpaused_at = None
            desk.paused = False
            desk.changed()

    async def _texts(self, folder: Folder) -> None:
        desk, home = self.desk, self.desk.home
        if await self._judged(home.soul, folder.soul, Good):
            desk.soul = folder.soul.text
        unread = "nothing of it: the agent goes on without this memory"
        if await self._intake.judge(home.memory, folder.memory, Good, unread):
            self._intake.note(home.memory, folder.memory)
        await self._servers(folder.servers)
        await asyncio.to_thread(desk.skills.look)
        await self._memory(folder)

    async def _memory(self, folder: Folder) -> None:
        """What people made of the memory since the last look, here or while away."""
        desk = self.desk
        if folder.memory.seen is Seen.LATER:
            return
        before = len(desk.memory.record)
        again = await desk.memory.look()
        if again is not None:
            folder.again = min(folder.again or again, again)
        if len(desk.memory.record) != before:
            desk.bell.ring()

    async def _servers(self, sight: Sight) -> None:
        """Which tool servers there are; those of a file that is gone are gone."""
        desk, path = self.desk, self.desk.home.servers
        gone = sight.seen is Seen.ABSENT and self._intake.is_new(path, sight)
        if gone or await self._judged(path, sight, read_mcp):
            found = read_mcp(sight.text) if not gone else Good(())
            desk.servers.put(found.value if isinstance(found, Good) else ())

    async def _judged(
        self,
        path: PurePosixPath,
        sight: Sight,
        read: Callable[[str], Good[object] | Rejected],
    ) -> bool:
        """Keep a good new version, or say what is wrong with it; whether it is good."""
        force = "the last good version"
        if self._intake.is_new(path, sight) and self._intake.accepted(path) is None:
            force = "nothing of it"
        found = await self._intake.judge(path, sight, read, force)
        if found is None:
            return False
        await self._intake.keep(path, sight)
        return True

    # --- the run and its nodes

    async def _run(self, folder: Folder) -> None:
        desk = self.desk
        desk.stopping = folder.stop
        if folder.stop and desk.run_open:
            await self._stop()
        elif not folder.stop and self._wants_run():
            await self.claim()
            if await self._letters.take_in_notes(folder):  # of the last one
                await runs.open_run(desk)
        if desk.run is None or folder.run != desk.run.name:
            return
        await self._boardwork.take_in(folder)

    def _wants_run(self) -> bool:
        desk = self.desk
        if desk.goal is None or desk.run_open:
            return False
        if desk.run is None:
            return True
        key = desk.goal.settings.run
        if desk.settings.mode is Mode.INFINITE and runs.goes_on(desk):
            return not desk.active  # else it is just being opened
        return desk.run.goal_hash != desk.goal_digest or desk.run.key != key

    async def _stop(self) -> None:
        desk = self.desk
        for node in board.open_nodes(desk.nodes):
            await nodes.end(
                desk, node.id, NodeState.CANCELLED, error="the run was stopped"
            )
        await runs.end_run(desk, RunState.STOPPED, reason="the file STOP")
        desk.changed()


def _digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]
