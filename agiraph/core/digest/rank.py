"""Which sentences of a text are its most central ones.

A graph-based ranking after R. Mihalcea and P. Tarau, "TextRank: Bringing Order into
Text", EMNLP 2004: sentences are the nodes, the words that two of them share, divided
by the logarithms of their lengths, weigh the edge between them, and a sentence is
as central as the sentences that lean on it (PageRank, Brin and Page 1998).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DAMPING = 0.85
_ROUNDS = 60
_CLOSE_ENOUGH = 1e-6
# The graph grows with the square of its nodes, so a long text is ranked by parts first.
_LARGEST_GRAPH = 240
_KEPT_OF_A_PART = 12
# Of two sentences that share more of their words than this, only the better is taken.
_TOO_ALIKE = 0.6

Edges = list[dict[int, float]]


def central(bags: Sequence[frozenset[str]], wanted: int) -> list[int]:
    """The places of the most central sentences, the best first.

    Args:
        bags: the words of each sentence, in the order of the text; an empty one is
            never chosen.
        wanted: how many at most.
    """
    first = {bag: at for at, bag in reversed(tuple(enumerate(bags))) if bag}
    places = sorted(first.values())
    while len(places) > _LARGEST_GRAPH:
        kept: list[int] = []
        for start in range(0, len(places), _LARGEST_GRAPH):
            part = places[start : start + _LARGEST_GRAPH]
            kept.extend(_ranked(bags, part)[:_KEPT_OF_A_PART])
        places = sorted(kept)
    return _unlike(bags, _ranked(bags, places), wanted)


def scores(bags: Sequence[frozenset[str]]) -> list[float]:
    """How central each sentence is among all; the mean is 1."""
    edges = _edges(bags)
    sums = [sum(row.values()) for row in edges]
    ranks = [1.0] * len(bags)
    for _ in range(_ROUNDS):
        ranks, moved = _next(ranks, edges, sums)
        if moved < _CLOSE_ENOUGH:
            break
    return ranks


def _ranked(bags: Sequence[frozenset[str]], places: Sequence[int]) -> list[int]:
    ranks = scores([bags[place] for place in places])
    order = sorted(range(len(places)), key=lambda at: (-round(ranks[at], 9), at))
    return [places[at] for at in order]


def _edges(bags: Sequence[frozenset[str]]) -> Edges:
    """For each sentence its neighbours and how alike they are."""
    holders: Mapping[str, list[int]] = defaultdict(list)
    for at, bag in enumerate(bags):
        for word in bag:
            holders[word].append(at)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for word in sorted(holders):
        for pair in combinations(holders[word], 2):
            shared[pair] += 1
    edges: Edges = [{} for _ in bags]
    for (one, other), count in shared.items():
        weight = count / (log(len(bags[one]) + 1) + log(len(bags[other]) + 1))
        edges[one][other] = weight
        edges[other][one] = weight
    return edges


def _next(
    ranks: Sequence[float], edges: Edges, sums: Sequence[float]
) -> tuple[list[float], float]:
    """One round of the power iteration, and the largest change in it."""
    given = [
        rank / total if total else 0.0 for rank, total in zip(ranks, sums, strict=True)
    ]
    fresh = [
        (1 - _DAMPING)
        + _DAMPING * sum(weight * given[other] for other, weight in row.items())
        for row in edges
    ]
    moved = max((abs(a - b) for a, b in zip(ranks, fresh, strict=True)), default=0.0)
    return fresh, moved


def _unlike(
    bags: Sequence[frozenset[str]], order: Sequence[int], wanted: int
) -> list[int]:
    chosen: list[int] = []
    for place in order:
        if len(chosen) == wanted:
            break
        if all(_overlap(bags[place], bags[other]) < _TOO_ALIKE for other in chosen):
            chosen.append(place)
    return chosen


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / min(len(one), len(other))
