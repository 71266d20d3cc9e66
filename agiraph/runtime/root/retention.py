"""Retention: runs that ended long ago are put away as archives, a few at a time."""

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

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.layout import Home
    from agiraph.ports import Attic, PutAway
    from agiraph.runtime.root.seat import Seat
    from agiraph.runtime.world import World

EVERY: Final = 1800.0  # seconds between two passes
MOST: Final = 8  # runs of all agents that one pass puts away
FROM: Final = "from"  # beside a worker's files: the run that they are of


class Retention:
    """Puts old runs away, of every agent that is this daemon's."""

    def __init__(self, world: World, seats: Mapping[str, Seat]) -> None:
        """`seats`: the agents, as they come and go."""
        self._world = world
        self._seats = seats
        self._told: dict[str, str] = {}

    async def keep(self) -> None:
        """A pass now and then; for ever."""
        attic = self._world.attic
        if attic is None:
            return
        try:
            while True:
                await self._world.clock.sleep(EVERY)
                await self.once(attic)
        finally:
            attic.stop()

    async def once(self, attic: Attic) -> int:
        """One pass over all agents; how many runs it put away."""
        left = MOST
        for seat in tuple(self._seats.values()):
            desk = seat.agent.desk
            if left > 0 and seat.is_ours and not (desk.is_paused or desk.hold):
                left -= await self.of(desk.home, attic, left)
        return MOST - left

    async def of(self, home: Home, attic: Attic, most: int) -> int:
        """Put away the oldest runs of one agent; how many."""
        try:
            due = await asyncio.to_thread(self._due, home, most)
        except AgiraphError:
            return 0  # whoever looks at the agent tells of it
        done = 0
        for name in due:
            try:
                done += await self._one(home, attic, name)
                self._told.pop(f"{home.agent}/{name}", None)
            except AgiraphError as fault:
                self._tell(home, name, str(fault))
        return done

    def _due(self, home: Home, most: int) -> list[str]:
        """The folders in `runs/` to put away, and those that only have to go."""
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
        return found[:most]

    def _has_ended(self, home: Home, name: str) -> bool:
        world = self._world
        try:
            text = world.reader.read(home.run(name).record, limit=GOAL_BYTES).decode()
        except (AgiraphError, UnicodeDecodeError):
            return False
        found, keep = read_run(text), world.settings.keep.runs
        return isinstance(found, Good) and rules.is_due(found.value, world.now(), keep)

    async def _one(self, home: Home, attic: Attic, name: str) -> int:
        folder = home.runs / name
        if rules.is_aside(name):
            await asyncio.to_thread(attic.clear, folder)
            return 0
        await self._world.pen.folder(home.archive)
        await self._workers(home, name)
        made = await asyncio.to_thread(attic.put_away, folder, home.archive)
        self._world.remark(_words(home, name, made))
        return 1

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

    def _tell(self, home: Home, name: str, words: str) -> None:
        """Say once why a run could not be put away."""
        key = f"{home.agent}/{name}"
        if self._told.get(key) != words:
            self._told[key] = words
            self._world.remark(f"{home.agent}: runs/{name} is not put away: {words}")


def _words(home: Home, name: str, made: PutAway) -> str:
    return (
        f"{home.agent}: runs/{name} is put away as {made.archive} "
        f"({made.before:,} bytes, now {made.after:,})"
    )
