"""What the reader remembers of the files it looked at; bounded in number and size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import os
    from pathlib import PurePosixPath

    from agiraph.ports import Sight

Stamp: TypeAlias = tuple[int, int, int, int, int]
MOST_PATHS: Final = 16_384
MOST_TEXT: Final = 16 * 1024 * 1024
_LARGEST_TEXT: Final = 256 * 1024


def stamp_of(found: os.stat_result) -> Stamp:
    """What differs when a file was changed, except within one tick of its clock."""
    return (
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


@dataclass(frozen=True, slots=True)
class Known:
    """How a path was found last.

    Attributes:
        stamp: of the file; None while it is absent.
        since: monotonic seconds when it was first seen like this.
        sight: what was made of it, where that need not be found out again.
    """

    stamp: Stamp | None
    since: float
    sight: Sight | None = None

    @property
    def weight(self) -> int:
        """Characters that are held."""
        return len(self.sight.text) if self.sight else 0


class Memory:
    """Path to what is known of it; the longest unused is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[PurePosixPath, Known] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()  # files are looked at from many threads

    def get(self, path: PurePosixPath) -> Known | None:
        """What is known of a path."""
        with self._lock:
            known = self._known.get(path)
            if known is not None:
                self._known.move_to_end(path)
            return known

    def keep(self, path: PurePosixPath, known: Known) -> None:
        """Remember; a large text is left out."""
        if known.weight > _LARGEST_TEXT:
            known = Known(known.stamp, known.since)
        with self._lock:
            self._take(path)
            self._known[path] = known
            self._weight += known.weight
            while len(self._known) > MOST_PATHS or self._weight > MOST_TEXT:
                self._take(next(iter(self._known)))

    def forget(self, path: PurePosixPath) -> None:
        """Know nothing of a path."""
        with self._lock:
            self._take(path)

    def _take(self, path: PurePosixPath) -> None:
        known = self._known.pop(path, None)
        if known is not None:
            self._weight -= known.weight
