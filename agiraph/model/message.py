"""Messages between workers, the coordinator and the human; and questions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agiraph.model.names import question_id


@dataclass(frozen=True, slots=True)
class Message:
    """One message, never changed once it is written.

    Attributes:
        id: unique within the agent; what is delivered is known by it.
        sender: a worker's name, `coordinator`, `human` or `agiraph`.
        to: a worker's name, `coordinator`, `human` or `*`.
        ts: ISO 8601 with an offset.
        readers: who was there when it was sent to everyone.
    """

    id: str
    sender: str
    to: str
    ts: str
    text: str
    urgent: bool = False
    readers: tuple[str, ...] = ()


class QuestionKind(Enum):
    """What a question file asks for."""

    QUESTION = "question"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class Question:
    """A question file as it was last read.

    Attributes:
        asked: ISO 8601 with an offset.
        answer: the person's answer; empty while it is open.
        channel: where the asker wants it told: cli, webhook or email; empty where
            the settings of `notify:` decide.
    """

    number: int
    sender: str
    node: str | None
    asked: str
    kind: QuestionKind
    text: str
    options: tuple[str, ...] = ()
    answer: str = ""
    channel: str = ""

    @property
    def id(self) -> str:
        return question_id(self.number)


class Heard(Enum):
    """What a change of an inbox is taken for; only what is new is delivered."""

    NEW = "new"
    CORRECTED = "corrected"  # at least three quarters alike, at the same place
    RESTORED = "restored"  # pruned before, and back together with others


@dataclass(frozen=True, slots=True)
class InboxMessage:
    """What a person typed into an inbox, or dropped there as a file.

    Attributes:
        text: without the address and the exclamation mark.
        to: a worker's name as typed, `coordinator` or `*`.
        kind: what it is taken for; anything but NEW is told in the log alone.
        number: counts what one inbox delivered, from 1; 0 where it is not delivered.
        reply_to: the question that it answers, e.g. `q-001`; answer: the words for it.
    """

    text: str
    to: str
    urgent: bool = False
    kind: Heard = Heard.NEW
    number: int = 0
    reply_to: str = ""
    answer: str = ""

    @property
    def new(self) -> bool:
        """Whether it is to be delivered."""
        return self.kind is Heard.NEW
