"""What a log of model calls says, a piece at a time, from its start or its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import usage_from_line
from agiraph.core.loghead import is_head
from agiraph.core.loglines import NUL_BYTES, meaning
from agiraph.errors import AgiraphError, Damaged, NotThere, Unreadable, YourError
from agiraph.runtime.parts import archived, archives, head_at, older, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePosixPath

    from agiraph.model.json import JsonObject
    from agiraph.model.usage import ModelCall
    from agiraph.ports import Reader

_PIECE = 1024 * 1024
_BRING_BACK: Final = (
    "the whole archive; bring it back from a copy, or take it away: budgets then count "
    "without what it held"
)


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A line that is no call, and no crash explains it.

    Attributes:
        offset: where it begins in the file.
        why: what is wrong with it.
    """

    offset: int
    why: str

    def line(self, reader: Reader, path: PurePosixPath) -> int:
        """Its number, from 1."""
        before = pieces(reader, path, 0, self.offset)
        return 1 + sum(piece.count(b"\n") for piece in before)


def calls(
    reader: Reader, path: PurePosixPath, *, start: int = 0
) -> Iterator[ModelCall]:
    """The calls of a `usage.jsonl` from a place on; lines that are none are left out.

    Places count as if nothing had been put away; what was, is read first, as far as it
    can be.
    """
    for call, _ in calls_to(reader, path, start=start):
        yield call


def calls_to(
    reader: Reader,
    path: PurePosixPath,
    *,
    start: int,
    spoilt: list[Spoilt] | None = None,
) -> Iterator[tuple[ModelCall, int]]:
    """The same, each with the place behind its line; half a line is not read.

    Args:
        reader: of the tree.
        path: of the log.
        start: the place.
        spoilt: takes the lines that are left out though no crash explains them.
    """
    try:
        head = head_at(reader, path)
    except AgiraphError:
        return
    if start < head.bytes:
        for lines in older(reader, path, head):
            yield from ((old, head.bytes) for old in _calls(lines))
    at = max(head.offset(start), head.size)
    while True:
        try:
            piece = reader.part(path, offset=at, limit=_PIECE)
        except AgiraphError:
            return
        whole = piece.rfind(b"\n") + 1
        if not whole:
            return
        for raw in piece[:whole].splitlines(keepends=True):
            said = _said(raw)
            if isinstance(said, str) and said != NUL_BYTES and spoilt is not None:
                spoilt.append(Spoilt(at, said))
            at += len(raw)
            if said is not None and not isinstance(said, str):
                yield said, head.place(at)


def latest(
    reader: Reader, path: PurePosixPath, since: str = ""
) -> Iterator[list[ModelCall | Spoilt]]:
    """The calls from the end of a `usage.jsonl` on, a piece of the file at a time.

    After the file itself come the archives, each in one piece.

    Args:
        reader: of the tree.
        path: of the log.
        since: a day; an archive of before is not opened.

    Raises:
        Unreadable: to take it for empty would let a budget begin anew.
        Damaged: likewise, of an archive.
    """
    entry = reader.entry(path)
    size = entry.size if entry is not None else 0
    end, rest, torn = size, b"", True
    while end:
        start = max(0, end - _PIECE)
        piece = reader.part(path, offset=start, limit=end - start)
        first, *lines = (piece + rest).split(b"\n")
        rest, end = first, start
        at = start + len(first) + 1 if start else 0
        whole = lines if start else [first, *lines]
        found, torn = _judged(whole, at, size, torn=torn)
        if found:
            yield found
    for archive in reversed(archives(reader, path)):
        if archive.name < since:
            return
        try:
            yield list(_calls(archived(reader, archive)))
        except NotThere:
            continue  # somebody deleted it: they said so
        except Unreadable as fault:
            why = str(fault).removeprefix(f"{archive} is damaged: ")
            raise Damaged(archive, 1, why, mend=_BRING_BACK) from fault


def _judged(
    lines: list[bytes], at: int, size: int, *, torn: bool
) -> tuple[list[ModelCall | Spoilt], bool]:
    """What some lines say, and whether all from the first of them on may be torn.

    Args:
        lines: without their ends.
        at: where the first begins.
        size: of the file.
        torn: whether a crash may have torn all that is behind them.
    """
    found: list[ModelCall | Spoilt] = []
    at += sum(len(line) + 1 for line in lines)
    for line in reversed(lines):
        at -= len(line) + 1
        said = _said(line)
        by_a_crash = said == NUL_BYTES or at + len(line) == size
        if said is None or (isinstance(said, str) and torn and by_a_crash):
            continue
        torn = False
        found.append(Spoilt(at, said) if isinstance(said, str) else said)
    return found[::-1], torn


def _calls(lines: Iterable[bytes]) -> Iterator[ModelCall]:
    for line in lines:
        said = _said(line)
        if said is not None and not isinstance(said, str):
            yield said


def _said(raw: bytes) -> ModelCall | str | None:
    """The call that a line tells of, or why it tells of none; None: it need not."""
    if not raw.strip():
        return None
    if b"\0" in raw:
        return NUL_BYTES
    found = meaning(raw)
    if isinstance(found, str):
        return found
    try:
        return None if is_head(found) else usage_from_line(found)
    except YourError as wrong:
        return str(wrong)


def wrong_with(found: JsonObject) -> str:
    """Why a line of a `usage.jsonl` tells of no call; empty where it need not."""
    try:
        if not is_head(found):
            usage_from_line(found)
    except YourError as wrong:
        return str(wrong)
    return ""
