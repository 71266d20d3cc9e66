"""Archives are deleted where `keep: {archives: …}` says so, and nowhere else.

What was spent is not: budgets are worked out from it.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING

from agiraph.core.packed import HEADER, made_at
from agiraph.core.retention import is_archive
from agiraph.errors import AgiraphError
from agiraph.model.layout import put_away
from agiraph.runtime.parts import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.layout import Home
    from agiraph.ports import Attic
    from agiraph.runtime.world import World


class Archives:
    """Deletes archives that were made long enough ago."""

    def __init__(self, world: World) -> None:
        """In the tree of `world`."""
        self._world = world

    async def due(self, home: Home) -> list[str]:
        """The archives whose time is over."""
        if self._world.settings.keep.archives == inf:
            return []
        return await asyncio.to_thread(lambda: sorted(self._due(home)))

    def _due(self, home: Home) -> Iterator[str]:
        reader = self._world.reader
        before = self._world.now().timestamp() - self._world.settings.keep.archives
        shelves = (home.archive, home.talks_away)
        for shelf in (*shelves, put_away(home.events), put_away(home.fired)):
            for name in filter(is_archive, names(reader, shelf)):
                try:
                    header = reader.part(shelf / name, offset=0, limit=HEADER)
                except AgiraphError:
                    continue
                made = made_at(header)
                if made is not None and made <= before:
                    yield str((shelf / name).relative_to(home.path))

    async def put_away(self, home: Home, attic: Attic, name: str) -> str:
        """Delete one of them."""
        del attic
        await self._world.pen.remove(home.path / name)
        return f"{name} is deleted, as keep.archives in agiraph.yaml says"
