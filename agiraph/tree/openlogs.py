"""Logs held open for appending, and flushes of one log that share one fsync.

An append is one system call to see that the log is still the file of its name, and one
to write the line; it needs no thread. A flush waits for the disk in a thread.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from agiraph.errors import AgiraphError, Changing, NotPlain, NotThere
from agiraph.tree.disk import copy_anew, kind_in_words, sync_data, write_all
from agiraph.tree.faults import told
from agiraph.tree.folders import Place, open_folder, sync_folder
from agiraph.tree.shortening import Shorter
from agiraph.tree.tails import mend

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

MOST_OPEN: Final = 256
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


class _Flush(NamedTuple):
    """One flush under way: the appends that it covers, the folders it brings along."""

    done: asyncio.Future[None]
    covers: int
    folders: list[Place]


class _Log:
    """One open log; `written` and `durable` count appends.

    `folders` hold a name that is new, so that they must reach the disk with the log.
    """

    __slots__ = (
        "dev",
        "durable",
        "fd",
        "flushing",
        "folders",
        "ino",
        "path",
        "written",
    )

    def __init__(self, path: PurePosixPath, fd: int, folders: list[Place]):
        found = os.fstat(fd)
        self.path = path
        self.fd = fd
        self.dev, self.ino = found.st_dev, found.st_ino
        self.folders = folders
        self.written = 0
        self.durable = 0
        self.flushing: _Flush | None = None

    def move_to(self, fd: int) -> None:
        """Go on in another file, which has its name and all that it holds."""
        old, found = self.fd, os.fstat(fd)
        self.fd, self.dev, self.ino = fd, found.st_dev, found.st_ino
        if self.flushing is None:
            os.close(old)
        else:  # its thread may be about to use the number
            self.flushing.done.add_done_callback(lambda _: os.close(old))

    def is_at(self, path: str) -> bool:
        """Whether its name still leads to it: homes are moved, and deleted."""
        try:
            found = os.lstat(path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.dev, self.ino)


class OpenLogs:
    """The logs that are open; used from one event loop only."""

    def __init__(
        self,
        beneath: Beneath,
        threads: Executor,
        *,
        on_repair: Callable[[str], None],
        most: int = MOST_OPEN,
    ) -> None:
        self._beneath = beneath
        self._threads = threads
        self._on_repair = on_repair
        self._most = most
        self._logs: OrderedDict[PurePosixPath, _Log] = OrderedDict()
        # What was let go of before it was flushed, and the folders owed with it.
        self._owed: dict[PurePosixPath, list[Place]] = {}
        # A flush of these failed: which of their pages are on the disk is not known.
        self._doubted: set[PurePosixPath] = set()

    def append(self, path: PurePosixPath, line: bytes) -> None:
        """Add whole lines; a missing newline is added.

        Raises:
            NotThere: the agent's home is gone.
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say; nothing is added.
        """
        log = self._at_hand(path)
        whole = line if line.endswith(b"\n") else line + b"\n"
        try:
            before = os.fstat(log.fd).st_size
            try:
                write_all(log.fd, whole)
            except OSError:
                os.ftruncate(log.fd, before)  # no half line before the next one
                raise
        except OSError as error:
            self._drop(log)
            raise told(error, path, writing=True) from error
        log.written += 1

    def mend(self, path: PurePosixPath) -> None:
        """Open a log that is there, which cuts off its torn end; as `append` raises."""
        try:
            os.lstat(f"{self._beneath.root}/{path}")
        except OSError:
            return
        self._at_hand(path)

    async def flush(self, path: PurePosixPath) -> None:
        """Wait until what was appended so far is on the disk.

        Raises:
            DiskFault, Full: it is not known what of the last lines was kept.
        """
        log = self._logs.get(path)
        if log is None:
            if path not in self._owed:
                return
            log = self._at_hand(path)
        target = log.written
        while log.durable < target:
            if log.fd < 0:
                raise NotThere(f"{path} was taken away before it reached the disk")
            flush = log.flushing or self._start_flush(log)
            # Shielded: others wait for the same flush.
            await asyncio.shield(flush.done)
            # One that is done does not make us wait, so its callback may not have run.
            self._ended(log, flush)

    async def shorten(
        self, path: PurePosixPath, head: bytes, start: int, last: bytes
    ) -> None:
        """Put a line in the place of a log's beginning, in one step.

        What is added meanwhile waits for nothing but the step itself.

        Args:
            head: the line.
            start: the offset of the first line that stays.
            last: what stands before it.

        Raises:
            Changing: it stands nowhere there, or the log was replaced meanwhile.
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
        """
        log = self._at_hand(path)
        made = await self._shorter(log, head, start, last)
        try:
            if self._logs.get(path) is not log or not self._is_at_hand(log):
                raise Changing(f"{path} changed meanwhile")
            self._put(log, made)  # without a wait since the last look
        finally:
            made.close()

    async def _shorter(
        self, log: _Log, head: bytes, start: int, last: bytes
    ) -> Shorter:
        made = Shorter(self._beneath, log.path, log.fd)
        begun = asyncio.get_running_loop().run_in_executor(
            self._threads, self._told, lambda: made.begin(head, start, last), log.path
        )
        try:
            await asyncio.shield(begun)
        except asyncio.CancelledError:
            begun.add_done_callback(lambda _: made.close())
            raise
        except AgiraphError:
            made.close()
            raise
        return made

    def _put(self, log: _Log, made: Shorter) -> None:
        written = log.written
        try:
            self._told(made.put, log.path)
            log.durable = written
        except AgiraphError:
            log.folders.append(Place(log.path.parent))  # the next flush brings it
            raise
        finally:
            if (fd := made.taken()) is not None:
                log.move_to(fd)

    def close(self) -> None:
        """Let go of all, bringing onto the disk what was not flushed."""
        for log in list(self._logs.values()):
            if log.durable < log.written:
                with suppress(OSError):
                    sync_data(log.fd)
            self._drop(log)

    def _at_hand(self, path: PurePosixPath) -> _Log:
        log = self._logs.get(path)
        if log is not None:
            if self._is_at_hand(log):
                self._logs.move_to_end(path)
                return log
            self._drop(log)
        log = self._open(path)
        self._logs[path] = log
        self._make_room()
        return log

    def _is_at_hand(self, log: _Log) -> bool:
        return log.is_at(f"{self._beneath.root}/{log.path}")

    def _open(self, path: PurePosixPath) -> _Log:
        made: list[Place] = []
        try:
            folder = open_folder(self._beneath, path.parent, note=made.append)
            try:
                if path in self._doubted:
                    _write_anew(folder, path)
                    self._doubted.discard(path)
                fd, is_new = _open_log(folder, path)
            finally:
                os.close(folder)
        except (OSError, AgiraphError):
            if made:  # whoever opens it next finds them there, and not yet on the disk
                self._owed.setdefault(path, []).extend(made)
            raise
        try:
            cut = 0 if is_new else mend(fd, json_lines=path.suffix == ".jsonl")
        except OSError as error:
            os.close(fd)
            raise told(error, path, writing=True) from error
        if cut:
            self._on_repair(
                f"{path}: the end was torn by a crash; {cut} bytes after the last "
                "whole line were cut off"
            )
        log = _Log(path, fd, [*made, Place(path.parent)] if is_new else made)
        if path in self._owed:
            log.folders += self._owed.pop(path)
            log.written += 1
        return log

    def _make_room(self) -> None:
        while len(self._logs) > self._most:
            idle = (log for log in self._logs.values() if log.flushing is None)
            oldest = next(idle, None)
            if oldest is None:
                return
            if oldest.durable < oldest.written:
                self._owed[oldest.path] = oldest.folders
            self._drop(oldest)

    def _drop(self, log: _Log) -> None:
        if self._logs.get(log.path) is log:
            del self._logs[log.path]
        if log.fd >= 0 and log.flushing is None:
            os.close(log.fd)
            log.fd = -1

    def _start_flush(self, log: _Log) -> _Flush:
        folders, log.folders = log.folders, []

        def bring() -> None:
            sync_data(log.fd)
            for folder in folders:
                sync_folder(self._beneath, folder)

        done = asyncio.get_running_loop().run_in_executor(
            self._threads, self._told, bring, log.path
        )
        flush = _Flush(done, log.written, folders)
        log.flushing = flush
        done.add_done_callback(lambda _: self._ended(log, flush))
        return flush

    def _ended(self, log: _Log, flush: _Flush) -> None:
        """Note how a flush ended; only the first call for it does anything."""
        if log.flushing is not flush:
            return
        log.flushing = None
        if flush.done.cancelled() or flush.done.exception() is not None:
            # A second fsync would succeed falsely, by another descriptor too.
            self._owed[log.path] = flush.folders
            self._doubted.add(log.path)
            self._drop(log)
        else:
            log.durable = max(log.durable, flush.covers)
            if self._logs.get(log.path) is not log:
                self._drop(log)

    @staticmethod
    def _told(step: Callable[[], None], path: PurePosixPath) -> None:
        try:
            step()
        except OSError as error:
            raise told(error, path, writing=True) from error


def _write_anew(folder: int, path: PurePosixPath) -> None:
    """Write a log whole, as it reads now, into a new file of its name."""
    try:
        fd = os.open(path.name, _FLAGS, dir_fd=folder)
        try:
            copy_anew(folder, path.name, fd)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return  # it was taken away; there is nothing to be kept
    except OSError as error:
        raise told(error, path, writing=True) from error


def _open_log(folder: int, path: PurePosixPath) -> tuple[int, bool]:
    try:
        try:
            fd = os.open(path.name, _FLAGS, dir_fd=folder)
            is_new = False
        except FileNotFoundError:
            fd = os.open(path.name, _FLAGS | os.O_CREAT, 0o666, dir_fd=folder)
            is_new = True
    except OSError as error:
        raise told(error, path, writing=True) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise NotPlain(f"{path} is {kind_in_words(mode)}, not a regular file")
    return fd, is_new
