"""Messages between workers, the coordinator and the human; and questions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Message:
    """One message, never changed once it is written.

    Attributes:
        id: unique within the agent; what is delivered is known by it.
        sender: a worker's name, `coordinator`, `human` or `agiraph`.
        to: a worker's name, `coordinator`, `human` or `*`.
        ts: ISO 8601 with an offset.
    """

    id: str
    sender: str
    to: str
    ts: str
    text: str
    urgent: bool = False


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
    """

    number: int
    sender: str
    node: str | None
    asked: str
    kind: QuestionKind
    text: str
    options: tuple[str, ...] = ()
    answer: str = ""

    @property
    def id(self) -> str:
        return f"q-{self.number:03d}"
