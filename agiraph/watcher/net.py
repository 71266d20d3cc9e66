"""A set of folders whose watches stand, and the thread that hears of them."""

from __future__ import annotations

import os
import stat
import threading
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STEP_MS: Final = 50  # sets the latency; 5 ms would cost 1 % of a core while idle
_BATCH_MS: Final = 200
_LONG_MS: Final = 600_000
_POLL_MS: Final = 300

Identity: TypeAlias = tuple[int, int]


class Net:
    """A set of folders whose watches stand, and the thread that hears of them."""

    def __init__(
        self,
        folders: Mapping[str, Identity],
        *,
        polling: bool,
        caught: Callable[[set[str]], None],
        torn: Callable[[Net, str], None],
    ) -> None:
        """Arm.

        Args:
            folders: those that may be read. (watchfiles can be told to leave out the
                others; but then it says nothing of a limit that is reached, either.)

        Raises:
            OSError: a folder is gone, or there are too many watches.
        """
        # watchfiles' public generators arm when they are first asked for a change, and
        # say nothing once they have; only this class tells when the watches stand.
        from watchfiles._rust_notify import RustNotify  # noqa: PLC0415 - slow to load

        self.folders = dict(folders)
        self._polling = polling
        self._doubtful: set[str] = set()
        self._caught = caught
        self._torn = torn
        self._stop = threading.Event()
        paths = sorted(folders)
        self._notify = RustNotify(paths, False, polling, _POLL_MS, False, False)  # noqa: FBT003 - positional in its signature
        self._thread = threading.Thread(target=self._listen, name="watch", daemon=True)
        self._thread.start()

    def holds(self, path: str, here: Identity) -> bool:
        """Whether the watch on a folder stands, and on the one that is there now."""
        if self._polling:
            return path in self.folders
        return self.folders.get(path) == here and path not in self._doubtful

    def doubt(self, path: str) -> bool:
        """A watched folder came or went: the watch may have gone with it.

        Moving a folder away and back ends its watch, though its number stays the same.
        """
        if self._polling or path not in self.folders:
            return False
        self._doubtful.add(path)
        return True

    def still_there(self) -> int:
        """How many of the watched folders are still what they were."""
        return sum(identity_of(path) == here for path, here in self.folders.items())

    def stop(self) -> None:
        """Have the thread end within a step; returns at once."""
        self._stop.set()

    def join(self) -> None:
        """Wait for the thread's end."""
        self._thread.join(timeout=1.0)

    def _listen(self) -> None:
        try:
            while not self._stop.is_set():
                heard = self._notify.watch(_BATCH_MS, _STEP_MS, _LONG_MS, self._stop)
                if isinstance(heard, set):
                    self._caught({path for _, path in heard})
        except (OSError, RuntimeError) as error:
            if not self._stop.is_set():
                self._torn(self, str(error))
        finally:
            self._notify.close()


def watchable(path: str) -> Identity | None:
    """The identity of a folder that may be read; None for any other."""
    here = identity_of(path)
    by_effect = os.access in os.supports_effective_ids
    return here if os.access(path, os.R_OK, effective_ids=by_effect) else None


def identity_of(path: str) -> Identity | None:
    """Device and number of a folder that is no link; None when it is not there."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None
