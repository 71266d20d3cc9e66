"""What people write to an agent: inboxes, dropped files, and answers to questions."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from agiraph.core.approval import verdict
from agiraph.core.codec import read_approvals
from agiraph.core.codec.report import Problem
from agiraph.core.inbox import HELD_OPEN, InboxMemory, quiet_needed, take_in
from agiraph.model.message import Message, QuestionKind
from agiraph.model.names import (
    AGIRAPH,
    COORDINATOR,
    EVERYONE,
    HUMAN,
    folded,
    question_id,
)
from agiraph.ports import Seen
from agiraph.runtime.folder import number_of
from agiraph.runtime.people import approvals, questions
from agiraph.runtime.people.answers import STAYS_OPEN, Answers, unclear
from agiraph.runtime.people.dropbox import Dropbox

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.json import Json
    from agiraph.model.message import InboxMessage
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.people.intake import Intake

CLOSE_EVERY = 3600.0


class Letters:
    """Takes in what people write, each message once."""

    def __init__(self, desk: Desk, intake: Intake) -> None:
        """`intake` knows which versions were judged."""
        self.desk = desk
        self._intake = intake
        self._answers = Answers(desk, intake)
        self._dropbox = Dropbox(desk, intake, self.drafts)
        self._is_first = True
        self._closed_at: float | None = None

    async def take_in(self, folder: Folder) -> None:
        """Everything that has come, as far as it is quiet enough to be whole."""
        await self._approvals(folder.approvals)
        async with self.desk.reading:  # an answer does not outrun what came with it
            await self._answers.take_in(folder)
            await self._mail(folder)
        await self._close_old()
        self._is_first = folder.again is not None and self._is_first

    async def _approvals(self, sight: Sight) -> None:
        """What is allowed for always; a file that is not good allows nothing."""
        desk, path = self.desk, self.desk.home.approvals
        if sight.seen is Seen.LATER or not self._intake.is_new(path, sight):
            return
        force = "nothing is approved for always: you are asked each time"
        found = await self._intake.judge(path, sight, read_approvals, force)
        if found is not None:
            self._intake.note(path, sight)
        desk.approved = found or frozenset()
        desk.bell.ring()

    async def _close_old(self) -> None:
        """Put old questions away: at the first look, and every hour after."""
        now = self.desk.world.clock.monotonic()
        if self._closed_at is not None and now - self._closed_at < CLOSE_EVERY:
            return
        self._closed_at = now
        await questions.close_old(self.desk)

    async def _mail(self, folder: Folder) -> None:
        await self._inbox(self.desk.home.inbox, folder.inbox, COORDINATOR, look=folder)
        await self._dropbox.take_in(folder)
        await self.take_in_notes(folder)

    async def take_in_notes(self, folder: Folder) -> bool:
        """What was written to the workers of the newest run, into their own inboxes.

        Returns:
            Whether nobody is just writing there: a new run leaves them behind.
        """
        if self.desk.run is None or folder.run != self.desk.run.name:
            return True
        still = True
        for worker, sight in folder.notes.items():
            path = self.desk.worker_folder(worker).inbox
            await self._inbox(path, sight, worker, look=folder)
            fresh = sight.seen in (Seen.GOOD, Seen.LATER) and sight.quiet < HELD_OPEN
            still = still and not (fresh and self._intake.is_new(path, sight))
        return still

    async def _inbox(
        self, path: PurePosixPath, sight: Sight, to: str, *, look: Folder
    ) -> None:
        """Take in an inbox once it has been quiet for as long as it needs."""
        desk, source = self.desk, str(path.relative_to(self.desk.home.path))
        if sight.seen is Seen.BAD and self._intake.is_new(path, sight):
            problem = Problem(sight.line or 0, 1, "", sight.problem, "")
            await self._intake.reject(path, sight, (problem,), "what was read before")
        if sight.seen is not Seen.GOOD or not self._intake.is_new(path, sight):
            return
        memory = _memory(desk.mail.memory_of(source))
        locked = path in look.held_open
        quiet = quiet_needed(memory, sight.text, editor_lock=locked)
        if sight.quiet < quiet:
            left = quiet - sight.quiet
            look.again = left if look.again is None else min(left, look.again)
            return
        now = desk.world.clock.now().timestamp()
        found, new = take_in(memory, sight.text, now=now, to=to)
        if new != memory or found:
            origin = f"{source} {_digest(json.dumps(memory.to_json()))}"
            drafts = await self.drafts([each for each in found if each.new], origin)
            await desk.mail.accept(source, drafts, dict(new.to_json()))
            if drafts:
                desk.last_mail = (desk.world.stamp(), drafts[-1].text)
                desk.changed()
        await self._intake.clear(path, sight)

    async def drafts(self, found: list[InboxMessage], origin: str) -> list[Message]:
        """Messages to be delivered; answers to open questions go their own way.

        Args:
            origin: what tells this reading of an inbox from every other.
        """
        desk, drafts = self.desk, []
        for each in found:
            number = number_of(f"{each.reply_to}.md") if each.reply_to else None
            replied = number
            if number is None:
                number = self._asked_by(each.to)
            if await self._is_answer(each, number, origin):
                continue
            if replied is not None:
                await self._answers.tell_closed(replied, each.answer, origin)
            to = COORDINATOR if folded(each.to) == HUMAN else each.to
            drafts.append(
                Message("", HUMAN, to, desk.world.stamp(), each.text, each.urgent)
            )
            await self._tell_unknown(each.to)
        return drafts

    async def _is_answer(
        self, each: InboxMessage, number: int | None, origin: str
    ) -> bool:
        """Whether it was taken as an answer, now or just before a crash."""
        desk, mark = self.desk, f"answer {_digest(each.text)}"
        if number is not None and number in desk.questions:
            if desk.questions[number].kind is QuestionKind.APPROVAL:
                return await self._is_verdict(each, number, origin)
            await desk.journal.mark(origin, mark)
            return await questions.answer(desk, number, each.answer or each.text)
        return self._is_first and desk.journal.marked(origin, mark)

    async def _is_verdict(self, each: InboxMessage, number: int, origin: str) -> bool:
        """Whether it answers an approval; other words on it go to whoever asked."""
        desk, path = self.desk, self.desk.home.question(number)
        words = each.answer or each.text
        if verdict(words) is not None:
            await desk.journal.mark(origin, f"answer {_digest(each.text)}")
            await approvals.answer(desk, number, words)
            await self._intake.mended(path)
            return True
        await self._intake.complain(path, (unclear(words),), STAYS_OPEN)
        text = (
            f"{question_id(number)} is an approval and stays open: of your "
            f"answer nothing was taken as a yes. Write `{question_id(number)}: "
            "yes`, `no` or `always`. Whoever asked has your message."
        )
        await desk.mail.to_outbox(AGIRAPH, text, f"unclear:{origin}:{number}")
        return False

    async def _tell_unknown(self, to: str) -> None:
        """Tell the person that another than it was for has the message."""
        desk = self.desk
        if to in (COORDINATOR, EVERYONE) or desk.mail.reader_of(to) != COORDINATOR:
            return
        words = f"{desk.mail.why_not(to)}; the coordinator has your message."
        await desk.mail.to_outbox(AGIRAPH, words, f"unknown:{desk.world.stamp()}")

    def _asked_by(self, worker: str) -> int | None:
        """The one open question of a worker, which any message to it answers."""
        staff = self.desk.find_staff(worker)
        if staff is None:
            return None
        mine = [
            number
            for number, question in self.desk.questions.items()
            if question.sender == staff.name
            and question.kind is not QuestionKind.APPROVAL  # a chat line grants nothing
        ]
        return mine[0] if len(mine) == 1 else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _memory(found: Json) -> InboxMemory:
    return InboxMemory.from_json(found) if isinstance(found, dict) else InboxMemory()
