"""The tree's agiraph.yaml: judged when it changes, its last good version kept."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import read_tree_settings
from agiraph.core.codec.report import Good, Problem, Rejected
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import AgiraphError
from agiraph.model.layout import SETTINGS, SETTINGS_KEPT
from agiraph.ports import Seen

if TYPE_CHECKING:
    from agiraph.model.agent import TreeSettings
    from agiraph.ports import Sight
    from agiraph.runtime.root.rooterrors import RootErrors
    from agiraph.runtime.world import World

NONE_KNOWN: Final = (
    "agiraph.yaml, to be mended: it is not good, no good version of it is known, and "
    "without its budgets and permissions nothing starts"
)


class RootSettings:
    """Says which settings are to be in force.

    Attributes:
        mark: what stands for the file as it was judged last.
        again: seconds until another look is worth it, while it changes; else None.
        pending: whether a change was seen that is not judged yet, or not in force.
    """

    def __init__(self, world: World, errors: RootErrors) -> None:
        """Nothing has been looked at yet."""
        self._world = world
        self._errors = errors
        self._known = False
        self._stood: tuple[int, float] | None = None
        self.mark = ""
        self.again: float | None = None
        self.pending = False

    async def look(self) -> TreeSettings | None:
        """The settings from now on; None where those in force stay."""
        last = None if self._known else self._recalled()
        stands = self._stands()  # before: a change meanwhile is seen next time
        self.pending = self.pending or stands != self._stood
        self._stood = stands
        settings = await self._judge()
        self.pending = self.again is not None
        return last if settings is None else settings

    async def _judge(self) -> TreeSettings | None:
        """The settings in the file; None where it stays, changes or is not good."""
        sight = await asyncio.to_thread(
            lambda: self._world.reader.look(SETTINGS, limit=GOAL_BYTES)
        )
        self.again = sight.again if sight.seen is Seen.LATER else None
        mark = f"{sight.seen}{sight.sha}{sight.problem}"
        if self.again is not None or mark == self.mark:
            return None
        self.mark = mark
        found = _judged(sight)
        if isinstance(found, Good):
            await self._taken(sight.text)
            return found.value
        await self._refused(found.problems)
        return None

    def moved(self) -> bool:
        """Whether the file stands otherwise than at the last look."""
        return self._stands() != self._stood

    def _stands(self) -> tuple[int, float] | None:
        try:
            entry = self._world.reader.entry(SETTINGS)
        except AgiraphError:
            return None
        return None if entry is None else (entry.size, entry.changed)

    async def _taken(self, text: str) -> None:
        self._known = True
        await self._errors.mended(SETTINGS)
        if self._kept() != text:
            with suppress(AgiraphError):  # it costs nothing but this copy
                await self._world.pen.write(SETTINGS_KEPT, text.encode())
        if self._world.unset:
            self._world.unset = ""
            self._world.ring()

    async def _refused(self, problems: tuple[Problem, ...]) -> None:
        in_force = "the last good version"
        if not self._known:
            self._world.unset = NONE_KNOWN
            in_force = "nothing; no agent works until it is mended"
        await self._errors.rejected(SETTINGS, problems, in_force)

    # --- over a restart

    def _recalled(self) -> TreeSettings | None:
        """What an earlier daemon had in force."""
        text = self._kept()
        found = read_tree_settings(text) if text is not None else None
        self._known = isinstance(found, Good)
        return found.value if isinstance(found, Good) else None

    def _kept(self) -> str | None:
        try:
            return self._world.reader.read(SETTINGS_KEPT, limit=GOAL_BYTES).decode()
        except (AgiraphError, UnicodeDecodeError):
            return None


def _judged(sight: Sight) -> Good[TreeSettings] | Rejected:
    if sight.seen is Seen.BAD:
        return Rejected((Problem(sight.line or 0, 1, "", sight.problem, ""),))
    return read_tree_settings(sight.text)  # of one that is not there, too
