"""Bytes of an open file as a gzip archive: written beside, compared, then named."""

from __future__ import annotations

import gzip
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from agiraph.core.packed import unpacked
from agiraph.errors import Changing, Unreadable
from agiraph.tree.disk import beside, rename_new, sync, take_after, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import PurePosixPath

PIECE: Final = 1 << 20
FRESH: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Source:
    """Some bytes of an open file, read a piece at a time until told to break off."""

    def __init__(
        self, fd: int, start: int, end: int, go_on: Callable[[], None]
    ) -> None:
        """`go_on` raises where it is to be broken off."""
        self._fd, self._start, self._end = fd, start, end
        self._go_on = go_on

    @property
    def size(self) -> int:
        """How many there are to be."""
        return self._end - self._start

    def about(self) -> os.stat_result:
        """Whose the file is, and who may read it."""
        return os.fstat(self._fd)

    def pieces(self) -> Iterator[bytes]:
        """All of them in order; fewer where the file is shorter."""
        at = self._start
        while at < self._end:
            self._go_on()
            piece = os.pread(self._fd, min(PIECE, self._end - at), at)
            if not piece:
                return
            yield piece
            at += len(piece)

    def common(self, others: Iterator[bytes]) -> int | None:
        """How many bytes others are, where these begin with them; else None."""
        at = self._start
        for piece in others:
            self._go_on()
            if os.pread(self._fd, len(piece), at) != piece:
                return None
            at += len(piece)
            if at > self._end:
                return None
        return at - self._start


def pack(source: Source, shelf: int, path: PurePosixPath, at: float) -> None:
    """Make an archive of bytes where nothing is; it is on the disk when this returns.

    Args:
        shelf: the folder, open.
        path: of the archive, for its name and for words.
        at: the moment to note in it, in seconds since 1970.

    Raises:
        Changing: the file changed meanwhile; nothing was made.
        FileExistsError: something has the archive's name.
    """
    with fresh(shelf, path.name) as (fd, made):
        if not _holds(fd, source, path, at):
            raise Changing(
                f"{path} was not made: what it was to hold changed meanwhile"
            )
        rename_new(shelf, made, shelf, path.name)
    sync(shelf)


def _holds(fd: int, source: Source, path: PurePosixPath, at: float) -> bool:
    """Write the archive; whether it reads as the source still does."""
    with gzip.GzipFile("", "wb", 6, _Raw(fd), mtime=at) as packer:
        for piece in source.pieces():
            packer.write(piece)
    take_after(fd, source.about())  # who could read the file can read the archive
    sync(fd)
    try:
        return source.common(unpacked(read(fd), path)) == source.size
    except Unreadable:
        return False


@contextmanager
def fresh(shelf: int, name: str) -> Iterator[tuple[int, str]]:
    """A new file, open, and its name beside the one that it is to have.

    It is taken away where its making fails: on a full disk, each try would leave one.
    """
    made = beside(name)
    fd = os.open(made, FRESH, 0o600, dir_fd=shelf)
    try:
        yield fd, made
    except BaseException:
        with suppress(OSError):
            os.unlink(made, dir_fd=shelf)
        raise
    finally:
        os.close(fd)


def read(fd: int) -> Iterator[bytes]:
    """An open file from its start to its end."""
    at = 0
    while piece := os.pread(fd, PIECE, at):
        yield piece
        at += len(piece)


class _Raw:
    """An open file to write to, as gzip wants it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, data: bytes) -> int:
        write_all(self._fd, data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""
