"""Questions to the person: one file each, open until the person answers."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.core.approval import Verdict, verdict
from agiraph.core.brief import notice
from agiraph.core.codec import read_question, write_question
from agiraph.core.codec.report import Good
from agiraph.core.limits import GOAL_BYTES, QUESTIONS_CLOSE_AFTER
from agiraph.core.notices import shortened
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.conversation import Kind, UserLine
from agiraph.model.event import EventType
from agiraph.model.message import Question, QuestionKind
from agiraph.model.names import AGIRAPH, COORDINATOR, question_id
from agiraph.model.notice import Notice, NoticeKind
from agiraph.runtime import mail
from agiraph.runtime.folder import number_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import PurePosixPath

    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


ANSWERED = "answered: "
ASKED = "asked: "
REMINDED = "reminded: "
TOLD = "told"
IN_CIRCLES = "I go in circles"
_ANSWER = "answer:"
OUTBOX_SHOWN = 4000
REFUSED = "Do not look for a way round; go on without it, or ask what they want."


def next_number(desk: Desk) -> int:
    """The number of the next question; closed ones are never used again.

    A question that somebody has decided to ask, and whose file is still to come, has
    its number already.
    """
    numbers = [*desk.questions, *desk.answered, *desk.journal.asked(), 0]
    for folder in (desk.home.questions, desk.home.questions / "closed"):
        try:
            names = [entry.name for entry in desk.world.reader.entries(folder)]
        except NotThere:
            continue
        numbers += [n for name in names if (n := number_of(name)) is not None]
    return max(numbers) + 1


async def ask(desk: Desk, question: Question) -> None:
    """Write the question's file, tell the person, keep it open; once for its number."""
    is_answered = desk.journal.mark_of(question.id, ANSWERED) is not None
    path = desk.home.question(question.number)
    if not is_answered:
        desk.questions[question.number] = question  # nobody else takes its number
        await write(desk, question)
    await desk.mail.to_outbox(question.sender, _told(question, path), question.id)
    if is_answered or desk.journal.mark_of(question.id, ASKED) is not None:
        return
    await _tell(desk, question)
    kept = json.dumps(asdict(question) | {"kind": question.kind.value})
    await desk.journal.mark(question.id, f"{ASKED}{kept}")
    desk.bell.ring()


async def _tell(desk: Desk, question: Question, **more: int) -> None:
    channel = {"channel": question.channel} if question.channel else {}
    await desk.records.event(
        EventType.HUMAN_QUESTION,
        desk.where(question.node, _asker(desk, question)),
        id=question.id,
        question_kind=question.kind.value,
        text=_in_short(question),
        **channel,
        **more,
    )
    await desk.world.notices.add(_notice(desk, question, more.get("reminder", 0)))


def _notice(desk: Desk, question: Question, reminder: int) -> Notice:
    approves = question.kind is QuestionKind.APPROVAL
    verb = "asks for your approval" if approves else "asks"
    again = f" (reminder {reminder})" if reminder else ""
    lines = [question.text, *(f"- {each}" for each in question.options)]
    told = "--yes|--no|--always" if approves else '"..."'
    return Notice(
        id=f"{question.id}:{reminder}",
        kind=NoticeKind.APPROVAL if approves else NoticeKind.QUESTION,
        agent=desk.agent,
        title=f"{question.sender} of {desk.agent} {verb} ({question.id}){again}",
        text=shortened("\n".join(lines)),
        ts=desk.world.stamp(),
        file=str(desk.home.question(question.number)),
        command=f"agiraph answer {shlex.quote(desk.agent)} {question.id} {told}",
        channel=question.channel,
    )


def _in_short(question: Question) -> str:
    """What the log says of it; of an approval the file alone says all."""
    if question.kind is QuestionKind.APPROVAL:
        return question.text.partition("\n")[0]
    return question.text[:500]


def age(desk: Desk, question: Question) -> float:
    """Seconds since it was asked."""
    try:
        asked = datetime.fromisoformat(question.asked)
        return (desk.world.clock.now() - asked).total_seconds()
    except (ValueError, TypeError):
        return 0.0  # a person has changed the line


async def remind(desk: Desk, question: Question, number: int) -> None:
    """Tell the person once more, where so many reminders are due; the last one only."""
    if number == 0 or desk.journal.marked(question.id, f"{REMINDED}{number}"):
        return
    await _tell(desk, question, reminder=number)
    await desk.journal.mark(question.id, f"{REMINDED}{number}")


def _told(question: Question, path: PurePosixPath) -> str:
    """A question as the outbox has it."""
    text, answer = question.text, "…"
    if question.kind is QuestionKind.APPROVAL:
        answer = "yes` or `no"
        if len(text) > OUTBOX_SHOWN:
            text = text.partition("\n")[0]
    return f"{text}\n\nAnswer in `{path}` or write `{question.id}: {answer}`."


def _asker(desk: Desk, question: Question) -> str | None:
    return question.sender if desk.find_staff(question.sender) else None


async def write(desk: Desk, question: Question) -> None:
    """Make the question's file, unless it is there."""
    path, data = desk.home.question(question.number), write_question(question).encode()

    async def make() -> None:
        await desk.world.pen.create(path, data)

    await desk.world.durably(make)


async def answer(desk: Desk, number: int, text: str) -> bool:
    """Take an answer: the first one counts. Whether it was taken."""
    question = desk.questions.pop(number, None)
    if question is None:
        return False
    desk.answered[number] = replace(question, answer=text.strip())
    await desk.journal.mark(question.id, f"{ANSWERED}{text.strip()}")
    await desk.records.event(
        EventType.HUMAN_RESPONSE,
        desk.where(question.node, _asker(desk, question)),
        id=question.id,
        text=text.strip()[:500],
    )
    desk.changed()
    return True


def reader(desk: Desk, question: Question) -> str:
    """Who is told the answer: whoever asked, or the coordinator once that has ended."""
    if question.sender == AGIRAPH:
        return AGIRAPH
    node = desk.nodes.get(question.node or "")
    if node is None or node.status.state.ended:
        return COORDINATOR
    return question.sender if node.status.worker == question.sender else COORDINATOR


def untold(desk: Desk, who: str) -> list[Question]:
    """What was answered, and is to be told to somebody."""
    return [each for each in desk.answered.values() if reader(desk, each) == who]


def answer_id(question: Question) -> str:
    """The id under which an answer is told."""
    return f"{_ANSWER}{question.id}"


def from_a_person(ident: str) -> bool:
    """Whether an id is that of something a person wrote: a message, an answer."""
    return ident.startswith(_ANSWER) or mail.from_a_person(ident)


def answer_words(question: Question) -> str:
    """An answer as whoever asked is told it later."""
    if question.kind is not QuestionKind.APPROVAL:
        return f"[answer to {question.id}] {question.answer}\n(asked: {question.text})"
    what = question.text.partition("\n")[0]
    then = "Make the same call again to have it done."
    if verdict(question.answer) is Verdict.NO:
        then = REFUSED
    return f"[{question.id}: the person said {question.answer}] {what}\n{then}"


async def told(desk: Desk, ids: Collection[str]) -> None:
    """Note which answers are recorded in a conversation: they are not told again."""
    for number, question in list(desk.answered.items()):
        if answer_id(question) in ids:
            await desk.journal.mark(question.id, TOLD)
            desk.answered.pop(number, None)


async def settled(desk: Desk, number: int) -> None:
    """Whoever waited for an answer acts on it: there is nothing left to tell."""
    await desk.journal.mark(question_id(number), TOLD)
    desk.answered.pop(number, None)


async def _put_away(desk: Desk, path: PurePosixPath, target: PurePosixPath) -> None:
    await desk.world.durably(lambda: desk.world.pen.move(path, target))


async def withdraw(desk: Desk, number: int, why: str) -> None:
    """Nobody waits for this answer any more: it is put away, and the person told."""
    question = desk.questions.pop(number, None)
    was_answered = desk.answered.pop(number, None) is not None
    ident = question_id(number)
    if question is not None:
        await desk.journal.mark(ident, ANSWERED)
    await desk.journal.mark(ident, TOLD)
    if question is not None and not was_answered:
        words = f"{ident} needs no answer any more: {why}."
        await desk.mail.to_outbox(AGIRAPH, words, f"withdrawn:{ident}")
    await _close(desk, number)
    desk.bell.ring()


def about_circles(desk: Desk, node: str) -> int | None:
    """The number of the open question of a node whose worker goes in circles."""
    for number, each in desk.questions.items():
        if each.node == node and each.text.startswith(IN_CIRCLES):
            return number
    return None


async def withdraw_about_circles(desk: Desk, node: str) -> None:
    """A node has ended: how its worker is to go on need not be said any more."""
    number = about_circles(desk, node)
    if number is not None:
        await withdraw(desk, number, f"node {node} has ended")


async def close_all(desk: Desk) -> None:
    """Put every open question away, unanswered: nobody waits for an answer here."""
    for number in list(desk.questions):
        await desk.journal.mark(question_id(number), ANSWERED)
        await desk.journal.mark(question_id(number), TOLD)
        await _close(desk, number)
        desk.questions.pop(number, None)


async def close_old(desk: Desk) -> None:
    """Put away what was answered, and told, more than a day ago."""
    try:
        entries = desk.world.reader.entries(desk.home.questions)
    except NotThere:
        return
    now = desk.world.clock.now().timestamp()
    for entry in entries:
        number = number_of(entry.name)
        if number is None or number in desk.questions or number in desk.answered:
            continue
        if now - entry.changed > QUESTIONS_CLOSE_AFTER:
            await _close(desk, number)


async def _close(desk: Desk, number: int) -> None:
    path = desk.home.question(number)
    target = path.parent / "closed" / path.name
    if desk.world.reader.entry(path) is None:
        return
    if desk.world.reader.entry(target) is None:
        await desk.world.pen.folder(target.parent)
        await _put_away(desk, path, target)


def load(desk: Desk) -> None:
    """Read the question files: what is open, what was answered already."""
    try:
        entries = desk.world.reader.entries(desk.home.questions)
    except NotThere:
        entries = ()
    for entry in entries:
        number = number_of(entry.name)
        if number is not None:
            _load_one(desk, number)
    if desk.run_open or desk.questions:
        _load_lost(desk)


def _load_lost(desk: Desk) -> None:
    """What was asked and has lost its file while nobody looked is open still."""
    for ident, kept in desk.journal.marks(ASKED):
        if desk.journal.mark_of(ident, ANSWERED) is None:
            found = json.loads(kept)
            found |= {"kind": QuestionKind(found["kind"])}
            found |= {"options": tuple(found["options"])}
            question = Question(**found)
            desk.questions.setdefault(question.number, question)


def _load_one(desk: Desk, number: int) -> None:
    path = desk.home.question(number)
    try:
        text = desk.world.reader.read(path, limit=GOAL_BYTES).decode()
    except (AgiraphError, UnicodeDecodeError):
        return
    found = read_question(text, path.name)
    if not isinstance(found, Good):
        return
    question = found.value
    taken = desk.journal.mark_of(question.id, ANSWERED)
    if taken is not None:
        if not desk.journal.marked(question.id, TOLD):
            desk.answered[number] = replace(question, answer=taken)
    else:
        # An answer in the file counts once it has settled; the look will tell.
        desk.questions[number] = replace(question, answer="")


async def take_in(desk: Desk, name: str, talk: Conversation) -> None:
    """Tell a worker the answers to what it had asked, and did not wait for."""
    for question in untold(desk, name):
        ident = answer_id(question)
        if ident not in talk.delivered:
            words = notice(answer_words(question))
            stamp = desk.world.stamp()
            line = UserLine(stamp, words, Kind.NOTICE, AGIRAPH, (ident,))
            await talk.append(line, flush=True)
    await told(desk, talk.delivered)
