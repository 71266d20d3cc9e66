"""Folders as tar archives: written beside, read back and compared, then named."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import tarfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, Final

from agiraph.errors import Changing
from agiraph.tree.disk import sync, take_after
from agiraph.tree.packing import PIECE, fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUFFIX: Final = ".tar.gz"
PLAIN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
MOST: Final = 1000  # archives with one name and different contents


class Tars:
    """Makes archives of folders, until told to break off."""

    def __init__(self, go_on: Callable[[], None]) -> None:
        """`go_on` raises where it is to be broken off."""
        self._go_on = go_on

    def archive(self, above: int, shelf: int, name: str, at: float) -> tuple[str, int]:
        """An archive on the disk that holds a folder; its name, and the folder's size.

        Args:
            above: where the folder lies, open; shelf: where the archive is to lie.
            name: of the folder.
            at: the moment to note in the archive, in seconds since 1970.
        """
        for number in range(1, MOST):
            wanted = f"{name}{SUFFIX}" if number == 1 else f"{name}.{number}{SUFFIX}"
            try:
                fd = os.open(wanted, PLAIN, dir_fd=shelf)
            except FileNotFoundError:
                return wanted, self._write(above, shelf, (name, wanted), at)
            with os.fdopen(fd, "rb") as old:
                size = self._compared(old, above, name)
            if size is not None:
                return wanted, size
        raise Changing(f"{name} has {MOST - 1} archives that hold something else")

    def _write(self, above: int, shelf: int, names: tuple[str, str], at: float) -> int:
        name, wanted = names
        with fresh(shelf, wanted) as (fd, made):
            with os.fdopen(fd, "r+b", closefd=False) as out:
                size = self._packed(out, above, name, at)
            if size is None:
                raise Changing(f"{name} changed while it was put away")
            os.rename(made, wanted, src_dir_fd=shelf, dst_dir_fd=shelf)
        sync(shelf)
        return size

    def _packed(self, out: BinaryIO, above: int, name: str, at: float) -> int | None:
        """Write the archive; as `_compared`."""
        with (
            gzip.GzipFile("", "wb", 6, out, mtime=at) as packer,
            tarfile.open(fileobj=packer, mode="w") as tar,
        ):
            for member, content in _members(above, name):
                tar.addfile(member, _Going(content, self._go_on))
        out.flush()
        take_after(out.fileno(), os.lstat(name, dir_fd=above))
        os.fchmod(out.fileno(), 0o600)  # it holds files that not all may read
        sync(out.fileno())
        out.seek(0)
        return self._compared(out, above, name)

    def _compared(self, archive: IO[bytes], above: int, name: str) -> int | None:
        """The size of a folder that an archive holds exactly; None: it does not."""
        size = 0
        try:
            with tarfile.open(fileobj=archive, mode="r:gz") as tar:
                for member, content in _members(above, name):
                    kept = tar.next()
                    if kept is None or _face(kept) != _face(member):
                        return None
                    inside = tar.extractfile(kept) if kept.isreg() else None
                    if not self._same(inside, content):
                        return None
                    size += member.size
                return size if tar.next() is None else None
        except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError):
            return None

    def _same(self, one: IO[bytes] | None, other: BinaryIO | None) -> bool:
        if one is None or other is None:
            return other is None
        going = _Going(other, self._go_on)
        while piece := one.read(PIECE):
            if piece != going.read(len(piece)):
                return False
        return not going.read(1)


class _Going:
    """A file to read from, until it is to be broken off."""

    def __init__(self, content: BinaryIO | None, go_on: Callable[[], None]) -> None:
        self._content = content
        self._go_on = go_on

    def read(self, size: int = -1) -> bytes:
        self._go_on()
        return self._content.read(size) if self._content else b""


def _face(member: tarfile.TarInfo) -> tuple[str, bytes, str, int]:
    return member.name, member.type, member.linkname, member.size


def _members(
    above: int, name: str
) -> Iterator[tuple[tarfile.TarInfo, BinaryIO | None]]:
    """Everything in a folder in a fixed order, with its content; no link is followed.

    What has no content to keep is left out: sockets, pipes.
    """
    if not stat.S_ISDIR(os.lstat(name, dir_fd=above).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
    for here, folders, files, fd in os.fwalk(name, dir_fd=above, onerror=_raise):
        folders.sort()
        yield _info(here, os.stat(fd)), None
        for each in sorted([*folders, *files]):
            about = os.lstat(each, dir_fd=fd)
            info = _info(f"{here}/{each}", about)
            if stat.S_ISLNK(about.st_mode):
                info.type = tarfile.SYMTYPE
                info.linkname = os.readlink(each, dir_fd=fd)
                yield info, None
            elif stat.S_ISREG(about.st_mode):
                with _content(each, fd) as content:
                    info.size = os.fstat(content.fileno()).st_size
                    yield info, content


@contextmanager
def _content(name: str, folder: int) -> Iterator[BinaryIO]:
    with os.fdopen(os.open(name, PLAIN, dir_fd=folder), "rb") as found:
        yield found


def _info(path: str, about: os.stat_result) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.mode = stat.S_IMODE(about.st_mode)
    info.mtime = about.st_mtime
    info.uid, info.gid = about.st_uid, about.st_gid
    if stat.S_ISDIR(about.st_mode):
        info.type = tarfile.DIRTYPE
    return info


def _raise(error: OSError) -> None:
    raise error
