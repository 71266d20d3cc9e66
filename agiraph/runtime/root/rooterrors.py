"""Words on what is wrong at the root of the tree, each said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import error_page, log_words
from agiraph.errors import NotThere
from agiraph.model.layout import error_file
from agiraph.model.names import folded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePosixPath

    from agiraph.core.codec.report import Problem
    from agiraph.runtime.world import World


class RootErrors:
    """Tells the daemon's log, and writes the error page of agiraph.yaml."""

    def __init__(self, world: World) -> None:
        """Nothing has been said yet."""
        self._world = world
        self._said: set[str] = set()

    def say(self, words: str) -> None:
        """Say something once."""
        if words not in self._said:
            self._said.add(words)
            self._world.remark(words)

    def without_twins(self, names: list[str]) -> list[str]:
        """The names without those that another has taken but for case; said once."""
        kept: dict[str, str] = {}
        for name in sorted(names):
            first = kept.setdefault(folded(name), name)
            if first != name:
                self.say(
                    f"the folder {name!r} is left alone: {first!r} has that name, "
                    "but for case; rename one of them"
                )
        return list(kept.values())

    async def rejected(
        self, path: PurePosixPath, problems: Sequence[Problem], in_force: str
    ) -> None:
        """The settings were not accepted; what was in force stays."""
        page = error_page(path, problems, in_force)
        await self._world.write(error_file(path), page.encode())
        self._world.remark(log_words(path, problems))

    async def mended(self, path: PurePosixPath) -> None:
        """The settings are good: take the error page away."""
        page = error_file(path)
        try:
            if self._world.reader.entry(page) is not None:
                await self._world.durably(lambda: self._world.pen.remove(page))
        except NotThere:
            return
