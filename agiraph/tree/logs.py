"""Reading logs of JSON lines: whole lines only, each of them once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.loghead import HEAD_BYTES, WHOLE, head_of
from agiraph.core.loglines import meaning
from agiraph.errors import NotThere

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.core.loghead import Head
    from agiraph.model.json import JsonObject
    from agiraph.ports import Reader

_PART: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that is no record, and that no crash at the end of the log explains.

    Attributes:
        line: from 1, counted from where the reading began.
        words: for the person.
    """

    line: int
    words: str


@dataclass(frozen=True, slots=True)
class Lines:
    """What a log says.

    Attributes:
        records: the good lines, in order.
        damage: the first bad line; None when there is none.
        torn: bytes at the end that are no whole line (yet): a line that is being
            written, or what a crash left.
        restarted: the log is shorter than what was read before, and was read again
            from its start.
    """

    records: tuple[JsonObject, ...]
    damage: Damage | None = None
    torn: int = 0
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class _Torn:
    """A line with NUL bytes: a crash's, when nothing good comes after it."""


class Tail:
    """Reads a log as it grows, and no whole line twice."""

    def __init__(self, reader: Reader, path: PurePosixPath, *, offset: int = 0) -> None:
        """Start at `offset`, which must be the start of a line, or behind all of it."""
        self._reader = reader
        self._path = path
        self._head: Head = WHOLE
        self._began = False
        self._offset = offset
        self._line = 0
        self._rest = 0

    @property
    def offset(self) -> int:
        """Where the next line begins, in bytes."""
        return self._offset

    @property
    def head(self) -> Head:
        """What the log began with when it was read."""
        return self._head

    def more(self) -> Lines:
        """What was added since the last call; nothing when the log is not there.

        Raises:
            Outside, NotPlain: as they say.
        """
        try:
            restarted = self._start_over_if_cut()
            while True:
                start = self._offset, self._line
                found = self._to_the_end(restarted=restarted)
                if self._offset == start[0] or self._head_at() == self._head:
                    return found
                # Its beginning was put away while it was read, a piece at a time.
                self._offset, self._line = start
                restarted = self._start_over_if_cut() or restarted
        except NotThere:
            return Lines(())

    def _start_over_if_cut(self) -> bool:
        entry = self._reader.entry(self._path)
        if entry is None:
            return False
        self._follow_the_head()
        if entry.size >= self._offset:
            return False
        self._offset, self._line = self._head.size, 0
        return True

    def _follow_the_head(self) -> None:
        """Where a part of the log was put away, go on at the same line."""
        was, head = self._head, self._head_at()
        if self._began and head != was:
            self._offset = head.offset(was.place(self._offset))
        self._head, self._began = head, True
        self._offset = max(self._offset, head.size)

    def _head_at(self) -> Head:
        return head_of(self._reader.part(self._path, offset=0, limit=HEAD_BYTES))

    def _to_the_end(self, *, restarted: bool) -> Lines:
        records: list[JsonObject] = []
        damage: Damage | None = None
        held: list[int] = []  # sizes of lines with NUL: torn, unless a good one follows
        for size, said in self._said():
            if isinstance(said, _Torn):
                held.append(size)
                continue
            if held:
                damage = damage or self._damaged("there are NUL bytes in it")
                self._pass(held)
            if isinstance(said, str):
                damage = damage or self._damaged(said)
            elif said:
                records.append(said)
            self._pass([size])
            held = []
        return Lines(tuple(records), damage, sum(held) + self._rest, restarted)

    def _pass(self, sizes: list[int]) -> None:
        self._offset += sum(sizes)
        self._line += len(sizes)

    def _said(self) -> Iterator[tuple[int, JsonObject | str | _Torn]]:
        """The size of each whole line and what it says, or why it says nothing.

        Notes the size of the rest.
        """
        offset = self._offset
        rest = b""
        while piece := self._reader.part(self._path, offset=offset, limit=_PART):
            offset += len(piece)
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield len(line) + 1, _said_by(line)
        self._rest = len(rest)

    def _damaged(self, why: str) -> Damage:
        number = self._line + 1
        return Damage(
            number,
            f"{self._path}, line {number} cannot be read: {why}; take the line out, "
            "or bring the file back from a copy",
        )


def _said_by(line: bytes) -> JsonObject | str | _Torn:
    if not line.strip():
        return {}
    return _Torn() if b"\0" in line else meaning(line)
