"""`_outbox.md`: what was said to people, entry by entry."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_HEAD = re.compile(
    r"^## (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d) · (?P<sender>.+?) "
    r"<!-- (?P<mark>.+?) -->$",
    re.MULTILINE,
)
_QUESTION = re.compile(r"q-[0-9]{3,9}")
REPLY = "reply:"


@dataclass(frozen=True, slots=True)
class Said:
    """One entry.

    Attributes:
        when: to the minute, in the daemon's own time.
        mark: what tells it from every other: a message's or a question's id, `reply:…`.
    """

    when: str
    sender: str
    mark: str
    text: str

    @property
    def id(self) -> str:
        """Short, and the same for ever."""
        return hashlib.sha256(self.mark.encode("utf-8", "replace")).hexdigest()[:8]

    @property
    def is_question(self) -> bool:
        """Whether it is a question, which has a file of its own."""
        return _QUESTION.fullmatch(self.mark) is not None

    @property
    def is_reply(self) -> bool:
        """Whether it is the coordinator's own answer to a person."""
        return self.mark.startswith(REPLY)


def read_outbox(text: str) -> tuple[Said, ...]:
    """Its entries, oldest first; what stands before the first one is none."""
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)] * bool(heads)
    return tuple(
        Said(head["when"], head["sender"], head["mark"], text[head.end() : end].strip())
        for head, end in zip(heads, ends, strict=True)
    )
