"""Opening paths below the root so that no link, race or `..` leads out of it.

Linux resolves a path in one step with `openat2` and RESOLVE_BENEATH (openat2(2), since
5.6). Where that call is missing or forbidden, the path is walked one component at a
time, each opened from the one before with O_NOFOLLOW; links are then followed by
hand, and `..` goes back to a folder that is already held open. Checking a path first
and opening it afterwards would leave a moment in which a link can take its place.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from agiraph.errors import NotThere, Outside
from agiraph.tree.faults import told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import PurePosixPath

_OPENAT2: Final = 437  # the same number on every architecture
_NO_MAGICLINKS: Final = 0x02
_NO_SYMLINKS: Final = 0x04
_BENEATH: Final = 0x08
_MOST_LINKS: Final = 40  # as the kernel itself, path_resolution(7)
_MOST_TRIES: Final = 50

# O_NONBLOCK: opening a FIFO must not wait for its other end.
_ALWAYS: Final = os.O_CLOEXEC | os.O_NONBLOCK
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY
PASSING: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY


class Beneath:
    """Opens what lies below one folder, and nothing else."""

    def __init__(self, root: str, *, by_kernel: bool | None = None) -> None:
        """Name the folder; it is opened anew for each path, as it may be replaced.

        Args:
            root: where the tree is; the way to the root itself may use links.
            by_kernel: whether to use `openat2`; None asks the kernel once.
        """
        self.root = os.path.abspath(root)
        self._by_kernel = by_kernel

    def open(
        self,
        path: PurePosixPath,
        flags: int,
        mode: int = 0o666,
        *,
        within: PurePosixPath | None = None,
    ) -> int:
        """A descriptor of what a path leads to; never inherited, never waits.

        Args:
            path: relative to the root.
            flags: as for os.open.
            mode: the rights of a file that this makes.
            within: a folder that the path must stay in; links inside it are followed
                as long as they stay there. Without it no link is followed at all.

        Raises:
            NotThere, Outside, NotPlain, Unreadable: as they say.
            Full, ReadOnly, DiskFault: for flags that write.
        """
        rest = parts_below(path, within)
        writing = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        try:
            top = self._top(within)
            try:
                links = within is not None
                return self._resolve(top, rest, (flags, mode), links=links)
            finally:
                os.close(top)
        except OSError as error:
            raise told(error, path, writing=writing) from error

    @contextmanager
    def folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> Iterator[int]:
        """A folder held open; raises as `open` does."""
        fd = self.open(path, FOLDER, within=within)
        try:
            yield fd
        finally:
            os.close(fd)

    def _top(self, within: PurePosixPath | None) -> int:
        root = os.open(self.root, PASSING)
        if within is None or not within.parts:
            return root
        try:
            return self._resolve(root, list(within.parts), (PASSING, 0), links=False)
        finally:
            os.close(root)

    def _resolve(
        self, top: int, parts: list[str], how: tuple[int, int], *, links: bool
    ) -> int:
        flags, mode = how
        if not flags & getattr(os, "O_PATH", 0):
            flags |= _ALWAYS
        by_kernel = _kernel_can() if self._by_kernel is None else self._by_kernel
        if by_kernel:
            path = "/".join(parts) or "."
            return _open_by_kernel(top, path, (flags, mode), links=links)
        return _open_by_walking(top, parts, (flags, mode), links=links)


def parts_below(path: PurePosixPath, within: PurePosixPath | None) -> list[str]:
    """The components below the folder to stay in, when the words alone allow it.

    Raises:
        Outside, NotThere: they do not; what is on the disk was not looked at.
    """
    for way in (path,) if within is None else (path, within):
        if ".." in way.parts or way.is_absolute():
            raise Outside(f"{path} leads out of the folder that it must stay in")
        if "\0" in str(way) or not _encodable(str(way)):
            raise NotThere(f"{str(path)!r} cannot be the name of a file")
    if within is None:
        return list(path.parts)
    if not path.is_relative_to(within):
        raise Outside(f"{path} does not lie in {within}")
    return list(path.relative_to(within).parts)


def _encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


@functools.cache
def libc() -> ctypes.CDLL:
    """The system's own library, for calls that Python does not have."""
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _syscall() -> Callable[..., int]:
    """`syscall` of the C library, for the arguments of openat2."""
    call = libc()["syscall"]  # one of its own, so that no other one is changed
    call.restype = ctypes.c_long
    call.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    )
    return call


@functools.cache
def _kernel_can() -> bool:
    """Whether `openat2` is there and allowed: containers often forbid it."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        root = os.open("/", PASSING)
        try:
            os.close(_openat2(root, ".", (PASSING, 0), _BENEATH))
        finally:
            os.close(root)
    except OSError:
        return False
    return True


def _open_by_kernel(top: int, path: str, how: tuple[int, int], *, links: bool) -> int:
    resolve = _BENEATH | _NO_MAGICLINKS | (0 if links else _NO_SYMLINKS)
    for _ in range(_MOST_TRIES):
        try:
            return _openat2(top, path, how, resolve)
        except (BlockingIOError, InterruptedError):
            # EAGAIN: a rename crossed a `..` of a link, or the file is being leased;
            # both pass within microseconds.
            time.sleep(0.0005)
    raise OSError(errno.EXDEV, "it changes faster than it can be followed")


def _openat2(top: int, path: str, how: tuple[int, int], resolve: int) -> int:
    flags, mode = how
    made = mode if flags & os.O_CREAT else 0  # anything else is EINVAL
    asked = struct.pack("=QQQ", flags | os.O_CLOEXEC, made, resolve)  # struct open_how
    fd = _syscall()(_OPENAT2, top, os.fsencode(path), asked, len(asked))
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return int(fd)


def _open_by_walking(
    top: int, parts: list[str], how: tuple[int, int], *, links: bool
) -> int:
    flags, mode = how
    held = [os.dup(top)]
    todo = parts[::-1]
    hops = 0
    try:
        while todo:
            name = todo.pop()
            if name == "..":
                _go_back(held)
                continue
            target = _link(held[-1], name)
            if target is not None:
                hops += 1
                todo.extend(_steps(target, hops, allowed=links)[::-1])
            elif todo:
                step = PASSING | os.O_NOFOLLOW
                held.append(os.open(name, step, dir_fd=held[-1]))
            else:
                return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=held[-1])
        return os.open(".", flags & ~os.O_CREAT, dir_fd=held[-1])
    finally:
        for fd in held:
            os.close(fd)


def _go_back(held: list[int]) -> None:
    if len(held) == 1:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    os.close(held.pop())


def _link(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
            return None
        raise


def _steps(target: str, hops: int, *, allowed: bool) -> list[str]:
    if not allowed or hops > _MOST_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    return [step for step in target.split("/") if step not in ("", ".")]
