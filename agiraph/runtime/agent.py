"""One agent: it looks at its folder and puts what people wrote in force."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.codec import (
    read_dropped,
    read_goal,
    read_identity,
    read_question,
    read_spec,
    read_triggers,
)
from agiraph.core.codec.report import Good, Problem, Rejected
from agiraph.core.inbox import InboxMemory, quiet_needed, take_in
from agiraph.model.event import EventType
from agiraph.model.message import Message
from agiraph.model.names import COORDINATOR, EVERYONE, HUMAN
from agiraph.model.node import NodeState
from agiraph.model.run import RunState
from agiraph.ports import Seen
from agiraph.runtime import nodes, questions, runs, staffing
from agiraph.runtime.desk import Desk
from agiraph.runtime.folder import Look
from agiraph.runtime.intake import Intake
from agiraph.runtime.mail import Mailroom
from agiraph.runtime.recall import recall_run, recall_spend

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from agiraph.model.agent import Goal, Settings
    from agiraph.model.json import Json
    from agiraph.model.layout import Home
    from agiraph.model.message import InboxMessage
    from agiraph.model.worker import Identity
    from agiraph.ports import Sight
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.world import World

ABSENT_SECONDS = 2.0
ANSWER_QUIET = 3.0  # an editor that saves by itself must not answer half a sentence


class Agent:
    """The desk of one agent, kept in step with its folder, a look at a time."""

    def __init__(
        self, world: World, home: Home, furnish: Callable[[], dict[str, bytes]]
    ) -> None:
        """`furnish` gives the files that a new home gets where it has none."""
        self.desk = Desk(world, home)
        self.desk.mail = Mailroom(self.desk)
        self._intake = Intake(self.desk)
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
        if not self._recalled:
            self._recall()
            await desk.mail.take_up()
        await self._goal(folder)
        if desk.goal is None:
            return folder.again
        self._pause(folder)
        await self._texts(folder)  # before a run opens: its session is frozen from them
        await self._run(folder)
        await self._mail(folder)
        await self._questions(folder)
        desk.bell.ring()
        return self._soonest(folder.again)

    def _soonest(self, again: float | None) -> float | None:
        if self._unpaused_at is None:
            return again
        left = self._unpaused_at - self.desk.world.clock.monotonic()
        return left if again is None else min(left, again)

    def _recall(self) -> None:
        self._recalled = True
        desk = self.desk
        copy = self._intake.accepted(desk.home.goal)
        if copy is not None:
            found = read_goal(copy, self._defaults())
            if isinstance(found, Good):
                self._put_goal(found.value)
        desk.soul = self._intake.accepted(desk.home.soul) or ""
        recall_run(desk)
        if desk.run_open:
            desk.mail.load()
        questions.load(desk)
        if desk.run_open or self._spent_today():
            recall_spend(desk)

    def _spent_today(self) -> bool:
        """Whether the ledger of today needs this agent's calls."""
        desk = self.desk
        usage = desk.world.reader.entry(desk.home.usage)
        return usage is not None and desk.world.day(usage.changed) == desk.world.today()

    def _defaults(self) -> Settings:
        settings = self.desk.world.settings
        return replace(settings.defaults, budget=settings.agent_budget)

    # --- the goal

    async def _goal(self, folder: Folder) -> None:
        desk, path = self.desk, self.desk.home.goal
        if folder.goal.seen is Seen.ABSENT:
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
        desk = self.desk
        for name, data in self._furnish().items():
            path = desk.home.path / name
            made = await desk.world.pen.create(path, data)
            if made and path == desk.home.soul:
                desk.soul = data.decode()
        for path in (desk.home.memories, desk.home.dropbox, desk.home.questions):
            await desk.world.pen.folder(path)
        await desk.records.event(EventType.AGENT_CREATED, desk.where())

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
        if folder.soul.seen is Seen.GOOD and self._intake.is_new(
            home.soul, folder.soul
        ):
            await self._intake.keep(home.soul, folder.soul)
            desk.soul = folder.soul.text
        await self._judged(home.triggers, folder.triggers, read_triggers)
        if folder.memory.seen is Seen.GOOD:
            known = desk.memory_digest
            desk.memory_digest = folder.memory.sha
            if known and folder.memory.sha not in (known, desk.own_memory):
                desk.memory_changed = folder.memory.sha[:12]

    async def _judged(
        self,
        path: PurePosixPath,
        sight: Sight,
        read: Callable[[str], Good[object] | Rejected],
    ) -> None:
        """Keep a file that nothing acts on yet, or say what is wrong with it."""
        found = await self._intake.judge(path, sight, read, "the last good version")
        if found is not None:
            await self._intake.keep(path, sight)

    # --- the run and its nodes

    async def _run(self, folder: Folder) -> None:
        desk = self.desk
        if folder.stop and desk.run_open:
            await self._stop()
        elif not folder.stop and self._wants_run():
            await runs.open_run(desk)
        if desk.run is None or folder.run != desk.run.name:
            return
        for worker, sight in folder.identities.items():
            await self._identity(worker, sight)
        for node, sight in folder.specs.items():
            await self._spec(node, sight)
        await self._presence(folder)
        for path, problem in folder.odd.items():
            if path not in desk.odd:
                desk.odd.add(path)
                desk.world.remark(f"{path} is left alone: {problem}")

    async def _presence(self, folder: Folder) -> None:
        """STOP and RERUN in node folders; a STOP that is gone frees its node."""
        for node in folder.stops:
            await self._stop_node(node)
        for node, known in list(self.desk.nodes.items()):
            if known.status.error == STOPPED and node not in folder.stops:
                await nodes.back_to_pending(self.desk, node)
        for node in folder.reruns:
            await self._rerun(node)

    def _wants_run(self) -> bool:
        desk = self.desk
        if desk.goal is None or desk.run_open:
            return False
        if desk.run is None:
            return True
        key = desk.goal.settings.run
        return desk.run.goal_hash != desk.goal_digest or desk.run.key != key

    async def _stop(self) -> None:
        desk = self.desk
        for node in board.open_nodes(desk.nodes):
            await nodes.end(
                desk, node.id, NodeState.CANCELLED, error="the run was stopped"
            )
        await runs.end_run(desk, RunState.STOPPED, reason="the file STOP")
        desk.changed()

    async def _identity(self, worker: str, sight: Sight) -> None:
        desk, path = self.desk, self.desk.worker_folder(worker).identity
        staff = desk.find_staff(worker)
        if staff is not None and staff.text == sight.text and sight.seen is Seen.GOOD:
            self._intake.note(path, sight)
            return

        def read(text: str) -> Good[Identity] | Rejected:
            return read_identity(text, worker)

        force = "the last good version" if staff else "nothing; there is no such worker"
        found = await self._intake.judge(path, sight, read, force)
        if found is not None:
            await self._intake.keep(path, sight)
            await staffing.take_on(desk, found, sight.text)

    async def _spec(self, node: str, sight: Sight) -> None:
        desk, path = self.desk, self.desk.node_folder(node).spec
        known = desk.nodes.get(node)
        if known is not None and known.text == sight.text and sight.seen is Seen.GOOD:
            self._intake.note(path, sight)
            return
        force = "the last good version" if known else "nothing; it is not on the board"
        spec = await self._intake.judge(path, sight, read_spec, force)
        if spec is None:
            return
        await self._intake.keep(path, sight)
        if known is None and desk.run is not None and not desk.run.state.open:
            await runs.reopen(desk)
        stage = spec.stage or (known.spec.stage if known else desk.stage)
        parent = spec.parent or (known.spec.parent if known else None)
        spec = replace(spec, stage=stage, parent=parent)
        await nodes.put(desk, node, spec, sight.text, by=HUMAN)

    async def _stop_node(self, node: str) -> None:
        known = self.desk.nodes.get(node)
        if known is None or board.state(known, self.desk.nodes).ended:
            return
        await nodes.end(self.desk, node, NodeState.CANCELLED, error=STOPPED)
        self.desk.changed()

    async def _rerun(self, node: str) -> None:
        """Obeyed, then taken away: a crash between the two obeys it once more."""
        desk, known = self.desk, self.desk.nodes.get(node)
        if known is None or not board.state(known, desk.nodes).ended:
            return
        await runs.reopen(desk)
        await nodes.rerun(desk, node)
        await desk.world.pen.remove(desk.node_folder(node).rerun)

    # --- mail and answers

    async def _mail(self, folder: Folder) -> None:
        home = self.desk.home
        await self._inbox(
            home.inbox,
            folder.inbox,
            COORDINATOR,
            held_open=folder.held_open,
            look=folder,
        )
        for name, sight in folder.drops.items():
            await self._drop(name, sight)
        if self.desk.run is None or folder.run != self.desk.run.name:
            return
        for worker, sight in folder.notes.items():
            path = self.desk.worker_folder(worker).inbox
            await self._inbox(path, sight, worker, held_open=False, look=folder)

    async def _inbox(
        self,
        path: PurePosixPath,
        sight: Sight,
        to: str,
        *,
        held_open: bool,
        look: Folder,
    ) -> None:
        """Take in an inbox once it has been quiet for as long as it needs."""
        desk, source = self.desk, str(path.relative_to(self.desk.home.path))
        if sight.seen is Seen.BAD and self._intake.is_new(path, sight):
            problem = Problem(sight.line or 1, 1, "", sight.problem, "text in UTF-8")
            await self._intake.reject(path, sight, (problem,), "what was read before")
        if sight.seen is not Seen.GOOD or not self._intake.is_new(path, sight):
            return
        memory = _memory(desk.mail.memory_of(source))
        quiet = quiet_needed(memory, sight.text, editor_lock=held_open)
        if sight.quiet < quiet:
            left = quiet - sight.quiet
            look.again = left if look.again is None else min(left, look.again)
            return
        now = desk.world.clock.now().timestamp()
        found, new = take_in(memory, sight.text, now=now, to=to)
        if new != memory or found:
            drafts = await self._drafts([each for each in found if each.new])
            await desk.mail.accept(source, drafts, dict(new.to_json()))
            if drafts:
                desk.last_mail = (desk.world.stamp(), drafts[-1].text)
                desk.changed()
        self._intake.note(path, sight)

    async def _drafts(self, found: list[InboxMessage]) -> list[Message]:
        """Messages to be delivered; answers to open questions go their own way."""
        desk, drafts = self.desk, []
        for each in found:
            number = (
                questions.number_of(f"{each.reply_to}.md") if each.reply_to else None
            )
            if number is None:
                number = self._asked_by(each.to)
            if number is not None and await questions.answer(
                desk, number, each.answer or each.text
            ):
                continue
            drafts.append(
                Message("", HUMAN, each.to, desk.world.stamp(), each.text, each.urgent)
            )
            await self._tell_unknown(each.to)
        return drafts

    async def _tell_unknown(self, to: str) -> None:
        """Tell the person that a message for nobody went to the coordinator."""
        desk = self.desk
        if to in (COORDINATOR, EVERYONE) or desk.find_staff(to) is not None:
            return
        words = f"There is no worker {to!r}; the coordinator has your message."
        await desk.mail.to_outbox("agiraph", words, f"unknown:{desk.world.stamp()}")

    def _asked_by(self, worker: str) -> int | None:
        """The one open question of a worker, which any message to it answers."""
        staff = self.desk.find_staff(worker)
        if staff is None:
            return None
        mine = [n for n, q in self.desk.questions.items() if q.sender == staff.name]
        return mine[0] if len(mine) == 1 else None

    async def _drop(self, name: str, sight: Sight) -> None:
        """One file, one message: accepted, then moved to `_inbox/.read/`."""
        desk, path = self.desk, self.desk.home.dropbox / name
        source = f"_inbox/{name}"
        found = await self._intake.judge(path, sight, read_dropped, "nothing of it")
        if found is None:
            return
        if desk.mail.memory_of(source) != sight.sha:
            drafts = await self._drafts([found])
            await desk.mail.accept(source, drafts, sight.sha)
            desk.last_mail = (desk.world.stamp(), found.text)
            desk.changed()
        await self._put_away(path)
        await desk.mail.accept(source, [], None)

    async def _put_away(self, path: PurePosixPath) -> None:
        desk, number = self.desk, 1
        target = desk.home.read_mail / path.name
        await desk.world.pen.folder(desk.home.read_mail)
        while desk.world.reader.entry(target) is not None:
            number += 1
            target = desk.home.read_mail / f"{path.stem}-{number}{path.suffix}"
        await desk.world.durably(lambda: desk.world.pen.move(path, target))

    async def _questions(self, folder: Folder) -> None:
        desk = self.desk
        for number, sight in folder.questions.items():
            path = desk.home.question(number)

            def read(text: str, name: str = path.name) -> Good[object] | Rejected:
                return read_question(text, name)

            if not self._intake.is_new(path, sight):
                continue
            if sight.seen is Seen.GOOD and sight.quiet < ANSWER_QUIET:
                left = ANSWER_QUIET - sight.quiet
                folder.again = left if folder.again is None else min(left, folder.again)
                continue
            found = await self._intake.judge(
                path, sight, read, "the question stays open"
            )
            if found is None:
                continue
            self._intake.note(path, sight)
            answer = getattr(found, "answer", "")
            if answer.strip():
                await questions.answer(desk, number, answer)


STOPPED = "the file STOP in the node's folder"


def _digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def _memory(found: Json) -> InboxMemory:
    return InboxMemory.from_json(found) if isinstance(found, dict) else InboxMemory()
