"""Putting folders away as compressed archives, so that no crash can lose one.

The archive is written under a temporary name, brought onto the disk, read back and
compared with the folder byte by byte, and renamed. Only then the folder is renamed,
in one step, to a name that nobody reads, and taken away. An archive that holds anything
else is never written over.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import stat
import tarfile
import threading
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, BinaryIO, Final

from agiraph.core.retention import aside
from agiraph.errors import Changing
from agiraph.ports import PutAway
from agiraph.tree.disk import sync
from agiraph.tree.faults import told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

SUFFIX: Final = ".tar.gz"
_PIECE: Final = 1 << 20
_PLAIN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FRESH: Final = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST: Final = 1000


class DiskAttic:
    """The port `Attic`, below one root."""

    def __init__(self, beneath: Beneath) -> None:
        """Nothing is being put away."""
        self._beneath = beneath
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Break off what is being put away; it is begun anew another time."""
        self._stopped.set()

    def put_away(self, folder: PurePosixPath, into: PurePosixPath) -> PutAway:
        """See the port."""
        name = folder.name
        try:
            with self._beneath.folder(folder.parent) as above:
                with self._beneath.folder(into) as shelf:
                    found, before = self._archived(above, shelf, name)
                    size = os.stat(found, dir_fd=shelf).st_size
                gone = aside(name)
                os.rename(name, gone, src_dir_fd=above, dst_dir_fd=above)
                sync(above)
                shutil.rmtree(gone, dir_fd=above)
        except tarfile.TarError as error:
            raise Changing(f"{folder} could not be put away: {error}") from error
        except OSError as error:
            raise told(error, folder, writing=True) from error
        return PutAway(into / found, before, size)

    def clear(self, folder: PurePosixPath) -> None:
        """See the port."""
        try:
            with self._beneath.folder(folder.parent) as above:
                shutil.rmtree(folder.name, dir_fd=above)
        except OSError as error:
            raise told(error, folder, writing=True) from error

    def _archived(self, above: int, shelf: int, name: str) -> tuple[str, int]:
        """An archive on the disk that holds the folder; its name, the folder's size."""
        for number in range(1, _MOST):
            wanted = f"{name}{SUFFIX}" if number == 1 else f"{name}.{number}{SUFFIX}"
            try:
                fd = os.open(wanted, _PLAIN, dir_fd=shelf)
            except FileNotFoundError:
                return wanted, self._write(above, shelf, (name, wanted))
            with os.fdopen(fd, "rb") as old:
                size = self._compared(old, above, name)
            if size is not None:
                return wanted, size
        raise Changing(f"{name} has {_MOST - 1} archives that hold something else")

    def _write(self, above: int, shelf: int, names: tuple[str, str]) -> int:
        name, wanted = names
        made = f".{wanted}.tmp"
        with os.fdopen(os.open(made, _FRESH, 0o600, dir_fd=shelf), "r+b") as out:
            with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
                for member, content in _members(above, name):
                    tar.addfile(member, _Going(content, self._stopped))
            out.flush()
            sync(out.fileno())
            out.seek(0)
            size = self._compared(out, above, name)
        if size is None:
            os.unlink(made, dir_fd=shelf)
            raise Changing(f"{name} changed while it was put away")
        os.rename(made, wanted, src_dir_fd=shelf, dst_dir_fd=shelf)
        sync(shelf)
        return size

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
        going = _Going(other, self._stopped)
        while piece := one.read(_PIECE):
            if piece != going.read(len(piece)):
                return False
        return not going.read(1)


class _Going:
    """A file to read from, until it is to be broken off."""

    def __init__(self, content: BinaryIO | None, stopped: threading.Event) -> None:
        self._content = content
        self._stopped = stopped

    def read(self, size: int = -1) -> bytes:
        if self._stopped.is_set():
            raise Changing("broken off: the daemon ends")
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
    with os.fdopen(os.open(name, _PLAIN, dir_fd=folder), "rb") as found:
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
