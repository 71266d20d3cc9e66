"""A typed text as lines and blocks, in the form in which two states are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

_SEPARATOR = re.compile(r"-{3,}\s*")

Block: TypeAlias = tuple[str, ...]
"""A block's lines, without blank ones and without spaces at their ends."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A text as it stands.

    Attributes:
        lines: all that count: neither blank nor separators.
        block_of: for each of them the number of its block.
        separated: whether a line of `---` stands anywhere.
        open_end: whether no such line stands behind the last that counts.
    """

    lines: tuple[str, ...]
    block_of: tuple[int, ...]
    separated: bool
    open_end: bool
    _raw: tuple[str, ...]
    _raw_at: tuple[int, ...]

    @property
    def blocks(self) -> list[range]:
        """The lines of each block, as positions in `lines`."""
        found: list[range] = []
        start = 0
        for at in range(1, len(self.lines) + 1):
            if at == len(self.lines) or self.block_of[at] != self.block_of[start]:
                found.append(range(start, at))
                start = at
        return found

    def block(self, span: range) -> Block:
        """The lines in a span, as they are compared."""
        return self.lines[span.start : span.stop]

    def words(self, span: range) -> str:
        """A span as it was typed, blank lines within included."""
        first, last = self._raw_at[span.start], self._raw_at[span.stop - 1]
        return "\n".join(self._raw[first : last + 1])


def typed(text: str) -> Typed:
    """The lines and blocks of a text."""
    raw = tuple(line.rstrip() for line in text.removeprefix("\ufeff").split("\n"))
    lines: list[str] = []
    blocks: list[int] = []
    places: list[int] = []
    separators = 0
    for at, line in enumerate(raw):
        if _SEPARATOR.fullmatch(line):
            separators += 1
        elif line:
            lines.append(line)
            blocks.append(separators)
            places.append(at)
    return Typed(
        tuple(lines),
        tuple(blocks),
        separators > 0,
        not blocks or blocks[-1] == separators,
        raw,
        tuple(places),
    )
