"""Approvals: a call that waits for the person's yes, and is then performed once.

What is asked stands in the call's intent, in the journal, before the question's file
is made. The yes stands there as the answer's mark; that a call takes it is one more
mark, written before the call is performed: so a crash at any point neither loses a yes
nor uses it twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from agiraph import prompts
from agiraph.core import approval
from agiraph.core.approval import Verdict, verdict
from agiraph.core.codec import read_approvals, with_approvals
from agiraph.core.codec.report import Rejected
from agiraph.core.limits import GOAL_BYTES
from agiraph.core.owed import GRANTED
from agiraph.core.skills import allows
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.message import Question, QuestionKind
from agiraph.model.names import AGIRAPH, question_id
from agiraph.model.node import NodeState
from agiraph.model.tool import ToolResult
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agiraph.model.json import Json, JsonObject
    from agiraph.ports import Intent, Seat
    from agiraph.runtime.desk import Desk

USED = "used: "


class Asker(Protocol):
    """The loop whose call waits."""

    def parked(self, state: NodeState, words: str) -> AbstractAsyncContextManager[None]:
        """Parked for as long as the context lasts."""

    def urgent(self) -> bool:
        """Whether something has come that goes ahead of the call."""

    def called(self) -> bool:
        """Whether something has come that the model should hear of."""

    async def ready(self) -> None:
        """Wait while nothing may start; take a place."""


def addressed(desk: Desk, intent: Intent, seat: Seat) -> Intent:
    """The intent with the number of its question, where the person must be asked.

    An equal call of the same asker that is still open, or was allowed and not made yet,
    keeps its question.
    """
    need = approval.needed(intent)
    if need is None or is_covered(desk, need):
        return intent
    asked: dict[str, Json] = {
        "kind": need.kind,
        "subjects": list(need.subjects),
        "shown": need.shown,
        "who": seat.who,
        "node": seat.node,
        "run": seat.run,
    }
    found = _open_for(desk, asked)
    if found is None:
        found = questions.next_number(desk)
    stamp = desk.world.stamp()
    return {**intent, approval.APPROVAL: {**asked, "number": found, "asked": stamp}}


def numbered(asked: JsonObject, number: int, stamp: str) -> JsonObject:
    """An intent of the daemon's own, with the number of its question."""
    found: dict[str, Json] = {}
    for key, value in asked.items():
        more: dict[str, Json] = {
            "who": AGIRAPH, "node": None, "run": None, "number": number, "asked": stamp,
        }  # fmt: skip
        found[key] = {**value, **more} if isinstance(value, Mapping) else value
    return found


def is_needed(intent: Intent) -> bool:
    """Whether a call has something of which the person may have to be asked."""
    return approval.needed(intent) is not None


def number_of(intent: Intent) -> int | None:
    """The number of the question that an intent waits for; None where it does not."""
    asked = intent.get(approval.APPROVAL)
    number = asked.get("number") if isinstance(asked, Mapping) else None
    return number if isinstance(number, int) else None


def is_covered(desk: Desk, need: approval.Need) -> bool:
    """Whether the person has allowed all of it for always."""
    wanted = [(need.kind, subject) for subject in need.subjects]
    tools = desk.skills.tools
    return bool(wanted) and all(
        each in desk.approved or allows(tools, *each) for each in wanted
    )


def _open_for(desk: Desk, asked: JsonObject) -> int | None:
    """The question of an equal call that may still lead to this one."""
    for number, other in desk.journal.approvals().items():
        if any(other.get(key) != value for key, value in asked.items()):
            continue
        ident = question_id(number)
        said = desk.journal.mark_of(ident, questions.ANSWERED)
        if said is None:
            return number
        granted = verdict(said) in (Verdict.YES, Verdict.ALWAYS)
        if granted and desk.journal.mark_of(ident, USED) is None:
            return number
    return None


# --- the call


def is_used(desk: Desk, number: int, step: str) -> bool:
    """Whether this call has taken its yes: it was performed, or a crash came then."""
    return desk.journal.mark_of(question_id(number), USED) == step


async def settle(
    desk: Desk, loop: Asker, intent: Intent, seat: Seat
) -> ToolResult | None:
    """Wait for the person; None once the call may be made, else its result."""
    number, need = number_of(intent), approval.needed(intent)
    if number is None or need is None:
        return None
    ident = question_id(number)
    await questions.ask(desk, question_of(intent, need))

    def over() -> bool:
        return number not in desk.questions or is_covered(desk, need) or loop.called()

    if not over():
        words = f"your approval, {ident}"
        async with loop.parked(NodeState.WAITING_FOR_HUMAN, words):
            await desk.bell.until(over)
    await loop.ready()
    if loop.urgent():
        return ToolResult(prompts.words("put_off").strip(), error=True)
    return await _outcome(desk, number, need, seat)


def answered(desk: Desk, intent: Intent, result: ToolResult) -> ToolResult:
    """A call's result; where a person has said yes or no to it, it is known by that."""
    number = number_of(intent)
    ident = "" if number is None else question_id(number)
    if not ident or not desk.journal.mark_of(ident, questions.ANSWERED):
        return result
    return replace(result, ids=(*result.ids, f"{GRANTED}{ident}"))


async def _outcome(
    desk: Desk, number: int, need: approval.Need, seat: Seat
) -> ToolResult | None:
    """What the call comes to, now that something has happened."""
    ident = question_id(number)
    said = desk.journal.mark_of(ident, questions.ANSWERED)
    if said is None and not is_covered(desk, need):
        return ToolResult(_STILL_OPEN.format(ident=ident), error=True)
    if said is None:
        await questions.withdraw(desk, number, "it is allowed for always by now")
    elif verdict(said) not in (Verdict.YES, Verdict.ALWAYS):
        why = f"refused by the person ({ident})" if said else _WITHDRAWN
        await questions.settled(desk, number)
        return ToolResult(f"{why}; nothing was done. {questions.REFUSED}", error=True)
    await desk.journal.mark(ident, f"{USED}{seat.step}")
    await questions.settled(desk, number)
    return None


_WITHDRAWN = "not asked any longer: what this was for has ended"
_STILL_OPEN = (
    "not done yet: it waits for the person's approval ({ident}, still open). Something "
    "else has come; it follows. Make the same call again when you have dealt with "
    "that: it is done once the person says yes."
)


def question_of(intent: Intent, need: approval.Need) -> Question:
    """The question that an intent asks a person."""
    asked = intent.get(approval.APPROVAL)
    asked = asked if isinstance(asked, Mapping) else {}
    sender, node = str(asked.get("who", "")), asked.get("node")
    node = node if isinstance(node, str) else None
    number = asked.get("number")
    return Question(
        number=number if isinstance(number, int) else 0,
        sender=sender,
        node=node,
        asked=str(asked.get("asked", "")),
        kind=QuestionKind.APPROVAL,
        text=approval.question_text(need),
        options=tuple(each.value for each in Verdict),
    )


# --- the answer


async def answer(desk: Desk, number: int, text: str) -> bool:
    """Take a person's answer to an approval; whether it was one.

    What `always` allows is on the disk before the answer is.
    """
    said = verdict(text)
    if said is None or number not in desk.questions:
        return False
    if said is Verdict.ALWAYS:
        await _allow(desk, number)
    return await questions.answer(desk, number, said.value)


async def _allow(desk: Desk, number: int) -> None:
    """Write what is allowed for always into `_approvals.yaml`, and put it in force."""
    asked = desk.journal.approvals().get(number)
    need = approval.needed({approval.APPROVAL: asked}) if asked is not None else None
    path = desk.home.approvals
    try:
        text = desk.world.reader.read(path, limit=GOAL_BYTES).decode()
    except NotThere:
        text = ""
    except (AgiraphError, UnicodeDecodeError):
        text = "\0"  # it was rejected already; see below
    if need is None or "\0" in text or isinstance(read_approvals(text), Rejected):
        words = (
            f"{question_id(number)} was taken as `yes`, this once: "
            f"`{path.name}` cannot be added to while it is not good; its error file "
            "says why."
        )
        await desk.mail.to_outbox(AGIRAPH, words, f"always:{number}")
        return
    new = [(need.kind, subject) for subject in need.subjects]
    since = desk.world.today()
    page = with_approvals(text, new, since=since, by=question_id(number))
    await desk.world.write(path, page.encode())
    desk.approved |= frozenset(new)


async def withdraw_of(desk: Desk, node: str | None, why: str) -> None:
    """The calls of a node, or of the coordinator, are made no more: ask no longer."""
    known = {**desk.questions, **desk.answered}
    for number, question in known.items():
        mine = question.node == node and question.sender != AGIRAPH
        if question.kind is QuestionKind.APPROVAL and mine:
            await questions.withdraw(desk, number, why)
