"""Acts that speak: messages between everyone, and questions to the person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.brief import mail_text
from agiraph.core.durations import seconds
from agiraph.core.given import flag_of, number_of, text_of, texts_of
from agiraph.core.limits import MESSAGE_BYTES
from agiraph.errors import ToolRefused
from agiraph.model.message import Message, Question, QuestionKind
from agiraph.model.names import COORDINATOR, EVERYONE, HUMAN, folded, question_id
from agiraph.model.node import NodeState
from agiraph.model.tool import ToolResult
from agiraph.runtime.acts.act import Act
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.ports import Intent, Seat

_NAMES = {
    "coordinator": COORDINATOR,
    "human": HUMAN,
    "person": HUMAN,
    "user": HUMAN,
    "*": EVERYONE,
    "all": EVERYONE,
}


def _away(words: str) -> str:
    return f" The person is away {words}." if words else ""


class SendMessage(Act):
    """`send_message`."""

    name = "send_message"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Decide who reads it."""
        if len(text_of(arguments, "content").encode()) > MESSAGE_BYTES:
            raise ToolRefused(
                "a message may have 256 KiB; write the rest to a file and name it"
            )
        wanted = text_of(arguments, "to").strip().removeprefix("@")
        if folded(wanted) == folded(seat.who):
            raise ToolRefused("that is you; keep a note in a file instead")
        name = _NAMES.get(folded(wanted), wanted)
        staff = self._desk.find_staff(name)
        return {"receiver": staff.name if staff else name}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write the message's file; the step is its id, so it is sent once."""
        to = text_of(intent, "receiver")
        message = Message(
            id=seat.step,
            sender=seat.who,
            to=to,
            ts=self._desk.world.stamp(),
            text=text_of(intent, "content"),
            urgent=flag_of(intent, "urgent"),
        )
        await self._desk.mail.post(message)
        return ToolResult(self._told(to, seat))

    def _told(self, to: str, seat: Seat) -> str:
        if to in (HUMAN, EVERYONE, COORDINATOR):
            return "sent."
        reader = self._desk.mail.reader_of(to)
        if reader != COORDINATOR:
            return "sent."
        why = self._desk.mail.why_not(to)
        if seat.worker is None:
            return f"{why}; it will see the message first in its next brief."
        return f"{why}; the coordinator has the message instead."


class CheckMessages(Act):
    """`check_messages`."""

    name = "check_messages"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Nothing to decide."""
        return {}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show what has come; it is delivered once the result is recorded."""
        mail = self._desk.mail.waiting(seat.who, self._talk.delivered)
        if not mail:
            return ToolResult("no new messages.")
        text = "\n\n".join(mail_text(m.sender, m.text, urgent=m.urgent) for m in mail)
        return ToolResult(text, ids=tuple(message.id for message in mail))


class AskHuman(Act):
    """`ask_human`."""

    name = "ask_human"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Decide the question's number, and until when it is waited for."""
        if seat.run is None and self._desk.run is None:
            raise ToolRefused("no run is open; ask in your answer's text instead")
        number = questions.next_number(self._desk)
        limit, until = arguments.get("timeout"), None
        if limit is not None:
            until = self._desk.world.clock.now().timestamp() + seconds(limit)
        return {"number": number, "asked": self._desk.world.stamp(), "until": until}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Ask; a worker sleeps until the answer, the coordinator goes on."""
        number = number_of(intent, "number") or 0
        await questions.ask(
            self._desk,
            Question(
                number=number,
                sender=seat.who,
                node=seat.node,
                asked=text_of(intent, "asked"),
                kind=QuestionKind.QUESTION,
                text=text_of(intent, "question"),
                options=texts_of(intent, "options"),
                channel=text_of(intent, "channel"),
            ),
        )
        if seat.node is None:
            return ToolResult(
                f"asked as {question_id(number)}; the answer comes as a message."
                f"{_away(self._desk.world.away)}"
            )
        return await self._sleep(number, intent, seat)

    async def _sleep(self, number: int, intent: Intent, seat: Seat) -> ToolResult:
        desk, name = self._desk, question_id(number)
        until = intent.get("until")
        deadline = None
        if isinstance(until, int | float):
            left = until - desk.world.clock.now().timestamp()
            deadline = desk.working() + left

        def over() -> bool:
            return bool(desk.mail.has(seat.who) or questions.untold(desk, seat.who))

        if not over():
            async with self._loop.parked(
                NodeState.WAITING_FOR_HUMAN, f"an answer to {name}"
            ):
                await desk.until(over, deadline=deadline)
        answered = desk.answered.get(number)
        if answered is not None:
            words = f"the person answered: {answered.answer}"
            return ToolResult(words, ids=(questions.answer_id(answered),))
        if over():
            return ToolResult(f"{name} is still open; mail came, it follows.")
        return ToolResult(f"no answer to {name} came in time; it stays open.")
