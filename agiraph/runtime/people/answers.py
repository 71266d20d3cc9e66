"""What people write into `_questions/`: answers, and what cannot be one.

A question is open or closed by the journal; its file is where a person answers. A file
that is gone is written again, since only an answer closes a question; a copy under
another name is never read as the question itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core import reminders
from agiraph.core.approval import verdict
from agiraph.core.brief import shortened
from agiraph.core.codec import read_question, write_question
from agiraph.core.codec.report import Good, Problem
from agiraph.core.inbox import quiet_for
from agiraph.model.message import QuestionKind
from agiraph.model.names import AGIRAPH, question_id
from agiraph.ports import Seen
from agiraph.runtime.folder import number_of
from agiraph.runtime.people import approvals, questions

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.message import Question
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.people.intake import Intake

STAYS_OPEN = "it stays open, and nothing is done"


class Answers:
    """Takes in answers, each question's once."""

    def __init__(self, desk: Desk, intake: Intake) -> None:
        """`intake` knows which versions were judged."""
        self._desk = desk
        self._intake = intake
        self._names: set[PurePosixPath] = set()

    async def take_in(self, folder: Folder) -> None:
        """Everything in `_questions/`; then whoever waits too long is reminded."""
        desk = self._desk
        for number, sight in folder.questions.items():
            if not self._is_quiet(desk.home.question(number), sight, folder):
                continue
            if number in desk.questions:
                await self._open(number, sight)
            else:
                await self._closed(number, sight)
        for name, sight in folder.strays.items():
            await self._stray(desk.home.questions / name, sight)
        await self._mend_what_is_gone(folder)
        await self._remind(folder)

    def _is_quiet(self, path: PurePosixPath, sight: Sight, folder: Folder) -> bool:
        """Whether it is new, and has been left alone for long enough to be whole."""
        if sight.seen is Seen.LATER or not self._intake.is_new(path, sight):
            return False
        if sight.seen is not Seen.GOOD:
            return True
        left = self._quiet(path, sight, folder) - sight.quiet
        if left > 0:
            _again_in(folder, left)
        return left <= 0

    def _quiet(self, path: PurePosixPath, sight: Sight, folder: Folder) -> float:
        """An editor that saves by itself must not answer half a sentence."""
        question = self._desk.questions.get(number_of(path.name) or 0)
        asked = write_question(question) if question is not None else "\0"
        return quiet_for(
            sight.text,
            appended=sight.text.startswith(asked),
            editor_lock=path in folder.held_open,
        )

    # --- an open question

    async def _open(self, number: int, sight: Sight) -> None:
        path, question = self._desk.home.question(number), self._desk.questions[number]
        if sight.seen is Seen.ABSENT:
            await self._write_again(question)
            return
        found = await self._intake.judge(
            path, sight, lambda text: read_question(text, path.name), "it stays open"
        )
        if found is None:
            return
        self._intake.note(path, sight)
        if not found.answer.strip():
            return
        if question.kind is not QuestionKind.APPROVAL:
            await questions.answer(self._desk, number, found.answer)
        elif not await approvals.answer(self._desk, number, found.answer):
            problems = (unclear(found.answer),)
            await self._intake.reject(path, sight, problems, STAYS_OPEN)

    async def _write_again(self, question: Question) -> None:
        """Its file was deleted or renamed: whoever asked still waits."""
        desk = self._desk
        await questions.write(desk, question)
        words = (
            f"The file of {question.id} was gone and has been written again: only an "
            f"answer closes a question. Fill in `{desk.home.question(question.number)}`"
            f", or write `{question.id}: …` into `_inbox.md`."
        )
        mark = f"again:{question.id}:{desk.world.stamp()}"
        await desk.mail.to_outbox(AGIRAPH, words, mark)

    # --- a closed one

    async def _closed(self, number: int, sight: Sight) -> None:
        """Another answer than the one that was taken does not count; it is said so."""
        path, ident = self._desk.home.question(number), question_id(number)
        taken = self._desk.journal.mark_of(ident, questions.ANSWERED)
        found = read_question(sight.text, path.name)
        said = found.value.answer if isinstance(found, Good) else ""
        if sight.seen is not Seen.GOOD or not taken or not _differ(taken, said):
            await self._intake.clear(path, sight)
            return
        problem = Problem(0, 0, "", _late(ident, taken, said), "")
        await self._intake.reject(path, sight, (problem,), f"the answer '{taken}'")

    async def tell_closed(self, number: int, said: str, origin: str) -> None:
        """A message answers a question that is closed, or that never was."""
        desk, ident = self._desk, question_id(number)
        if number in desk.questions:
            return  # it was unclear, and that was told
        taken = desk.journal.mark_of(ident, questions.ANSWERED)
        words = f"There is no question {ident}; the coordinator has your message."
        if taken is not None:
            words = f"{_late(ident, taken, said)} It has this one as a message."
        await desk.mail.to_outbox(AGIRAPH, words, f"late:{origin}:{ident}")

    # --- what is no question file

    async def _stray(self, path: PurePosixPath, sight: Sight) -> None:
        if sight.seen is not Seen.GOOD or not self._intake.is_new(path, sight):
            return
        found = read_question(sight.text, "q-000.md")
        said = found.value.answer if isinstance(found, Good) else ""
        answer = f" Its answer '{shortened(said, 80)}' does not count." if said else ""
        words = (
            "a copy or another name of a question: only names like q-001.md are read."
            f"{answer} Put the answer into the question's own file, and this away"
        )
        force = "the files named like q-001.md"
        await self._intake.reject(path, sight, (Problem(0, 0, "", words, ""),), force)

    async def _mend_what_is_gone(self, folder: Folder) -> None:
        """What is said of a file goes with it, when it is put away or moved."""
        home = self._desk.home
        now = {home.questions / name for name in folder.strays}
        now |= {home.question(number) for number in folder.questions}
        for path in self._names - now:
            await self._intake.mended(path)
        self._names = now

    # --- time

    async def _remind(self, folder: Folder) -> None:
        desk = self._desk
        if desk.is_paused or desk.world.away:
            return
        for question in list(desk.questions.values()):
            age = questions.age(desk, question)
            await questions.remind(desk, question, reminders.due(age))
            _again_in(folder, reminders.until_next(age))


def unclear(answer: str) -> Problem:
    """The words on an answer to an approval that is neither a yes nor a no."""
    shown = f"'{shortened(' '.join(answer.split()), 80)}'"
    return Problem(1, 1, "answer", shown, "`yes`, `no` or `always`, and nothing else")


def _late(ident: str, taken: str, said: str) -> str:
    of = f", '{shortened(said, 80)}'," if said else ""
    return (
        f"{ident} was answered already, with '{shortened(taken, 80)}'; the first "
        f"answer counts. To say something else{of} write to whoever asked."
    )


def _differ(taken: str, said: str) -> bool:
    if not said.strip() or (verdict(said) and verdict(said) is verdict(taken)):
        return False
    return " ".join(taken.split()).casefold() != " ".join(said.split()).casefold()


def _again_in(folder: Folder, seconds: float) -> None:
    folder.again = seconds if folder.again is None else min(folder.again, seconds)
