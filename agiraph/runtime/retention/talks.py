"""What compaction put aside long ago becomes an archive for each session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core.retention import talks
from agiraph.errors import NotThere
from agiraph.runtime.retention.words import away

if TYPE_CHECKING:
    from agiraph.model.layout import Home
    from agiraph.ports import Attic
    from agiraph.runtime.world import World


class Talks:
    """Puts the coordinator's old sessions away; a worker's go with their run."""

    def __init__(self, world: World) -> None:
        """In the tree of `world`."""
        self._world = world

    async def due(self, home: Home) -> list[str]:
        """The files in `conversations/` that have not changed for so long."""
        try:
            found = self._world.reader.entries(home.conversations)
        except NotThere:
            return []
        before = self._world.now().timestamp() - self._world.settings.keep.logs
        old = [entry.name for entry in found if entry.changed < before]
        return [f"conversations/{name}" for name in talks(old)]

    async def put_away(self, home: Home, attic: Attic, name: str) -> str:
        """Put one of them away."""
        world = self._world
        await world.pen.folder(home.talks_away)
        at = world.now().timestamp()
        made = await asyncio.to_thread(
            attic.put_file_away, home.path / name, home.talks_away, at
        )
        return away(f"{name} is", made)
