"""The only way to change the tree, as the port `Pen`."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TypeVar

from agiraph.errors import AgiraphError, DiskFault, NotPlain, NotThere, Unreadable
from agiraph.tree import disk
from agiraph.tree.beneath import Beneath, parts_below
from agiraph.tree.faults import told
from agiraph.tree.folders import NewNames, Place, make_home, open_folder
from agiraph.tree.leftovers import remove_below, remove_leftovers
from agiraph.tree.openlogs import MOST_OPEN, OpenLogs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")

_THREADS: Final = 8
_LANES: Final = 64


def _keep_quiet(words: str) -> None:
    del words


class DiskPen:
    """Writes below one root; all that waits for the disk waits in its own threads.

    Attributes:
        repairs: what was mended when logs were opened, in words.
    """

    def __init__(
        self,
        root: str,
        *,
        on_repair: Callable[[str], None] = _keep_quiet,
        most_open: int = MOST_OPEN,
        by_kernel: bool | None = None,
    ) -> None:
        """Write below `root`.

        Args:
            root: the tree's root.
            on_repair: is told, in words, of each log whose torn end was cut off.
            most_open: logs that are held open at once.
            by_kernel: see Beneath.
        """
        self.repairs: list[str] = []
        self._on_repair = on_repair
        self._beneath = Beneath(root, by_kernel=by_kernel)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="pen")
        self._logs = OpenLogs(
            self._beneath, self._threads, on_repair=self._repaired, most=most_open
        )
        # A call that was cancelled goes on in its thread; the next one for the same
        # path waits for it here, so that the older content never lands last.
        self._lanes = [threading.Lock() for _ in range(_LANES)]
        self._new_names = NewNames(self._beneath)
        # Renamed, but it is not known whether that is on the disk.
        self._half_moved: set[tuple[PurePosixPath, PurePosixPath]] = set()

    async def write(
        self, path: PurePosixPath, data: bytes, *, within: PurePosixPath | None = None
    ) -> None:
        """Replace or make a file in one step; equal bytes are not written again.

        Raises:
            NotThere: the agent's home is gone.
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
        """

        def step(folder: int) -> bool:
            return disk.replace(folder, path.name, data, path)

        await self._in_folder(path, step, within)

    async def create(self, path: PurePosixPath, data: bytes) -> bool:
        """Like `write`, but only where nothing is; False when something is there."""

        def step(folder: int) -> bool:
            return disk.create(folder, path.name, data)

        return await self._in_folder(path, step)

    async def append(self, path: PurePosixPath, line: bytes, *, flush: bool) -> None:
        """Add whole lines to a log; with `flush`, on the disk when this returns.

        Raises:
            As `write` does; then nothing was added, or with DiskFault it is not known.
        """
        try:  # once for each line of every log, so without more around it
            self._logs.append(path, line)
        except (OSError, Unreadable) as error:
            raise _as_refused(error, path) from error
        if flush:
            await self.flush(path)

    async def flush(self, path: PurePosixPath) -> None:
        """Bring what was appended to a log onto the disk; many calls share one."""
        try:
            await self._logs.flush(path)
        except (OSError, Unreadable) as error:
            raise _as_refused(error, path) from error

    async def mend(self, path: PurePosixPath) -> None:
        """Cut off what a crash tore at the end of a log; nothing where none is torn.

        Raises:
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
        """
        with _refused(path):
            self._logs.mend(path)

    async def shorten(
        self, path: PurePosixPath, head: bytes, start: int, last: bytes
    ) -> None:
        """See the port."""
        try:
            await self._logs.shorten(path, head, start, last)
        except (OSError, Unreadable) as error:
            raise _as_refused(error, path) from error

    async def move(self, source: PurePosixPath, target: PurePosixPath) -> None:
        """Rename a file or folder in one step, durably.

        What lies in a folder is on the disk before it appears under its new name.

        Raises:
            Occupied: something has the new name; both were left alone.
            NotThere: nothing has the old name.
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
        """
        await self._run(target, lambda: self._move(source, target))

    async def remove(self, path: PurePosixPath) -> None:
        """Take a file away; nothing when it is not there.

        Raises:
            NotPlain: it is a folder.
        """
        await self._run(path, lambda: self._remove(path))

    async def folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> None:
        """Make a folder and what is missing above it; raises as `write` does."""

        def step() -> None:
            os.close(self._open_folder(path, within=within))
            self._new_names.bring(path)

        await self._run(path, step)

    async def make_home(self, agent: str) -> None:
        """Make an agent's folder, which no other method ever makes again."""
        path = PurePosixPath(agent)
        await self._run(path, lambda: make_home(self._beneath, agent, path))

    async def remove_leftovers(self) -> int:
        """Take away the temporary files of a daemon that was killed; how many."""
        return await self._in_thread(lambda: remove_leftovers(self._beneath))

    async def close(self) -> None:
        """End the threads and let go of the logs, flushed."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._threads.shutdown)
        self._logs.close()

    def _repaired(self, words: str) -> None:
        self.repairs.append(words)
        self._on_repair(words)

    async def _in_folder(
        self,
        path: PurePosixPath,
        step: Callable[[int], Result],
        within: PurePosixPath | None = None,
    ) -> Result:
        """Do a step in the folder of a path, which is made when it is missing."""
        _refuse_by_words(path, within)

        def whole() -> Result:
            inside = path.parent if within == path else within
            fd = self._open_folder(path.parent, within=inside)
            try:
                result = step(fd)
            except OSError:
                self._new_names.note(Place(path.parent, inside))
                raise
            finally:
                os.close(fd)
            self._new_names.bring(path.parent)
            return result

        return await self._run(path, whole)

    def _open_folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> int:
        return open_folder(
            self._beneath, path, note=self._new_names.note, within=within
        )

    async def _run(self, path: PurePosixPath, step: Callable[[], Result]) -> Result:
        def in_turn() -> Result:
            with self._lanes[hash(path) % _LANES], _refused(path):
                return step()

        return await self._in_thread(in_turn)

    async def _in_thread(self, step: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, step)

    def _move(self, source: PurePosixPath, target: PurePosixPath) -> None:
        _refuse_by_words(source)
        _refuse_by_words(target)
        with self._beneath.folder(source.parent) as old:
            if not self._is_half_moved(old, source, target):
                self._settle(old, source)
                new = self._open_folder(target.parent)
                try:
                    disk.rename_new(old, source.name, new, target.name)
                finally:
                    os.close(new)
                self._half_moved.add((source, target))
                self._new_names.note(Place(target.parent))
                self._new_names.note(Place(source.parent))
        self._new_names.bring(target.parent)
        self._new_names.bring(source.parent)
        self._half_moved.discard((source, target))

    def _is_half_moved(
        self, old: int, source: PurePosixPath, target: PurePosixPath
    ) -> bool:
        """Whether this is tried again after a rename that could not be flushed."""
        if (source, target) not in self._half_moved:
            return False
        try:
            os.stat(source.name, dir_fd=old, follow_symlinks=False)
        except FileNotFoundError:
            return True
        return False

    def _settle(self, folder: int, source: PurePosixPath) -> None:
        """Bring what is to be moved onto the disk first."""
        try:
            found = os.stat(source.name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError as gone:
            raise NotThere(f"{source} is not there") from gone
        if stat.S_ISDIR(found.st_mode):
            remove_below(self._beneath, source)
            with self._beneath.folder(source) as fd:
                disk.sync_below(fd)

    def _remove(self, path: PurePosixPath) -> None:
        _refuse_by_words(path)
        with suppress(FileNotFoundError, NotThere):
            with self._beneath.folder(path.parent) as folder:
                found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    raise NotPlain(f"{path} is a folder; only files are taken away")
                os.unlink(path.name, dir_fd=folder)
            self._new_names.note(Place(path.parent))
        self._new_names.bring(path.parent)


@contextmanager
def _refused(path: PurePosixPath) -> Iterator[None]:
    """Whatever the system refuses on the way to a write is a write refused."""
    try:
        yield
    except (OSError, Unreadable) as error:
        raise _as_refused(error, path) from error


def _as_refused(error: OSError | Unreadable, path: PurePosixPath) -> AgiraphError:
    if isinstance(error, OSError):
        return told(error, path, writing=True)
    return DiskFault(str(error))


def _refuse_by_words(path: PurePosixPath, within: PurePosixPath | None = None) -> None:
    parts_below(path, within)
    if not path.name:
        raise NotPlain("the root of the tree is no file")
