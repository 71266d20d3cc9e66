"""A harnessed worker on one node: its brief, its places, its end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core import turn as rules
from agiraph.core.brief import diff_text, mail_text, notice, same_prefix
from agiraph.core.limits import COUNTERS_EVERY, INLINED_REFS
from agiraph.model.conversation import Kind, SystemLine, UserLine
from agiraph.model.names import AGIRAPH
from agiraph.ports import Seat
from agiraph.runtime.loops import chains, circles
from agiraph.runtime.loops.asker import Asker, Spender
from agiraph.runtime.loops.bearings import of_worker
from agiraph.runtime.loops.briefs import brief_of_node, brief_of_single
from agiraph.runtime.loops.compaction import HAND_OFF_TOOLS, NOTE_TOOLS
from agiraph.runtime.loops.loop import Loop
from agiraph.runtime.loops.parking import PARKED, NodeParking
from agiraph.runtime.loops.prefixes import for_worker, grounds_of_worker
from agiraph.runtime.loops.reflection import look_back
from agiraph.runtime.loops.role import Notes
from agiraph.runtime.loops.shift import Shift
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import PurePosixPath

    from agiraph.core.compaction import Shares
    from agiraph.model.conversation import Answer
    from agiraph.model.node import Node, NodeState
    from agiraph.model.usage import Usage
    from agiraph.ports import Tool
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk, Staff
    from agiraph.runtime.loops.bearings import Bearings
    from agiraph.runtime.records import Where


class Worker:
    """A worker's side of its loop, for one assignment of one node."""

    def __init__(
        self, desk: Desk, staff: Staff, node: Node, talk: Conversation
    ) -> None:
        """A place among the workers may be claimed already: see its shift."""
        self._desk = desk
        self._staff = staff
        self._node = node.id
        self._talk = talk
        self._asker = Asker(desk, talk, self)
        self.shift = Shift(desk, staff.name, node)
        self._parking = NodeParking(desk, staff, node.id, self.shift)
        self._written = 0.0
        self._cost: float | None = None
        self.tools: Mapping[str, Tool] = {}
        self._grounds: tuple[object, ...] = ()  # of the session that is open
        self.name = staff.name
        self.log: PurePosixPath | None = desk.node_folder(node.id).log
        self.answer = ""
        self.attempt = node.status.attempt
        self.single = (node.spec.max_turns or desk.settings.limits.max_turns) == 1

    @property
    def node(self) -> Node:
        """The node as it stands now."""
        return self._desk.nodes[self._node]

    @property
    def is_over(self) -> bool:
        """Whether this assignment has ended, or the node was given away."""
        return self.shift.is_over

    @property
    def mark(self) -> str:
        """The id of this assignment's brief."""
        return f"brief:{self._node}:{self.node.status.attempt}"

    async def run(self) -> rules.End:
        """Work until the turn ends.

        Raises:
            TimeoutError: the node's time is used up.
        """
        most = self.node.spec.max_turns or self._desk.settings.limits.max_turns
        try:
            async with self.shift.limited():
                await self._open()
                loop = Loop(self._desk, self._talk, self)
                return await circles.work(
                    self._desk, self._talk, self, loop, node=self._node, most=most
                )
        finally:
            self.shift.leave()

    async def settle(self) -> None:
        """After a restart behind its node's end: what was left open gets its result."""
        prefix = self._talk.prefix
        if prefix is None or prefix.node != self._node:
            return
        try:
            await Loop(self._desk, self._talk, self).settle()
        finally:
            self.shift.leave()

    # --- who it is

    def loop_name(self) -> str:
        """Its steps are `2026-11-21-01/alice/1.2.0`."""
        return f"{self._desk.run_folder().name}/{self.name}"

    def where(self) -> Where:
        """Its records name its node and itself."""
        return self._desk.where(self._node, self.name)

    def seat(self, step: str) -> Seat:
        """The worker's seat."""
        desk = self._desk
        return Seat(
            agent=desk.agent,
            run=desk.run_folder().name,
            node=self._node,
            worker=self.name,
            step=step,
            permissions=desk.settings.permissions,
            shared=desk.shared(),
            agent_memory=self._staff.identity.agent_memory,
            shared_skills=desk.skills.shared,
            said=(desk.goal_text, *self._talk.from_people()),
        )

    async def before(self, tool: str) -> None:
        """A worker's run is open."""

    # --- parking

    async def ready(self) -> None:
        """Wait while paused or held; have a place among the workers and the runs."""
        desk = self._desk
        while desk.is_paused or desk.hold:
            if desk.is_paused:
                async with self.shift.away():
                    await desk.bell.until(lambda: not desk.is_paused)
            elif hold := desk.hold:
                async with self.held(hold):
                    await desk.until_free(hold)
        await self.shift.enter()
        await desk.all_read()

    def parked(self, state: NodeState, words: str) -> AbstractAsyncContextManager[None]:
        """Parked inside a tool: no place, no clock, and the board says why."""
        return self._parking.parked(state, words)

    def held(self, words: str) -> AbstractAsyncContextManager[None]:
        """Held: the node shows it until the context ends."""
        return self._parking.held(words)

    # --- what it is told

    def prefix(self) -> SystemLine:
        """The frozen first line that this node's session would have now."""
        who = self._staff.identity
        return for_worker(self._desk, self._talk, who, self._node, single=self.single)

    def turns_so_far(self) -> int:
        """The turns of this assignment."""
        return self._talk.turns_since(self.mark)

    @property
    def notes(self) -> Notes | None:
        """What it may do before its conversation is put away; one answer is not."""
        if self.single:
            return None
        return Notes(prompts.words("notes_worker"), NOTE_TOOLS | HAND_OFF_TOOLS)

    def bearings(self, shares: Shares) -> Bearings:
        """What the tree says, for a rebuilt conversation."""
        refs = min(shares.brief // 2, INLINED_REFS)
        brief = brief_of_node(self._desk, self.node, self._staff, inlined=refs)
        return of_worker(self._desk, self.node, brief, shares)

    async def _open(self) -> None:
        """Open this node's session, or go on with it where it was left."""
        desk, talk = self._desk, self._talk
        desk.mail.waiting(self.name, talk.delivered)  # lets go of what it has read
        if self.mark in talk.delivered and talk.prefix is not None:
            return
        status = self.node.status
        again = status.attempt > 1 and status.shown != ""  # empty: it starts afresh
        if again and await self._resumed():
            await talk.close_calls(prompts.words("interrupted"))
            text = notice("[your node was assigned to you again; go on where you were]")
        else:
            prefix = replace(self.prefix(), carries=False, compacted=0, turns=0)
            await talk.append(prefix, flush=False)
            await self._tell_model(None, prefix)
            await self._note_shown()
            if self.single:
                model = prefix.model
                text = brief_of_single(desk, self.node, self._staff, model)
            else:
                text = brief_of_node(desk, self.node, self._staff)
        talk.forget_past()
        line = UserLine(desk.world.stamp(), text, Kind.BRIEF, AGIRAPH, (self.mark,))
        await talk.append(line, flush=True)
        kept = desk.mail.for_brief(self.name, talk.delivered)
        for message in kept:
            await self._deliver(message.id, message.sender, message.text)
        await talk.flush()
        await desk.mail.taken(self.name, [each.id for each in kept])

    async def _resumed(self) -> bool:
        """Go on with this node's own session, if the worker has one."""
        talk = self._talk
        if talk.prefix is not None and talk.prefix.node == self._node:
            await self.renew()
            return True
        if not talk.has_past(self._node):
            return False
        line = replace(self.prefix(), resumes=True, why="its node is worked on again")
        await talk.append(line, flush=False)
        await self._tell_model(None, line)
        return True

    async def renew(self) -> None:
        """A new session with what was said so far, where what is frozen has changed."""
        old = self._talk.prefix
        of = (old, *grounds_of_worker(self._desk, self._staff.identity, self._node))
        if old is None or of == self._grounds:
            return
        if not same_prefix(old, new := self.prefix()):
            await self._talk.append(new, flush=False)
            await self._tell_model(old, new)
        self._grounds = of

    async def _tell_model(self, old: SystemLine | None, new: SystemLine) -> None:
        await chains.tell(self._desk, self.where(), old, new, self._staff.identity)

    @property
    def _chain(self) -> tuple[str, ...]:
        return chains.chain_of(self._desk, self._staff.identity)

    async def take_in(self) -> None:
        """Append a changed spec and what has come by mail."""
        desk, talk = self._desk, self._talk
        node = self.node
        if node.status.state in PARKED:  # what it waited for came while nobody ran
            await self._parking.goes_on()
        if node.status.shown != node.digest:
            old = desk.shown.get(self._node, "")
            changed = diff_text("_spec.md", old, node.text) if old else ""
            text = notice("[your task was changed]", changed or node.text)
            line = UserLine(desk.world.stamp(), text, Kind.NOTICE, AGIRAPH)
            await talk.append(line, flush=True)
            await self._note_shown()
        await questions.take_in(desk, self.name, talk)
        mail = desk.mail.waiting(self.name, talk.delivered)
        for message in mail:
            await self._deliver(message.id, message.sender, message.text)
        if mail:
            await talk.flush()
            await desk.mail.taken(self.name, [each.id for each in mail])

    async def _note_shown(self) -> None:
        """Record which version of the spec its worker knows."""
        desk, node = self._desk, self.node
        await desk.set_node(self._node, replace(node.status, shown=node.digest))
        desk.shown[self._node] = node.text

    async def _deliver(self, ident: str, sender: str, text: str) -> None:
        stamp, body = self._desk.world.stamp(), mail_text(sender, text)
        line = UserLine(stamp, body, Kind.MAIL, sender, (ident,))
        await self._talk.append(line, flush=False)

    def urgent(self) -> bool:
        """Urgent mail and a changed spec go ahead of the calls left."""
        shown = self.node.status.shown
        changed = bool(shown) and shown != self.node.digest
        return changed or self._desk.mail.has(self.name, urgent=True)

    def called(self) -> bool:
        """Mail, an answer or a changed spec is worth an un-parking."""
        answers = questions.untold(self._desk, self.name)
        return self.urgent() or self._desk.mail.has(self.name) or bool(answers)

    # --- asking and resting

    async def ask(self, instead: UserLine | None = None) -> Answer | None:
        """One model call, on the node's account."""
        answered = await self._asker.ask(
            Spender(self.name, self.where(), self._chain, self._node), instead
        )
        if answered is None:
            return None
        answer, self._cost = answered
        return answer

    async def _booked(self, usage: Usage, cost: float | None, *, turns: int) -> None:
        desk = self._desk
        desk.spend = desk.spend.plus(usage, cost, turns=turns)
        self.shift.count_time()
        status = self.node.status
        status = replace(
            status,
            turns=status.turns + turns,
            spend=status.spend.plus(usage, cost, turns=turns),
        )
        now = desk.world.clock.monotonic()
        if now - self._written >= COUNTERS_EVERY:
            self._written = now
            await desk.set_node(self._node, status)
        else:
            desk.nodes[self._node] = replace(self.node, status=status)
            desk.bell.ring()  # a stage's contract may count turns

    async def paid(self, usage: Usage, cost: float | None) -> None:
        """An answer was paid for that nothing came of."""
        await self._booked(usage, cost, turns=0)

    async def said(self, answer: Answer, *, counts: bool = True) -> None:
        """Count it, now that it is recorded: what was paid is on record too."""
        await self._booked(answer.usage, self._cost, turns=int(counts))

    async def rest(self, text: str) -> rules.Woken | rules.Idle | None:
        """Text without a call ends a single inference; others are told to publish."""
        if self.single:
            self.answer = text or self._last_text()
            return None
        return rules.Idle()

    def _last_text(self) -> str:
        for line in reversed(self._talk.lines):
            content = getattr(line, "content", "")
            if content and not isinstance(line, UserLine):
                return str(content)
        return ""

    def nudge(self, nudge: rules.Nudge, count: int) -> str:
        """The words of a reminder."""
        if nudge is rules.Nudge.TALK:
            return prompts.fill("nudge_worker", count=count)
        return prompts.words(nudge.value)

    async def look_back(self) -> str:
        """What it learned, in its own words; empty when nothing."""
        mark = f"reflect:{self._node}:{self.node.status.attempt}"
        if mark in self._talk.delivered:
            return ""
        await self.ready()
        spender = Spender(self.name, self.where(), self._chain, self._node, aside=True)
        try:
            said = await look_back(self._desk, self._talk, self._asker, spender, mark)
        finally:
            self.shift.leave()
        if said is None:
            return ""
        await self._booked(said.usage, said.cost, turns=0)
        return said.text
