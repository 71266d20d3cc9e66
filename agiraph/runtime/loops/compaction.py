"""A conversation that no longer fits: notes, a summary, and a session that goes on.

Each step is on record before the next: after a kill the lines say how far it had come.
The new session is written whole, in the place of what was put away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core import turn as rules
from agiraph.core.brief import notice
from agiraph.core.compaction import (
    IN_A_ROW,
    Asked,
    Wanted,
    carried_ids,
    in_a_row,
    mark,
    shares,
    turns,
    without_marks,
)
from agiraph.core.excerpt import ends
from agiraph.core.limits import BYTES_PER_TOKEN
from agiraph.core.owed import unanswered
from agiraph.core.summary import (
    HEADINGS,
    Opening,
    as_text,
    by_rule,
    earlier_summary,
    opening_text,
    weight,
    wrong,
)
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Kind, UserLine
from agiraph.model.event import EventType
from agiraph.model.names import AGIRAPH, HUMAN
from agiraph.runtime.conversation import as_line
from agiraph.runtime.loops.window import window_of
from agiraph.runtime.people.questions import from_a_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.compaction import Shares, Window
    from agiraph.model.conversation import Answer, Spoken, SystemLine
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.loops.role import Role

_NARROWEST = 4_096
NOTE_TOOLS = frozenset(
    {
        "memory_write",
        "memory_read",
        "memory_search",
        "write_file",
        "edit_file",
        "read_file",
        "list_files",
    }
)
HAND_OFF_TOOLS = frozenset({"suggest_next", "publish"})
_ONLY_TEXT = "not run: only the text of the summary was asked for"


class Compaction:
    """Puts one loop's conversation away, one step at a time."""

    def __init__(self, desk: Desk, talk: Conversation, role: Role) -> None:
        """For the loop of `role` on `talk`."""
        self._desk = desk
        self._talk = talk
        self._role = role
        self._overfull = False  # not even a summary fits behind it
        self._forgiven = False

    # --- whether

    @property
    def under_way(self) -> bool:
        """Whether a compaction has begun and the new session is not open yet."""
        return self._overfull or self._talk.asked is not None

    @property
    def is_due(self) -> bool:
        """Whether the conversation is to be put away before the next answer."""
        return self._window.is_full(self._talk.size) and self._role.notes is not None

    @property
    def _window(self) -> Window:
        return window_of(self._desk, self._talk)

    def refusal(self, tool: str) -> str:
        """Why a tool is not run on this way; empty where it is."""
        asked = self._talk.asked
        notes = self._role.notes if asked is not None else None
        if asked is None or notes is None:
            return ""
        if asked.what is Wanted.SUMMARY:
            return _ONLY_TEXT
        return "" if tool in notes.tools else prompts.words("only_notes")

    # --- asking

    async def asked(self) -> Answer | None:
        """The next answer; None when another is to be asked for, or none fits."""
        try:
            return await self._role.ask()
        except ProviderFault as fault:
            if fault.kind is not Fault.CONTEXT or self._role.notes is None:
                raise
            await self._narrow()
            return None

    async def _narrow(self) -> None:
        """The service says that it does not fit: its window is smaller than known."""
        model = self._prefix.model
        seen = int(self._talk.size * 0.9)
        known = self._desk.narrow.get(model, self._window.tokens)
        self._desk.narrow[model] = max(min(known, seen), _NARROWEST)
        if not self.under_way:
            await self.begin(refused=True)
        self._overfull = True

    @property
    def _prefix(self) -> SystemLine:
        if self._talk.prefix is None:
            raise LookupError("a conversation is put away before its session is open")
        return self._talk.prefix

    # --- the steps

    async def begin(self, *, refused: bool = False) -> None:
        """Ask for notes; park first where compaction after compaction brings nothing.

        Args:
            refused: the service refused the conversation as it is.
        """
        talk = self._talk
        if in_a_row(self._prefix, talk.lines) > IN_A_ROW and not self._forgiven:
            await self._park()
            self._forgiven = True
        elif refused or not turns(talk.lines) or not self._window.fits(talk.size):
            self._overfull = True
        elif self._role.notes is not None:
            await self._ask_for(Wanted.NOTES, 1, self._role.notes.words)

    async def _park(self) -> None:
        desk, window = self._desk, self._window
        words = (
            f"its conversation was cut down {IN_A_ROW} times in a row and is full "
            f"again: {self._talk.size:,} of the {window.tokens:,} tokens of "
            f"{self._prefix.model} are used, {self._talk.prefix_bytes // 3:,} of them "
            "by rules and tools; take a model with a larger window, raise `context` "
            "if it is larger than that, name fewer `tools`, or shorten GOAL.md, "
            "MEMORY.md or the task"
        )
        revision = desk.revision
        async with self._role.held(words):
            await desk.bell.until(lambda: desk.revision != revision)

    async def _ask_for(self, what: Wanted, count: int, words: str) -> None:
        ids = (mark(self._talk.session, what, count),)
        stamp = self._desk.world.stamp()
        line = UserLine(stamp, notice(words), Kind.NOTICE, AGIRAPH, ids)
        await self._talk.append(line, flush=True)

    async def go_on(self) -> rules.Said | None:
        """The next step; what was said where there are calls to carry out."""
        asked = self._talk.asked
        if self._overfull or asked is None:
            await self._without_the_session()
        elif asked.answer is None:
            return await self._answer()
        elif asked.what is Wanted.NOTES:
            await self._ask_for(Wanted.SUMMARY, 1, self._summary_words())
        else:
            await self._judge(asked)
        return None

    def _summary_words(self) -> str:
        most = max(self._shares.summary // 8, 150)
        return prompts.fill(
            "summarise",
            headings=", ".join(f"## {each}" for each in HEADINGS),
            most=most,
        )

    async def _answer(self) -> rules.Said | None:
        talk = self._talk
        if not self._window.fits(talk.size):
            self._overfull = True
            return None
        answer = await self.asked()
        if answer is None:
            return None
        line = as_line(talk, answer, self._desk.world.stamp())
        await talk.append(line, flush=True)
        await self._role.said(answer, counts=False)
        if not answer.calls:
            return None
        return rules.Said(answer.text, answer.calls, answer.stop, counts=False)

    async def _judge(self, asked: Asked) -> None:
        """Take the summary, ask for another one, or make one by rule."""
        answer = asked.answer
        if answer is None:
            return
        replaced = weight(without_marks(self._talk.lines))
        why = wrong(answer.content, answer.stop, replaced)
        if why and asked.count == 1:
            again = prompts.fill("summarise_again", why=why)
            await self._ask_for(
                Wanted.SUMMARY, 2, f"{again}\n\n{self._summary_words()}"
            )
        else:
            await self._open("" if why else answer.content)

    async def _without_the_session(self) -> None:
        """Have the summary made from a shortened text: the session itself is full."""
        lines = without_marks(self._talk.lines)
        summary = ""
        if turns(lines):
            most = self._window.tokens * BYTES_PER_TOKEN // 2 - self._talk.prefix_bytes
            parts = [
                "What was said so far, shortened:",
                earlier_summary(lines),
                as_text(lines, max(most, 2_000)),
                notice(self._summary_words()),
            ]
            text = "\n\n".join(part for part in parts if part)
            stamp = self._desk.world.stamp()
            try:
                said = await self._role.ask(UserLine(stamp, text, Kind.NOTICE, AGIRAPH))
            except ProviderFault as fault:
                if fault.kind is not Fault.CONTEXT:
                    raise
                said = None
            else:
                if said is None:
                    return  # held meanwhile; it is asked for again
                await self._role.said(said, counts=False)
            if said and not wrong(said.text, said.stop, weight(lines)):
                summary = said.text
        await self._open(summary)

    # --- the new session

    @property
    def _shares(self) -> Shares:
        return shares(self._window, self._talk.prefix_bytes)

    async def _open(self, summary: str) -> None:
        """Put away what was said, and go on from what stands for it."""
        desk, talk, parts = self._desk, self._talk, self._shares
        lines = without_marks(talk.lines)
        count = 1 if self._forgiven else in_a_row(self._prefix, lines)
        before, earlier = talk.size, earlier_summary(lines)
        if turns(lines):
            summary = summary or by_rule(lines, earlier, parts.summary)
        summary = ends(summary or earlier, parts.summary)
        name = await talk.archive()
        system = replace(
            self._role.prefix(),
            carries=False,
            why="the conversation was cut down",
            compacted=count,
            turns=self._role.turns_so_far(),
        )
        opening, left = self._opening(name, summary), self._left(lines, parts)
        await talk.begin_anew([system, opening, *self._thread(left, parts), *left])
        self._overfull = self._forgiven = False
        await desk.records.event(
            EventType.MEMORY_COMPACTED,
            self._role.where(),
            file=name,
            session=system.session,
            before=before,
            after=talk.size,
            in_a_row=count,
        )

    def _opening(self, name: str, summary: str) -> UserLine:
        """What the new session opens with; `name` is where the old one was put."""
        desk, talk, parts = self._desk, self._talk, self._shares
        bearings = self._role.bearings(parts)
        text = opening_text(
            Opening(
                words=notice(prompts.fill("opened", file=f"conversations/{name}")),
                brief=bearings.brief,
                summary=summary,
                now=bearings.now,
                last=as_text(without_marks(talk.lines), parts.last),
            )
        )
        run = desk.run.name if desk.run and talk.prefix and not talk.prefix.node else ""
        ids = carried_ids(talk.delivered, run)
        return UserLine(desk.world.stamp(), text, Kind.OPENING, AGIRAPH, ids)

    def _thread(self, left: Sequence[UserLine], parts: Shares) -> list[UserLine]:
        """What people wrote and was answered: their words stay theirs."""
        waiting = {line.content for line in left}
        said = [text for text in self._talk.from_people() if text not in waiting]
        if not said:
            return []
        text = ends("\n\n".join(said), max(parts.last, 1_000))
        return [UserLine(self._desk.world.stamp(), text, Kind.OPENING, HUMAN)]

    def _left(self, lines: Sequence[Spoken], parts: Shares) -> list[UserLine]:
        """What still waits for an answer, word for word where it is not too long."""
        left = unanswered(lines, from_a_person)
        most = max(parts.last // max(len(left), 1), 1_000)
        return [replace(line, content=ends(line.content, most)) for line in left]
