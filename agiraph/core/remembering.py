"""What may go into the agent's memory, and where a line of it came from."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.limits import MEMORY_CAP
from agiraph.core.narration import about
from agiraph.core.search import words
from agiraph.core.untrusted import blocks
from agiraph.model.conversation import AssistantLine, Kind, ToolLine, UserLine
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agiraph.model.conversation import Spoken

CURATED: Final = "MEMORY.md"
_DAILY: Final = re.compile(r"(?:memory/)?\d{4}-\d{2}-\d{2}\.md")
_HEADING: Final = re.compile(r"^#{1,6} ", re.MULTILINE)
_COPIED: Final = 12  # words in a row that nobody writes twice by chance
_SHARED: Final = 0.6  # of a line's words, for it to count as from there
_SHARED_ABROAD: Final = 0.4  # of them with a stranger's, which are said in other words
_TELLING: Final = 4  # letters of a word that tells something
_TELLING_SHARED: Final = 2
_HASH: Final = 12


@dataclass(frozen=True, slots=True)
class Source:
    """A text that a loop was shown.

    Attributes:
        name: where it is from: an address, a file, a sender.
        stranger: whether somebody else than the person wrote it.
    """

    name: str
    text: str
    stranger: bool = False


def is_daily(shown: str) -> bool:
    """Whether a path names a daily log, such as `memory/2026-11-22.md`."""
    return _DAILY.fullmatch(shown) is not None


def over_the_cap(old: bytes, new: bytes) -> str:
    """Why MEMORY.md may not become this; empty when it may.

    A file that a person made too large may be made smaller step by step.
    """
    if len(new) <= MEMORY_CAP or len(new) < len(old):
        return ""
    text = new.decode("utf-8", "replace")
    starts = [0, *(m.start() for m in _HEADING.finditer(text) if m.start()), len(text)]
    parts = [text[a:b] for a, b in itertools.pairwise(starts)]
    largest = sorted(parts, key=lambda part: -len(part.encode()))[:3]
    named = "; ".join(
        f"{part.strip().splitlines()[0][:60]!r} ({len(part.encode()):,} bytes)"
        for part in largest
        if part.strip()
    )
    return (
        f"{CURATED} may have {MEMORY_CAP:,} bytes, and would have {len(new):,}; "
        f"nothing was written. Prune it first. Its largest parts: {named}. Move what "
        "is long to memory/knowledge/<subject>.md and leave one line that names it; "
        "take out what is old or said twice."
    )


# --- where words come from


def sources(lines: Sequence[Spoken]) -> tuple[Source, ...]:
    """The texts that a loop was shown in a session, newest first."""
    calls = {
        call.id: call
        for line in lines
        if isinstance(line, AssistantLine)
        for call in line.tool_calls
    }
    found: list[Source] = []
    for line in reversed(lines):
        if isinstance(line, AssistantLine):
            continue
        fenced = blocks(line.content)
        found += [Source(name, text, stranger=True) for name, text in fenced]
        if fenced:
            continue
        if isinstance(line, ToolLine):
            call = calls.get(line.call_id)
            given = about(call.arguments or {}) if call else ""
            found.append(Source(f"{line.name} {given}".strip(), line.content))
        elif line.kind is Kind.MAIL:
            strange = line.sender != HUMAN
            name = f"a message from {line.sender}"
            found.append(Source(name, line.content, stranger=strange))
        elif _tells(line):
            found.append(Source("the run's brief", line.content))
    return tuple(found)


def _tells(line: UserLine) -> bool:
    return line.kind is Kind.BRIEF


def copied(content: str, shown: Iterable[Source]) -> Source | None:
    """The stranger's text that a content repeats word for word, or None."""
    mine = _runs(content)
    for source in shown:
        if source.stranger and mine & _runs(source.text):
            return source
    return None


def _runs(text: str) -> set[tuple[str, ...]]:
    """Every run of so many words that nobody writes twice by chance."""
    plain = list(_plain(text))
    starts = range(len(plain) - _COPIED + 1)
    return {tuple(plain[at : at + _COPIED]) for at in starts}


def _plain(text: str) -> Iterable[str]:
    return words(unicodedata.normalize("NFKC", text))


def traced(lines: Iterable[str], shown: Sequence[Source]) -> dict[str, str]:
    """The hash of each line that says something, and the name of where it is from."""
    bags = [(source, frozenset(_plain(source.text))) for source in shown]
    return {line_hash(line): _from(line, bags) for line in lines if line.strip()}


def _from(line: str, bags: Sequence[tuple[Source, frozenset[str]]]) -> str:
    mine = {word for word in _plain(line) if len(word) > 1}
    if len(mine) < 2:
        return ""
    best, most = "", 0.0
    for source, bag in bags:
        share = len(mine & bag) / len(mine)
        if share > most and _is_enough(share, mine & bag, source):
            best, most = source.name, share
    return best


def _is_enough(share: float, words_of_both: set[str], source: Source) -> bool:
    """Whether a line shares so much with a source that it is from there."""
    if share >= _SHARED:
        return True
    telling = [x for x in words_of_both if len(x) >= _TELLING or not x.isascii()]
    abroad = source.stranger and len(telling) >= _TELLING_SHARED
    return abroad and share >= _SHARED_ABROAD


def line_hash(line: str) -> str:
    """What stands for a line in the record; white space at its ends does not count."""
    data = line.strip().encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_HASH]


def new_lines(old: str, new: str) -> list[str]:
    """The lines of a text that another did not have."""
    known = {line.strip() for line in old.splitlines()}
    return [line for line in new.splitlines() if line.strip() not in known]


# --- the record


@dataclass(frozen=True, slots=True)
class Written:
    """One change of a memory file, as the record has it.

    Attributes:
        by: `coordinator`, a worker's name, `person`, or empty for what was there when
            the record began.
        becomes: sha256 of the file; empty when it was taken away.
        lines: hash of each new line -> where it is from.
    """

    ts: str
    path: str
    by: str
    was: str
    becomes: str
    lines: Mapping[str, str]
    run: str = ""
    node: str = ""
    step: str = ""


def blame(record: Sequence[Written], path: str, line: str) -> tuple[Written, ...]:
    """The changes that brought a line, those of this file first, oldest first."""
    wanted = line_hash(line)
    found = [each for each in record if wanted in each.lines]
    return tuple(sorted(found, key=lambda each: (each.path != path, each.ts)))
