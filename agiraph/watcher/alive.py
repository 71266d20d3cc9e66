"""Proof that watching still works: a file of our own whose change must be heard.

The system drops events without a word when its queue is full or a disk is mounted over
the root, so silence proves nothing. A cookie is touched now and then; if nobody hears
of it, or watches are missing from what the kernel lists, everything is armed anew.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

COOKIE: Final = ".agiraph/cookie"
EVERY: Final = 60.0  # seconds between two proofs
PATIENCE: Final = 2.0  # seconds in which a cookie must be heard of
_FDINFO: Final = "/proc/self/fdinfo"


class Cookie:
    """Whether the last touch was heard."""

    def __init__(self, root: str) -> None:
        """Nothing was touched yet."""
        self.path = f"{root}/{COOKIE}"
        self._due = 0.0
        self._touched: float | None = None

    def heard(self) -> None:
        """The cookie's change has come through."""
        self._touched = None

    def missed(self, now: float) -> bool:
        """Touch it when it is time; whether an earlier touch was never heard."""
        if self._touched is not None and now - self._touched >= PATIENCE:
            self._touched = None
            self._due = now + EVERY
            return True
        if self._touched is None and now >= self._due:
            self._due = now + EVERY
            self._touched = now if _touch(self.path) else None
        return False

    def wait(self, now: float) -> float:
        """Seconds until it is worth another look."""
        due = self._due if self._touched is None else self._touched + PATIENCE
        return max(due - now, 0.0)


def _touch(path: str) -> bool:
    """Change a file, if that can be done: a full or read-only disk proves nothing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, 0o644)
        try:
            return os.write(fd, b"watching\n") > 0
        finally:
            os.close(fd)
    except OSError:
        return False


def watches() -> int | None:
    """How many watches the kernel lists for this process; None where it does not tell.

    Source: proc(5), fdinfo of inotify descriptors.
    """
    count = 0
    try:
        numbers = os.listdir(_FDINFO)
    except OSError:
        return None
    for number in numbers:
        with contextlib.suppress(OSError), open(f"{_FDINFO}/{number}", "rb") as file:
            count += file.read().count(b"inotify wd:")
    return count
