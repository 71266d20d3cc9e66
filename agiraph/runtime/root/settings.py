"""The tree's agiraph.yaml: looked at, and what it says judged, when it changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core.codec import read_tree_settings
from agiraph.core.codec.report import Good, Problem, Rejected
from agiraph.core.limits import GOAL_BYTES
from agiraph.model.agent import TreeSettings
from agiraph.model.layout import SETTINGS
from agiraph.ports import Seen

if TYPE_CHECKING:
    from agiraph.ports import Sight
    from agiraph.runtime.root.rooterrors import RootErrors
    from agiraph.runtime.world import World


class RootSettings:
    """Says which settings are to be in force.

    Attributes:
        mark: what stands for the file as it was judged last.
        again: seconds until another look is worth it, while it changes; else None.
    """

    def __init__(self, world: World, errors: RootErrors) -> None:
        """Nothing has been looked at yet."""
        self._world = world
        self._errors = errors
        self.mark = ""
        self.again: float | None = None

    async def look(self) -> TreeSettings | None:
        """The settings from now on; None where those in force stay."""
        sight = await asyncio.to_thread(
            lambda: self._world.reader.look(SETTINGS, limit=GOAL_BYTES)
        )
        self.again = sight.again if sight.seen is Seen.LATER else None
        mark = f"{sight.seen}{sight.sha}{sight.problem}"
        if self.again is not None or mark == self.mark:
            return None
        self.mark = mark
        if sight.seen is Seen.ABSENT:
            return TreeSettings()
        found = _judged(sight)
        if isinstance(found, Good):
            await self._errors.mended(SETTINGS)
            return found.value
        await self._errors.rejected(SETTINGS, found.problems)
        return None


def _judged(sight: Sight) -> Good[TreeSettings] | Rejected:
    if sight.seen is Seen.GOOD:
        return read_tree_settings(sight.text)
    return Rejected((Problem(sight.line or 0, 1, "", sight.problem, ""),))
