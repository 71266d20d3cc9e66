"""`_outbox.md`: what was said to people, entry by entry.

Only the daemon forms entries. What is said may contain anything, a whole entry in the
name of somebody else included; it is written so that it reads the same and is none.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_HEAD = re.compile(
    r"^## (?P<when>\d{4}-\d\d-\d\d \d\d:\d\d) · (?P<sender>.+?) "
    r"<!-- (?P<mark>.+?) -->$",
    re.MULTILINE,
)
_LIKE_HEAD = re.compile(r"^([ \t>]*)(#{1,6}[ \t]+\d{4}-\d\d-\d\d)", re.MULTILINE)
_LIKE_MARK = re.compile(r"<!--[ ]+")
_FENCE = re.compile(r"^ {0,3}(?P<ticks>`{3,}|~{3,})(?P<rest>.*)$")
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


def write_entry(when: str, sender: str, mark: str, text: str) -> str:
    """An entry that ends with itself, whatever stands in its text.

    Args:
        when: to the minute, `2026-11-21 20:14`.
        sender, mark: as in `Said`.
        text: what is said, in Markdown.
    """
    return f"\n## {when} · {sender} {marker(mark)}\n\n{_tame(text.strip())}\n"


def marker(mark: str) -> str:
    """How an entry's head carries its mark; no entry's text contains it."""
    return f"<!-- {mark} -->"


def first_head(data: bytes, start: int) -> int:
    """Where the first entry after some place begins, in bytes; -1 where none does."""
    for line in re.finditer(rb"\n## [^\n]*-->$", data[start:], re.MULTILINE):
        if _HEAD.match(line[0][1:].decode("utf-8", "replace")):
            return start + line.start()
    return -1


def _tame(text: str) -> str:
    """A text that holds no head and no mark, and leaves nothing open behind it."""
    text = _LIKE_HEAD.sub(r"\1\\\2", _LIKE_MARK.sub("<!--", text))
    fence = _open_fence(text)
    if fence:
        text += f"\n{fence}"
    if text.rfind("<!--") > text.rfind("-->"):
        text += "\n-->"
    return text


def _open_fence(text: str) -> str:
    """The line that closes a block of code which the text leaves open; else empty.

    Source: CommonMark 0.31, 4.5: a fence is closed by one at least as long, of the same
    kind, with nothing behind it.
    """
    opened = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        ticks, rest = found["ticks"], found["rest"].strip()
        if not opened:
            opened = ticks if "`" not in rest or ticks[0] == "~" else ""
        elif ticks.startswith(opened) and not rest:
            opened = ""
    return opened
