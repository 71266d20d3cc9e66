"""Whether a conversation still fits its window, and what may take how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from agiraph.core import cycles
from agiraph.core.limits import BYTES_PER_TOKEN, RESULT_SHOWN, SMALLEST_ANSWER
from agiraph.model.conversation import AssistantLine, Kind, UserLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.model.conversation import Spoken, SystemLine

IN_A_ROW: Final = 3
PROGRESS: Final = 2  # turns between two compactions that count as getting on
SHORTEST_ANSWER: Final = 1_024
SHORTEST_RESULT: Final = 1_000
MOST_IDS: Final = 10_000
_MARK: Final = "compact"
# News of one run: the run's name is in the id.
_OF_A_RUN: Final = ("brief:20", "goal:20", "end:20", "fault:20", "stage:20", "stays:")


class Wanted(Enum):
    """What a model was asked for on the way to a new session."""

    NOTES = "notes"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for last on that way; which time; the answer once it is there."""

    what: Wanted
    count: int
    answer: AssistantLine | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What a model can read at once.

    Attributes:
        tokens: of request and answer together.
        answer: the longest answer, in tokens.
        at: the share of the window from which on the conversation is put away.
    """

    tokens: int
    answer: int
    at: float

    @property
    def limit(self) -> int:
        """How many tokens a conversation may have before its next answer."""
        return int(self.tokens * self.at) - self.answer

    def is_full(self, size: int) -> bool:
        """Whether a conversation of so many tokens is to be put away now."""
        return size > self.limit

    def room(self, size: int) -> int:
        """The longest answer to ask for behind a conversation, in tokens."""
        least = min(self.answer, SMALLEST_ANSWER)
        return max(min(self.answer, self.tokens - size), least)

    def fits(self, size: int) -> bool:
        """Whether the window has room for one more useful answer."""
        return size + min(self.answer, SMALLEST_ANSWER) <= self.tokens


@dataclass(frozen=True, slots=True)
class Shares:
    """How many bytes each part of a rebuilt conversation may take.

    Attributes:
        brief: what opens a run or a node, memory included.
        standing: what the tree knows now.
        last: the last turns, as text.
    """

    brief: int
    summary: int
    standing: int
    last: int


def answer_of(window: int, wanted: int) -> int:
    """The longest answer to ask for: a small window is not spent on it."""
    return min(wanted, max(window // 8, SHORTEST_ANSWER))


def shares(window: Window, prefix: int) -> Shares:
    """What a rebuilt conversation may hold; most of the room stays free for work.

    Args:
        prefix: bytes of the rules and tools, which are there anyway.
    """
    free = max(window.limit * BYTES_PER_TOKEN - prefix, 0)
    return Shares(
        brief=free * 3 // 10,
        summary=min(free * 15 // 100, 16_000),
        standing=min(free * 7 // 100, 12_000),
        last=min(free * 8 // 100, 32_000),
    )


def longest_result(window: Window, size: int) -> int:
    """How many characters of one result may be shown, so that the next fits, too."""
    left = max(window.tokens - window.answer - size, 0) * BYTES_PER_TOKEN
    share = window.tokens * BYTES_PER_TOKEN * 3 // 16
    return max(min(RESULT_SHOWN, share, left // 2), SHORTEST_RESULT)


# --- the marks of a compaction under way


def mark(session: int, what: Wanted, count: int = 1) -> str:
    """The id of the line that asks for notes, or for a summary."""
    return f"{_MARK}:{session}:{what.value}:{count}"


def asked_by(line: Spoken, session: int | None = None) -> Asked | None:
    """What a line asks for on the way to a new session; None for any other line."""
    if not isinstance(line, UserLine) or line.kind is not Kind.NOTICE:
        return None
    for ident in line.ids:
        name, *rest = ident.split(":")
        if name == _MARK and session in (None, int(rest[0])):
            return Asked(Wanted(rest[1]), int(rest[2]))
    return None


def turns(lines: Iterable[Spoken]) -> int:
    """How many model calls were turns: notes and summaries are none."""
    count, aside = 0, False
    for line in lines:
        if asked_by(line):
            aside = True
        elif isinstance(line, AssistantLine):
            count, aside = count + (not aside), False
    return count


def without_marks(lines: Sequence[Spoken]) -> tuple[Spoken, ...]:
    """What was said before the compaction under way began."""
    for at, line in enumerate(lines):
        if asked_by(line):
            return tuple(lines[:at])
    return tuple(lines)


def in_a_row(prefix: SystemLine, lines: Sequence[Spoken]) -> int:
    """How many compactions in a row brought nothing, the one that is due included."""
    return 1 if turns(lines) >= PROGRESS else prefix.compacted + 1


# --- what goes on


def carried_ids(ids: Iterable[str], run: str) -> tuple[str, ...]:
    """Which ids of what was delivered a rebuilt conversation must still know.

    News of earlier runs is never told again, marks of a compaction are spent, and of
    the cycles the last mark says all.
    """
    known = tuple(ids)
    kept = [
        ident
        for ident in known
        if not ident.startswith(f"{_MARK}:")
        and not cycles.is_mark(ident)
        and not (ident.startswith(_OF_A_RUN) and f":{run}" not in ident)
    ]
    cycle = cycles.newest(known, run)
    return (*kept[-MOST_IDS:], *([cycle] if cycle else []))
