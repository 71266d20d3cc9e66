"""A shelf without an index: the port `Shelf` for trees that are on no disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.search import Section, best, sections

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agiraph.core.search import Leaf


class PlainShelf:
    """Reads everything for every search."""

    def best(
        self,
        name: str,
        leaves: Sequence[Leaf],
        read: Callable[[Leaf], str],
        query: str,
        most: int,
    ) -> tuple[Section, ...]:
        pool = [part for leaf in leaves for part in sections(leaf.shown, read(leaf))]
        return best(query, pool, most)
