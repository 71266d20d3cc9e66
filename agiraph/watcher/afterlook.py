"""A new folder is looked at once more, a second after its watch stands.

What is written into it while it is armed may be heard by nobody, and the look that
follows the arming may come in between two of its files.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

AFTER: Final = 1.0  # seconds
NEW: Final = 60.0  # seconds since a folder last changed; older ones need no second look


class Afterlook:
    """Whom to look at once more, and when. Times are of a monotonic clock."""

    def __init__(self) -> None:
        """Nobody yet."""
        self._due: deque[tuple[float, frozenset[str]]] = deque()

    def want(self, names: Iterable[str], now: float) -> None:
        """Some groups have new folders, whose watches stand now."""
        wanted = frozenset(names)
        if wanted:
            self._due.append((now + AFTER, wanted))

    def due(self, now: float) -> frozenset[str]:
        """Whom to look at now; each is told once."""
        found: frozenset[str] = frozenset()
        while self._due and self._due[0][0] <= now:
            found |= self._due.popleft()[1]
        return found

    def wait(self, now: float) -> float:
        """Seconds until somebody is due; endless where nobody is."""
        return max(self._due[0][0] - now, 0.0) if self._due else float("inf")


def is_new(path: str, now: float) -> bool:
    """Whether a folder was made, moved here or changed within the last minute.

    Args:
        path: of the folder.
        now: by the wall clock, in seconds.
    """
    try:
        return abs(now - os.lstat(path).st_ctime) <= NEW
    except OSError:
        return False
