"""A log without its beginning, made beside it and put in its place in one step."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agiraph.errors import Changing
from agiraph.tree.disk import beside, sync, take_after, write_all

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

_PIECE: Final = 1 << 20
_NEW: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL
_FLAGS: Final = _NEW | os.O_NOFOLLOW | os.O_CLOEXEC


class Shorter:
    """The new file, until it has the log's name or is dropped."""

    def __init__(self, beneath: Beneath, path: PurePosixPath, old: int) -> None:
        """Make it, empty.

        Args:
            beneath: the root.
            path: of the log.
            old: the log, open to read.
        """
        self._path, self._old = path, os.dup(old)
        self._name = beside(path.name)
        self._at = 0
        self._held = [self._old]
        try:
            with beneath.folder(path.parent) as folder:
                self._folder = os.dup(folder)
            self._held.append(self._folder)
            self._fd = os.open(self._name, _FLAGS, 0o600, dir_fd=self._folder)
        except BaseException:
            self._let_go()
            raise

    def begin(self, head: bytes, start: int, last: bytes) -> None:
        """Write the head, and what the log holds from `start` on by now.

        Raises:
            Changing: the log does not hold `last` before `start`.
        """
        if os.pread(self._old, len(last), start - len(last)) != last:
            raise Changing(f"{self._path} changed meanwhile")
        write_all(self._fd, head)
        self._at = start
        self.catch_up()
        take_after(self._fd, os.fstat(self._old))
        sync(self._fd)

    def catch_up(self) -> bool:
        """Write what was added to the log since; whether there was anything."""
        before = self._at
        while piece := os.pread(self._old, _PIECE, self._at):
            write_all(self._fd, piece)
            self._at += len(piece)
        return self._at > before

    def put(self) -> None:
        """Give it the log's name, with all that the log holds; on the disk then."""
        if self.catch_up():
            sync(self._fd)
        name = self._path.name
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._name = ""
        sync(self._folder)

    def taken(self) -> int | None:
        """The open file, once it has the log's name; whoever asks has to close it."""
        return None if self._name else self._fd

    def close(self) -> None:
        """Let go of what is held; take the new file away where it got no name."""
        if self._name:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
            os.close(self._fd)
        self._let_go()

    def _let_go(self) -> None:
        for fd in self._held:
            os.close(fd)
