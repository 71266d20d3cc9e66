"""What changed in a typed text: which pieces of it are known, corrected or new."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.likeness import alike, found_again, pairs
from agiraph.model.message import Heard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agiraph.core.typed import Block, Typed

_CLEARLY_MOVED = 24
_MOST_LOOKS = 20_000  # for corrections among blocks; a file of thousands is no typing


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of the new text that belong together.

    Attributes:
        span: which lines.
        kind: what they are taken for; None where they stood there before.
        old: the old blocks that they come from.
    """

    span: range
    kind: Heard | None
    old: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Gap:
    """Old lines that were not found again, with the new ones at the same place."""

    old: range
    new: range


def pieces(blocks: Sequence[Block], now: Typed) -> list[Piece]:
    """The new text in pieces, in its order, judged against the old blocks."""
    comparison = _Comparison(blocks, now)
    found = comparison.by_block() if now.separated else comparison.by_run()
    return _without_moved(found, blocks, now)


class _Comparison:
    """The old blocks and the new text side by side."""

    def __init__(self, blocks: Sequence[Block], now: Typed) -> None:
        self._blocks = blocks
        self._now = now
        self._old = [line for block in blocks for line in block]
        self._unit = [at for at, block in enumerate(blocks) for _ in block]
        self._patience = _MOST_LOOKS
        self._same = self._equal_lines()
        self._known = list(self._same)
        for gap in _gaps(self._same, len(self._old)):
            old = self._old[gap.old.start : gap.old.stop]
            for new, at in pairs(old, now.block(gap.new)).items():
                self._known[gap.new.start + new] = gap.old.start + at

    def _equal_lines(self) -> list[int | None]:
        """For each new line the old one; whole blocks are found first."""
        if not self._now.separated:
            return found_again(self._old, self._now.lines)
        starts = [0]
        for block in self._blocks:
            starts.append(starts[-1] + len(block))
        spans = self._now.blocks
        whole = found_again(self._blocks, [self._now.block(span) for span in spans])
        same: list[int | None] = [None] * len(self._now.lines)
        for span, at in zip(spans, whole, strict=True):
            if at is not None:
                same[span.start : span.stop] = range(starts[at], starts[at + 1])
        for gap in _gaps(same, len(self._old)):
            old = self._old[gap.old.start : gap.old.stop]
            for step, at in enumerate(found_again(old, self._now.block(gap.new))):
                same[gap.new.start + step] = None if at is None else gap.old.start + at
        return same

    def by_run(self) -> list[Piece]:
        """Without separators: whatever stands between known lines is one piece."""
        found = [
            self._known_piece(range(at, at + 1))
            for at, old in enumerate(self._known)
            if old is not None
        ]
        for gap in _gaps(self._known, len(self._old)):
            if gap.new and self._corrects(gap):
                units = sorted({self._unit[at] for at in gap.old})
                found.append(Piece(gap.new, Heard.CORRECTED, tuple(units)))
            elif gap.new:
                found.append(Piece(gap.new, Heard.NEW))
        return sorted(found, key=lambda piece: piece.span.start)

    def by_block(self) -> list[Piece]:
        """With separators: block by block."""
        spans = self._now.blocks
        found: list[Piece] = []
        gaps = list(_gaps(self._known, len(self._old)))
        taken = set(self._units(range(len(self._known))))
        for span in spans:
            if all(self._known[at] is None for at in span):
                found.append(self._unseen(span, gaps, taken))
                continue
            head = span
            if span is spans[-1] and self._now.open_end:
                head = self._without_tail(span)
            found.extend(self._judged(head))
            if len(head) < len(span):
                found.append(Piece(range(head.stop, span.stop), Heard.NEW))
        return found

    def _corrects(self, gap: _Gap) -> bool:
        """Whether a gap's new lines correct its old ones, or the middle of a block.

        At a block's edge they must be alike themselves: without separators that is
        where somebody prunes one thing and writes another.
        """
        if not gap.old:
            return False
        new = self._now.block(gap.new)
        if alike(self._old[gap.old.start : gap.old.stop], new):
            return True
        edges = self._unit[max(gap.old.start - 1, 0) : gap.old.stop + 1]
        if gap.old.stop == len(self._old) or not gap.old.start or len(set(edges)) > 1:
            return False
        block = self._blocks[edges[0]]
        first = gap.old.start - self._unit.index(edges[0])
        return alike(block, [*block[:first], *new, *block[first + len(gap.old) :]])

    def _unseen(self, span: range, gaps: list[_Gap], taken: set[int]) -> Piece:
        """A block without a known line: new, or a reworded one at the same place."""
        gap = gaps[bisect_right(gaps, span.start, key=lambda gap: gap.new.start) - 1]
        first = self._unit[gap.old.start] if gap.old else 0
        last = self._unit[gap.old.stop - 1] if gap.old else -1
        for unit in range(first, last + 1):
            if self._patience <= 0:
                break
            self._patience -= 1
            if unit not in taken and alike(self._blocks[unit], self._now.block(span)):
                taken.add(unit)
                return Piece(span, Heard.CORRECTED, (unit,))
        return Piece(span, Heard.NEW)

    def _without_tail(self, span: range) -> range:
        """The last block without what was only added behind its last known line."""
        end = span.stop
        while self._known[end - 1] is None:
            end -= 1
        last = self._known[end - 1]
        whole = last is not None and (
            last + 1 == len(self._old) or self._unit[last + 1] != self._unit[last]
        )
        return range(span.start, end) if whole else span

    def _judged(self, span: range) -> list[Piece]:
        """A block in which some lines are known."""
        fresh = [at for at in span if self._known[at] is None]
        if not fresh:
            return [self._known_piece(span)]
        units = self._units(span)
        before = [line for unit in units for line in self._blocks[unit]]
        if alike(before, self._now.block(span)):
            return [Piece(span, Heard.CORRECTED, units)]
        if len(span) - len(fresh) < len(before):
            return [Piece(span, Heard.NEW)]
        return [
            Piece(run, Heard.NEW) if run.start in fresh else self._known_piece(run)
            for run in _runs(span, set(fresh))
        ]

    def _known_piece(self, span: range) -> Piece:
        """Lines that are all known; corrected where one of them is not the same."""
        same = all(self._same[at] is not None for at in span)
        return Piece(span, None if same else Heard.CORRECTED, self._units(span))

    def _units(self, span: range) -> tuple[int, ...]:
        """The old blocks of a span's known lines."""
        found = {self._unit[old] for at in span if (old := self._known[at]) is not None}
        return tuple(sorted(found))


def _gaps(known: Sequence[int | None], old_size: int) -> Iterator[_Gap]:
    """Every place between two known lines where something is missing or added."""
    new_from, old_from = 0, 0
    for at, old in enumerate([*known, old_size]):
        if old is None:
            continue
        if at > new_from or old > old_from:
            yield _Gap(range(old_from, old), range(new_from, at))
        new_from, old_from = at + 1, old + 1


def _runs(span: range, fresh: set[int]) -> list[range]:
    found: list[range] = []
    start = span.start
    for at in range(span.start + 1, span.stop + 1):
        if at == span.stop or (at in fresh) != (start in fresh):
            found.append(range(start, at))
            start = at
    return found


def _without_moved(
    found: list[Piece], blocks: Sequence[Block], now: Typed
) -> list[Piece]:
    """The pieces, those that were only moved taken for known.

    A few short words at the end of the file are rather said again than moved there.
    """
    kept = {unit for piece in found for unit in piece.old}
    gone = [unit for unit in range(len(blocks)) if unit not in kept]
    left: dict[Block, list[int]] = {}
    for unit in reversed(gone):
        left.setdefault(blocks[unit], []).append(unit)
    judged: list[Piece] = []
    for piece in found:
        block = now.block(piece.span)
        last = piece.span.stop == len(now.lines)
        clear = sum(map(len, block)) >= _CLEARLY_MOVED or not last
        if piece.kind is Heard.NEW and left.get(block) and clear:
            judged.append(Piece(piece.span, None, (left[block].pop(),)))
        else:
            judged.append(piece)
    return judged
