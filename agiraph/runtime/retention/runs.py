"""Runs that ended long ago become archives, the oldest first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agiraph.core import retention as rules
from agiraph.core.codec import read_run
from agiraph.core.codec.report import Good
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.names import folded, name_problem
from agiraph.runtime.folder import newest_run
from agiraph.runtime.material import Material
from agiraph.runtime.retention.words import away

if TYPE_CHECKING:
    from agiraph.model.layout import Home
    from agiraph.ports import Attic
    from agiraph.runtime.world import World

FROM: Final = "from"  # beside a worker's files: the run that they are of


class Runs:
    """Puts old runs away, and keeps at hand what their workers learned."""

    def __init__(self, world: World) -> None:
        """In the tree of `world`."""
        self._world = world

    async def due(self, home: Home) -> list[str]:
        """The folders in `runs/` to put away, and those that only have to go."""
        return await asyncio.to_thread(self._due, home)

    def _due(self, home: Home) -> list[str]:
        world = self._world
        try:
            names = [entry.name for entry in world.reader.entries(home.runs)]
        except NotThere:
            return []
        found = [name for name in names if rules.is_aside(name)]
        newest = newest_run(world.reader, home)
        if newest is not None:
            now, keep = world.now(), world.settings.keep.runs
            old = rules.candidates(names, newest, now, keep)
            found += [name for name in old if self._has_ended(home, name)]
        return found

    def _has_ended(self, home: Home, name: str) -> bool:
        world = self._world
        try:
            text = world.reader.read(home.run(name).record, limit=GOAL_BYTES).decode()
        except (AgiraphError, UnicodeDecodeError):
            return False
        found, keep = read_run(text), world.settings.keep.runs
        return isinstance(found, Good) and rules.is_due(found.value, world.now(), keep)

    async def put_away(self, home: Home, attic: Attic, name: str) -> str:
        """Put one of them away; the words for the log, empty where it only went."""
        folder, now = home.runs / name, self._world.now().timestamp()
        if rules.is_aside(name):
            await asyncio.to_thread(attic.clear, folder)
            return ""
        await self._world.pen.folder(home.archive)
        await self._workers(home, name)
        made = await asyncio.to_thread(attic.put_away, folder, home.archive, now)
        return away(f"runs/{name} is", made)

    async def _workers(self, home: Home, run: str) -> None:
        """What its workers learned stays at hand: they may be called again."""
        reader, pen = self._world.reader, self._world.pen
        material = Material(reader, home)
        try:
            found = reader.entries(home.run(run).workers)
        except NotThere:
            return
        for name in (each.name for each in found if name_problem(each.name) is None):
            old, kept = home.run(run).worker(name), home.kept_worker(folded(name))
            if material.text(kept.path / FROM) > run:
                continue
            for path in (old.identity, old.memory, old.notebook, old.history):
                if text := material.text(path):
                    await pen.write(kept.path / path.name, text.encode())
            await pen.write(kept.path / FROM, run.encode())
