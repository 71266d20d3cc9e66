"""The coordinator: what it is told, when it rests, what wakes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core import board, cycles, moves
from agiraph.core import turn as rules
from agiraph.core.brief import mail_text, notice, same_prefix
from agiraph.core.owed import owes_reply
from agiraph.model.agent import Mode
from agiraph.model.conversation import Kind, UserLine
from agiraph.model.message import Question, QuestionKind
from agiraph.model.names import AGIRAPH, COORDINATOR
from agiraph.model.run import RunState
from agiraph.model.worker import AgentMemory
from agiraph.ports import Seat
from agiraph.runtime.loops import chains
from agiraph.runtime.loops.asker import Asker, Spender
from agiraph.runtime.loops.bearings import of_coordinator
from agiraph.runtime.loops.briefs import brief_of_run
from agiraph.runtime.loops.compaction import NOTE_TOOLS
from agiraph.runtime.loops.loop import Loop
from agiraph.runtime.loops.prefixes import for_coordinator, grounds_of_coordinator
from agiraph.runtime.loops.role import Notes
from agiraph.runtime.loops.stay import Stay
from agiraph.runtime.material import Material
from agiraph.runtime.news import goal_id
from agiraph.runtime.people import questions
from agiraph.runtime.people.questions import from_a_person
from agiraph.runtime.work import runs

OPENS_A_RUN = frozenset(
    {"create_work_node", "spawn_worker", "write_file", "edit_file", "bash"}
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import PurePosixPath

    from agiraph.core.compaction import Shares
    from agiraph.model.conversation import Answer, SystemLine
    from agiraph.model.node import NodeState
    from agiraph.model.usage import Usage
    from agiraph.ports import Tool
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.loops.bearings import Bearings
    from agiraph.runtime.news import News
    from agiraph.runtime.records import Where


class Coordinator:
    """The coordinator's side of its loop."""

    name = COORDINATOR
    log: PurePosixPath | None = None

    def __init__(self, desk: Desk, talk: Conversation, news: News) -> None:
        """For one agent; `tools` is filled by whoever builds the tool box."""
        self._desk = desk
        self._talk = talk
        self._news = news
        self._material = Material(desk.world.reader, desk.home)
        self._asker = Asker(desk, talk, self)
        self._stay = Stay(desk, talk)
        self._grounds: tuple[object, ...] = ()  # of the session that is open
        self.tools: Mapping[str, Tool] = {}

    async def run(self) -> None:
        """Go on, cycle after cycle, until no run is open and nobody has written."""
        desk = self._desk
        try:
            if not desk.run_open and not self.called():
                await Loop(desk, self._talk, self).settle()
                return
            desk.cut_off = False  # the loop gives the call its result before all else
            await self._resume_cycle()
            while True:
                end = await Loop(desk, self._talk, self).run()
                if end.why is not rules.Why.DONE:
                    await self._at_a_loss(end)
                elif self._over and not self.called():
                    return
                await self._cycle()
        finally:
            desk.cut_off = False
            self._stay.leave()

    async def before(self, tool: str) -> None:
        """The first node, command or file after a run's end opens a run."""
        desk = self._desk
        if tool in OPENS_A_RUN and not desk.run_open and desk.goal is not None:
            await runs.open_run(desk)
            # To chat takes no place among the runs; to work does. It is no rest.
            await self._stay.enter()
        elif tool == "checkpoint" and self._cycle_is_ahead:
            await runs.next_run(desk)  # it may be called so often that no cycle begins

    # --- cycles, and what it cannot get past

    async def _resume_cycle(self) -> None:
        """After a restart the next cycle is due when it was due before.

        A cycle that had ended stays so: nothing is asked until it is over.
        """
        desk, talk = self._desk, self._talk
        run, clock = desk.run, desk.world.clock
        if run is None or run.state is not RunState.OPEN:
            return
        since = cycles.waits_since(talk.delivered, run.name)
        if desk.next_cycle is None and since is not None:
            left = desk.settings.cycle - (clock.now() - since).total_seconds()
            desk.next_cycle = clock.monotonic() + left
        if desk.next_cycle is not None and talk.has_ended(talk.open_calls()[1]):
            await Loop(desk, talk, self).settle()
            await self._cycle()

    async def _cycle(self) -> None:
        """Between two cycles: wait for the next, or for something to happen.

        Whoever calls meanwhile is answered, and does not put the next cycle off.
        """
        desk, due = self._desk, self._desk.next_cycle
        if due is None:
            return
        desk.resting = True
        desk.bell.ring()  # the status says so
        try:
            await self._stay.sleep(self.called, deadline=due)
        finally:
            desk.resting = False
        begins = desk.world.clock.monotonic() >= due
        endless = desk.settings.mode is Mode.INFINITE
        if begins or not endless:
            desk.next_cycle = None
        if not begins:
            return
        if endless:
            await runs.next_run(desk)
        ids = (cycles.begun(desk.run_folder().name, desk.world.clock.now()),)
        words = notice("[a new cycle begins]")
        line = UserLine(desk.world.stamp(), words, Kind.NOTICE, AGIRAPH, ids)
        await self._talk.append(line, flush=False)

    async def _at_a_loss(self, end: rules.End) -> None:
        """Nothing can go on by itself: ask the person, then wait for something new."""
        desk = self._desk
        why = end.note or end.why.value
        if end.why is rules.Why.SILENT:
            why = f"nothing can go on, and I did not act on it:\n{self.why_nothing()}"
        await questions.ask(
            desk,
            Question(
                number=questions.next_number(desk),
                sender=COORDINATOR,
                node=None,
                asked=desk.world.stamp(),
                kind=QuestionKind.QUESTION,
                text=f"I am stuck ({why}). What should I do?",
            ),
        )
        await self._stay.sleep(self.called, deadline=desk.next_cycle)
        stuck = [prompts.words("stuck")] if end.why is rules.Why.STUCK else []
        words = notice(*stuck, f"[the person was asked: {why}]")
        line = UserLine(desk.world.stamp(), words, Kind.NOTICE, AGIRAPH)
        await self._talk.append(line, flush=False)

    # --- who it is

    def loop_name(self) -> str:
        """Its steps are `coordinator/1.2.0`."""
        return COORDINATOR

    def where(self) -> Where:
        """Its records name no node."""
        return self._desk.where()

    def seat(self, step: str) -> Seat:
        """The coordinator's seat."""
        desk = self._desk
        return Seat(
            agent=desk.agent,
            run=desk.run.name if desk.run and desk.run_open else None,
            node=None,
            worker=None,
            step=step,
            permissions=desk.settings.permissions,
            shared=desk.shared(),
            agent_memory=AgentMemory.WRITE,
            shared_skills=desk.skills.shared,
            said=(desk.goal_text, *self._talk.from_people()),
        )

    # --- places and parking

    async def ready(self) -> None:
        """Wait while paused or held, and for a place among the runs at work."""
        await self._stay.ready()

    def held(self, words: str) -> AbstractAsyncContextManager[None]:
        """Held: shown in the status until the context ends."""
        return self._stay.held(words)

    def parked(self, state: NodeState, words: str) -> AbstractAsyncContextManager[None]:
        """Parked inside a tool, such as `wait`."""
        _ = state, words
        return self._stay.away()

    # --- what it is told

    def prefix(self) -> SystemLine:
        """The frozen first line that a session would have now."""
        return for_coordinator(self._desk, self._talk)

    async def renew(self) -> None:
        """Open a session where what is frozen has changed."""
        old = self._talk.prefix
        of = (old, *grounds_of_coordinator(self._desk))
        if old is not None and of == self._grounds:
            return
        new = self.prefix()
        if old is None or not same_prefix(old, new):
            await self._talk.append(new, flush=False)
            await chains.tell(self._desk, self.where(), old, new)
        self._grounds = of

    def turns_so_far(self) -> int:
        """It is bound by money, not by turns."""
        return 0

    def bearings(self, shares: Shares) -> Bearings:
        """What the tree says, for a rebuilt conversation."""
        self._note_seen()
        return of_coordinator(self._desk, self._material, shares)

    @property
    def notes(self) -> Notes:
        """What it may do before its conversation is put away."""
        day = self._desk.world.today()
        return Notes(prompts.fill("notes_coordinator", day=day), NOTE_TOOLS)

    async def take_in(self) -> None:
        """Append what has come."""
        if self._desk.run_open:
            await self._brief()
        for line in await self._news.lines():
            await self._talk.append(line, flush=True)
            await self._news.told()
        await self._take_mail()

    async def _take_mail(self) -> None:
        mail = self._desk.mail.waiting(COORDINATOR, self._talk.delivered)
        for message in mail:
            text = mail_text(message.sender, message.text, urgent=message.urgent)
            line = UserLine(
                self._desk.world.stamp(), text, Kind.MAIL, message.sender, (message.id,)
            )
            await self._talk.append(line, flush=False)
        if mail:
            await self._talk.flush()
            await self._desk.mail.taken(COORDINATOR, [each.id for each in mail])

    async def _brief(self) -> None:
        desk = self._desk
        run = desk.run
        if run is None or not self._unbriefed:
            return
        if desk.settings.mode is Mode.INFINITE:
            await runs.carry_over(desk)  # a crash may have come before it
        self._note_seen()
        text = brief_of_run(desk, self._material)
        ids = (f"brief:{run.name}", goal_id(run.name, 0, run.goal_hash))
        line = UserLine(desk.world.stamp(), text, Kind.BRIEF, AGIRAPH, ids)
        await self._talk.append(line, flush=True)

    def _note_seen(self) -> None:
        """What of the memory the brief shows: a later edit may not be overwritten."""
        desk, seat = self._desk, self.seat("brief")
        for path in self._material.memory_files():
            desk.seen.note(seat, path, self._material.data(path))

    def urgent(self) -> bool:
        """Urgent mail and changed goals go ahead of the calls left."""
        return self._desk.mail.has(COORDINATOR, urgent=True) or self._news.urgent()

    # --- asking and resting

    async def ask(self, instead: UserLine | None = None) -> Answer | None:
        """One model call."""
        spender = Spender(COORDINATOR, self.where(), chains.chain_of(self._desk))
        answer, cost = await self._asker.ask(spender, instead) or (None, None)
        if answer is not None:
            self._desk.spend = self._desk.spend.plus(answer.usage, cost)
        return answer

    async def paid(self, usage: Usage, cost: float | None) -> None:
        """An answer was paid for that nothing came of."""
        self._desk.spend = self._desk.spend.plus(usage, cost, turns=0)

    async def said(self, answer: Answer, *, counts: bool = True) -> None:
        """Nothing more: text without a call is handed on when it rests."""

    async def rest(self, text: str) -> rules.Woken | rules.Idle | None:
        """Answer the person, then wait for something to happen."""
        _ = text
        await self._reply()
        if self.called() or self._unbriefed:
            return rules.Woken()
        if self._over:
            return None
        if self._cycle_is_ahead:
            return None  # it sleeps until then
        if not self.may_park():
            return rules.Idle()
        await self._stay.sleep(lambda: self.called() or not self.may_park())
        return rules.Woken() if self.called() else rules.Idle()

    @property
    def _over(self) -> bool:
        """Whether the run has ended, or ends by itself: one that people reopened."""
        desk = self._desk
        if desk.run is None or not desk.run_open:
            return True
        reopened = desk.run.state is RunState.REOPENED
        return reopened and not board.open_nodes(desk.recorded)

    @property
    def _cycle_is_ahead(self) -> bool:
        """Whether an agent that does not end wakes by itself."""
        endless = self._desk.settings.mode is Mode.INFINITE
        return endless and self._desk.next_cycle is not None

    @property
    def _unbriefed(self) -> bool:
        """Whether a run was opened that it has not been told of."""
        run = self._desk.run if self._desk.run_open else None
        return run is not None and f"brief:{run.name}" not in self._talk.delivered

    def called(self) -> bool:
        """Mail and news wake it at rest, and from a call that waits."""
        desk = self._desk
        return desk.mail.has(COORDINATOR) or self._news.any()

    def may_park(self) -> bool:
        """Whether something can still happen without the coordinator."""
        desk = self._desk
        if not desk.run_open or desk.is_paused or desk.held or desk.questions:
            return True
        if desk.jobs.any:
            return True
        return moves.any_moves(desk.recorded, desk.hands())

    async def _reply(self) -> None:
        """Hand the last text to the person, if a person has written or answered."""
        talk, desk = self._talk, self._desk
        if owes_reply(talk.lines, from_a_person):
            mark = f"reply:{talk.session}.{talk.turn}"
            await desk.mail.to_outbox(desk.agent, talk.lines[-1].content, mark)

    def nudge(self, nudge: rules.Nudge, count: int) -> str:
        """What a reminder says: each open node and why it does not go on."""
        _ = count
        if nudge is not rules.Nudge.TALK:
            return prompts.words(nudge.value)
        return prompts.fill("nudge_coordinator", why=self.why_nothing())

    def why_nothing(self) -> str:
        """Each open node and why it does not go on."""
        nodes, hands = self._desk.recorded, self._desk.hands()
        lines = [
            f"- {n.id}: {board.why_not(n, nodes, hands)}"
            for n in board.open_nodes(nodes)
        ]
        return "\n".join(lines) or "- no node is open, and the run has not been ended"
