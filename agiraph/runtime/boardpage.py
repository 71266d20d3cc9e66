"""The run's `_board.md`: written when what it says changes, counters now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.board_page import board_page
from agiraph.core.limits import COUNTERS_EVERY, GOAL_BYTES
from agiraph.errors import AgiraphError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath

    from agiraph.model.node import Node
    from agiraph.model.run import Run
    from agiraph.runtime.world import World


class BoardPage:
    """One run's page, and what was last written there."""

    def __init__(self, world: World) -> None:
        """Nothing has been written yet."""
        self._world = world
        self._page = self._lasting = ""
        self._counted = 0.0

    async def write(
        self, path: PurePosixPath, run: Run, nodes: Mapping[str, Node]
    ) -> None:
        """Bring the page up to date, if what it says has changed.

        What it counts is brought up to date with the rest, or now and then.
        """
        world, lasting = self._world, board_page(run, nodes, counters=False)
        late = world.clock.monotonic() - self._counted >= COUNTERS_EVERY
        if lasting == self._lasting and not late:
            return
        page = board_page(run, nodes)
        if page != (self._page or self._there(path)):
            await world.write(path, page.encode())
        self._page, self._lasting = page, lasting
        self._counted = world.clock.monotonic()

    def _there(self, path: PurePosixPath) -> str:
        """The page of an earlier daemon: what says the same stays as it is."""
        try:
            return self._world.reader.read(path, limit=GOAL_BYTES).decode()
        except (AgiraphError, UnicodeDecodeError):
            return ""
