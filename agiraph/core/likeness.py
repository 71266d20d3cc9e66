"""Which lines of one text are found again in another, equal or nearly so."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

ALIKE = 0.75
_LONG = 2_000
_LONGER = 20_000
_MOST_EQUALS = 1_000_000
_MOST_PAIRS = 2_500


def alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two texts, given as lines, are at least three quarters the same.

    Long texts are compared by words, very long ones by lines, so that the time stays
    bounded.
    """
    a, b = " ".join(one), " ".join(other)
    if max(len(a), len(b)) <= _LONG:
        return _ratio(a, b)
    if max(len(a), len(b)) <= _LONGER:
        return _ratio(a.split(), b.split())
    return _ratio(one, other)


def found_again(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    """For each new item the old one that it is, in order; None for what is not there.

    What was only added at the end, or only at the top, is seen as just that.
    """
    size = len(old)
    if list(new[:size]) == list(old):
        return [*range(size), *[None] * (len(new) - size)]
    if list(new[len(new) - size :]) == list(old):
        return [*[None] * (len(new) - size), *range(size)]
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    middle = _aligned(old[head : size - tail], new[head : len(new) - tail])
    return [
        *range(head),
        *(None if at is None else at + head for at in middle),
        *range(size - tail, size),
    ]


def pairs(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """New line -> old line that it corrects, in order; for short stretches only."""
    if len(old) * len(new) > _MOST_PAIRS:
        return {}
    found: dict[int, int] = {}
    start = 0
    for at, line in enumerate(new):
        for candidate in range(start, len(old)):
            if alike([old[candidate]], [line]):
                found[at] = candidate
                start = candidate + 1
                break
    return found


def _ratio(one: Sequence[Hashable], other: Sequence[Hashable]) -> bool:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return False
    return matcher.ratio() >= ALIKE


def _common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _aligned(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    counts = Counter(old)
    if sum(counts[item] for item in new) > _MOST_EQUALS:
        return _next_equal(old, new)
    found: list[int | None] = [None] * len(new)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            found[block.b + step] = block.a + step
    return found


def _next_equal(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    """A coarse alignment in linear time, for texts of the same lines over and over."""
    places: dict[Hashable, list[int]] = {}
    for at in range(len(old) - 1, -1, -1):
        places.setdefault(old[at], []).append(at)
    found: list[int | None] = []
    last = -1
    for item in new:
        waiting = places.get(item, [])
        while waiting and waiting[-1] <= last:
            waiting.pop()
        last = waiting[-1] if waiting else last
        found.append(waiting.pop() if waiting else None)
    return found
