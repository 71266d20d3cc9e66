"""Putting things away as compressed archives, so that no crash can lose one.

The archive is written under a temporary name, brought onto the disk, read back and
compared byte by byte, and renamed. Only then a file is taken away; a folder is renamed
first, in one step, to a name that nobody reads. An archive that holds anything else is
never written over.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from agiraph.core.packed import unpacked
from agiraph.core.retention import aside
from agiraph.errors import Changing, Unreadable
from agiraph.ports import PutAway
from agiraph.tree.disk import sync
from agiraph.tree.faults import told
from agiraph.tree.packing import Source, pack, read
from agiraph.tree.tars import MOST, PLAIN, Tars

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

PACKED: Final = ".gz"


class DiskAttic:
    """The port `Attic`, below one root."""

    def __init__(self, beneath: Beneath) -> None:
        """Nothing is being put away."""
        self._beneath = beneath
        self._stopped = threading.Event()
        self._tars = Tars(self._go_on)

    def stop(self) -> None:
        """Break off what is being put away; it is begun anew another time."""
        self._stopped.set()

    def put_away(
        self, folder: PurePosixPath, into: PurePosixPath, at: float
    ) -> PutAway:
        """See the port."""
        name = folder.name
        try:
            with self._beneath.folder(folder.parent) as above:
                with self._beneath.folder(into) as shelf:
                    found, before = self._tars.archive(above, shelf, name, at)
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

    def put_file_away(
        self, path: PurePosixPath, into: PurePosixPath, at: float
    ) -> PutAway:
        """See the port."""
        with self._opened(path) as (fd, size):
            with self._shelf(into) as shelf:
                found = self._packed(Source(fd, 0, size, self._go_on), shelf, path, at)
                after = os.stat(found, dir_fd=shelf).st_size
            with self._beneath.folder(path.parent) as folder:
                is_, named = os.fstat(fd), os.lstat(path.name, dir_fd=folder)
                if is_.st_size != size or not os.path.samestat(is_, named):
                    raise Changing(f"{path} changed while it was put away")
                os.unlink(path.name, dir_fd=folder)
                sync(folder)
        return PutAway(into / found, size, after)

    def copy_away(
        self,
        path: PurePosixPath,
        span: tuple[int, int],
        archive: PurePosixPath,
        at: float,
    ) -> PutAway:
        """See the port."""
        with self._opened(path) as (fd, _), self._shelf(archive.parent) as shelf:
            source = Source(fd, *span, self._go_on)
            pack(source, shelf, archive, at)
            after = os.stat(archive.name, dir_fd=shelf).st_size
        return PutAway(archive, source.size, after)

    def held(self, path: PurePosixPath, start: int, archive: PurePosixPath) -> int:
        """See the port."""
        with self._opened(path) as (fd, size), self._opened(archive) as (packed, _):
            source = Source(fd, start, size, self._go_on)
            try:
                return source.common(unpacked(read(packed), archive)) or 0
            except Unreadable:
                return 0

    @contextmanager
    def _opened(self, path: PurePosixPath) -> Iterator[tuple[int, int]]:
        """A file open to read, and its size."""
        with told_of(path), self._beneath.folder(path.parent) as folder:
            fd = os.open(path.name, PLAIN, dir_fd=folder)
            try:
                yield fd, os.fstat(fd).st_size
            finally:
                os.close(fd)

    @contextmanager
    def _shelf(self, path: PurePosixPath) -> Iterator[int]:
        with told_of(path), self._beneath.folder(path) as shelf:
            yield shelf

    def _packed(
        self, source: Source, shelf: int, path: PurePosixPath, at: float
    ) -> str:
        """The name of an archive on the disk that holds a whole file."""
        for number in range(1, MOST):
            wanted = f"{path.name}{f'.{number}' if number > 1 else ''}{PACKED}"
            try:
                fd = os.open(wanted, PLAIN, dir_fd=shelf)
            except FileNotFoundError:
                pack(source, shelf, path.with_name(wanted), at)
                return wanted
            try:
                same = source.common(unpacked(read(fd), path)) == source.size
            except Unreadable:
                same = False
            finally:
                os.close(fd)
            if same:
                return wanted
        raise Changing(f"{path} has {MOST - 1} archives that hold something else")

    def _go_on(self) -> None:
        if self._stopped.is_set():
            raise Changing("broken off: the daemon ends")


@contextmanager
def told_of(path: PurePosixPath) -> Iterator[None]:
    """What the system refuses of a path, as our errors."""
    try:
        yield
    except OSError as error:
        raise told(error, path, writing=True) from error
