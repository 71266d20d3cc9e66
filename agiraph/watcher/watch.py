"""The port `Watch`: from threads that listen to the disk onto the event loop."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, TypeVar

from agiraph.watcher.hinting import EVERYTHING, THE_ROOT
from agiraph.watcher.minder import Minder
from agiraph.watcher.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import PurePosixPath

__all__ = ["EVERYTHING", "THE_ROOT", "FolderWatch"]

Said = TypeVar("Said")


class FolderWatch:
    """The port `Watch` over watchfiles; its threads live while hints are asked for."""

    def __init__(
        self, root: str, *, report: Callable[[str], None], polling: bool = False
    ) -> None:
        """Watch below `root`.

        Args:
            root: the tree's root, which is always watched itself.
            report: is told in words, on the event loop, when watching fails.
            polling: look again and again instead of being told by the system: for
                network disks and folders shared into a container.
        """
        self._root = os.path.realpath(root)
        self._report = report
        self._polling = polling
        self._wanted = Wanted(self._root)
        self._pending: set[str] = set()
        self._ready = asyncio.Event()
        self._minder: Minder | None = None

    def folders(self, group: str, folders: Sequence[PurePosixPath]) -> None:
        """What is watched for one agent from now on.

        Once the watches stand, the group is hinted at, so that what changed in between
        is found. Saying the same again is cheap and mends a watch whose folder was
        made anew.
        """
        self._wanted.put(group, folders)
        if self._minder is not None:
            self._minder.wake()

    async def hints(self) -> AsyncIterator[frozenset[str]]:
        """Names of agents to look at; "" is the root itself, "*" is everything.

        The first is "*", as soon as watching has begun. For one listener only.
        """
        loop = asyncio.get_running_loop()
        self._minder = Minder(
            self._wanted,
            polling=self._polling,
            hint=lambda names: _tell(loop, self._hinted, names),
            report=lambda words: _tell(loop, self._report, words),
        )
        self._minder.start()
        try:
            while True:
                await self._ready.wait()
                self._ready.clear()
                names, self._pending = frozenset(self._pending), set()
                yield names
        finally:
            self._minder.stop()

    async def close(self) -> None:
        """End the threads; `hints` says no more."""
        if self._minder is not None:
            self._minder.stop()
            await asyncio.to_thread(self._minder.join)

    def _hinted(self, names: frozenset[str]) -> None:
        self._pending |= names
        self._ready.set()


def _tell(
    loop: asyncio.AbstractEventLoop, listener: Callable[[Said], None], said: Said
) -> None:
    try:
        loop.call_soon_threadsafe(listener, said)
    except RuntimeError:
        return  # the loop has ended: nobody listens any more
