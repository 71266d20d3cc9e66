"""How much room the disk has on which a tree lies."""

from __future__ import annotations

import os

from agiraph.core.room import Room


class RealDisk:
    """The port `Disk`, by statvfs(3)."""

    def __init__(self, root: str) -> None:
        """The disk on which `root` lies."""
        self._root = root

    def room(self) -> Room:
        """What is left for us; a disk that does not count is not judged."""
        try:
            found = os.statvfs(self._root)
        except OSError:
            return Room(None, None)
        return Room(
            found.f_bavail * found.f_frsize if found.f_blocks else None,
            found.f_favail if found.f_files else None,
        )
