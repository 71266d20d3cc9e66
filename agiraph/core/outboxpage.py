"""`_outbox.md` as its entries: who said what when."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_HEAD = re.compile(
    r"^## (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d) · (?P<sender>.*?)"
    r" <!-- (?P<mark>.*?) -->$",
    re.MULTILINE,
)
_QUESTION = re.compile(r"q-[0-9]{3,9}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry.

    Attributes:
        id: short, the same for ever; question: the question that it is, if it is one.
    """

    id: str
    when: str
    sender: str
    text: str
    question: str = ""


def entries(text: str) -> list[Entry]:
    """The entries, oldest first."""
    heads = list(_HEAD.finditer(text))
    found = []
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(text)
        mark = head["mark"]
        found.append(
            Entry(
                id=hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()[:8],
                when=head["when"],
                sender=head["sender"],
                text=text[head.end() : end].strip(),
                question=mark if _QUESTION.fullmatch(mark) else "",
            )
        )
    return found
