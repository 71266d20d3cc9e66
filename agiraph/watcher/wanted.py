"""Which folders each group wants watched, and which groups spoke lately."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from agiraph.model.layout import MACHINE
from agiraph.watcher.hinting import THE_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import PurePosixPath


class Wanted:
    """Which folders each group wants watched, and which groups spoke lately."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._folders: dict[str, tuple[str, ...]] = {
            THE_ROOT: (root, f"{root}/{MACHINE}")
        }
        self._spoke: set[str] = set()

    def put(self, group: str, folders: Sequence[PurePosixPath]) -> None:
        """Set a group's folders, relative to the root; none ends the group."""
        paths = [f"{self.root}/{folder}" for folder in folders if folder.parts]
        if group == THE_ROOT:
            paths += [self.root, f"{self.root}/{MACHINE}"]
        with self._lock:
            if paths:
                self._folders[group] = tuple(paths)
            else:
                self._folders.pop(group, None)
            self._spoke.add(group)

    def doubt(self, groups: Iterable[str]) -> None:
        """Have the folders of these groups compared with what is armed."""
        with self._lock:
            self._spoke.update(group for group in groups if group in self._folders)

    @property
    def has_news(self) -> bool:
        """Whether a group spoke since `lately` was called."""
        return bool(self._spoke)

    def lately(self) -> dict[str, tuple[str, ...]]:
        """The folders of the groups that spoke since the last call."""
        with self._lock:
            spoke, self._spoke = self._spoke, set()
            return {name: self._folders.get(name, ()) for name in spoke}

    def all(self) -> set[str]:
        """The folders of every group."""
        with self._lock:
            return {path for paths in self._folders.values() for path in paths}
