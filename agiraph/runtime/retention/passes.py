"""Retention: a pass over all agents now and then, which puts away a few things each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.errors import AgiraphError
from agiraph.runtime.retention.archives import Archives
from agiraph.runtime.retention.logs import Logs
from agiraph.runtime.retention.runs import Runs
from agiraph.runtime.retention.talks import Talks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from agiraph.model.layout import Home
    from agiraph.ports import Attic
    from agiraph.runtime.world import World

    class Kind(Protocol):
        """One kind of things that grow old."""

        async def due(self, home: Home) -> list[str]:
            """The names of those of an agent that are old enough, the oldest first."""

        async def put_away(self, home: Home, attic: Attic, name: str) -> str:
            """Do with one of them what is due; the words for the log, or none."""


EVERY: Final = 1800.0  # seconds between two passes
MOST: Final = 8  # things of all agents that one pass puts away


class Retention:
    """Puts away what has grown old, of every agent that is this daemon's."""

    def __init__(self, world: World, homes: Callable[[], Iterable[Home]]) -> None:
        """`homes`: of the agents whose things may be touched now."""
        self._world = world
        self._homes = homes
        self._kinds: tuple[Kind, ...] = (
            Runs(world),
            Logs(world),
            Talks(world),
            Archives(world),
        )
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
        """One pass over all agents; how many things it put away."""
        left = MOST
        for home in tuple(self._homes()):
            for kind in self._kinds:
                left -= await self._of(kind, home, attic, left)
        return MOST - left

    async def _of(self, kind: Kind, home: Home, attic: Attic, most: int) -> int:
        if most <= 0:
            return 0
        try:
            due = await kind.due(home)
        except AgiraphError:
            return 0  # whoever looks at the agent tells of it
        # What failed before comes last, or eight of them would stop all the others.
        due.sort(key=lambda name: f"{home.agent}/{name}" in self._told)
        done = 0
        for name in due[:most]:
            try:
                words = await kind.put_away(home, attic, name)
            except AgiraphError as fault:
                self._tell(home, name, str(fault))
                continue
            self._told.pop(f"{home.agent}/{name}", None)
            if words:
                self._world.remark(f"{home.agent}: {words}")
                done += 1
        return done

    def _tell(self, home: Home, name: str, words: str) -> None:
        """Say once why something could not be put away."""
        key = f"{home.agent}/{name}"
        if self._told.get(key) != words:
            self._told[key] = words
            self._world.remark(f"{home.agent}: {name} is not put away: {words}")
