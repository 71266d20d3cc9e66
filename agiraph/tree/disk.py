"""Steps on the disk that are whole or not at all, within a folder held open.

Temporary name, fsync, rename, fsync of the folder: simulated power losses on ext4, xfs
and btrfs left no bad file this way, and empty ones without either fsync. After a failed
fsync Linux forgets which pages were lost, so that a second fsync succeeds falsely; what
failed is therefore written again from the start, under a new name.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agiraph.errors import NotPlain
from agiraph.tree.beneath import libc

if TYPE_CHECKING:
    from collections.abc import Callable

_NOREPLACE: Final = 1  # renameat2(2)
_NOT_SUPPORTED: Final = frozenset(
    {errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK}
)
_COMPARED: Final = 16 * 1024 * 1024
_PIECE: Final = 1024 * 1024
LEFTOVER: Final = re.compile(r"\..+\.agi-\d+-[0-9a-f]+\.tmp")


def sync(fd: int) -> None:
    """Bring a file or folder onto the disk itself."""
    full = getattr(
        fcntl, "F_FULLFSYNC", None
    )  # macOS: fsync stops at the drive's cache
    if full is None:
        os.fsync(fd)
    else:
        fcntl.fcntl(fd, full)


def sync_data(fd: int) -> None:
    """Bring a file's content and length onto the disk, but not its times."""
    if sys.platform.startswith("linux"):
        os.fdatasync(fd)
    else:
        sync(fd)


def sync_below(folder: int) -> None:
    """Bring all that lies below a folder onto the disk.

    One flush of the whole file system costs less than a walk through a clone of a
    hundred thousand files.
    """
    syncfs = getattr(libc(), "syncfs", None)
    if syncfs is None:
        os.sync()
    elif syncfs(ctypes.c_int(folder)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def write_all(fd: int, data: bytes) -> None:
    """Write every byte: one call may take fewer."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def read_all(fd: int, limit: int) -> bytes:
    """The bytes of an open file from its start, one more than the limit at most."""
    pieces = []
    size = 0
    while size <= limit:
        piece = os.pread(fd, min(limit + 1 - size, 1 << 20), size)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def standing(folder: int, name: str, shown: object) -> os.stat_result | None:
    """The regular file of a name; None when nothing is there.

    Args:
        folder, name: where to look.
        shown: the path to name in the words of an error.

    Raises:
        NotPlain: a folder, a link or a device has the name.
    """
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode):
        return found
    raise NotPlain(f"{shown} is {kind_in_words(found.st_mode)}, not a regular file")


def kind_in_words(mode: int) -> str:
    """What a mode says that something is: a folder, a link, a pipe …."""
    kinds: tuple[tuple[Callable[[int], bool], str], ...] = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISREG, "a regular file"),
    )
    return next((words for is_kind, words in kinds if is_kind(mode)), "a device")


def replace(folder: int, name: str, data: bytes, shown: object) -> bool:
    """Put a whole file in place of what has the name; False when it was equal."""
    old = standing(folder, name, shown)
    if old is not None and _holds(folder, name, data, old.st_size):
        return False
    anew(folder, name, data, old)
    return True


def anew(folder: int, name: str, data: bytes, old: os.stat_result | None) -> None:
    """Put a whole file under a name, in place of what has it; even an equal one."""
    _replace(folder, name, lambda fd: write_all(fd, data), old)


def copy_anew(folder: int, name: str, fd: int) -> None:
    """Put a copy of an open file under a name, however large it is."""
    old = os.fstat(fd)

    def copy(new: int) -> None:
        offset = 0
        while piece := os.pread(fd, min(_PIECE, old.st_size - offset), offset):
            write_all(new, piece)
            offset += len(piece)

    _replace(folder, name, copy, old)


def _replace(
    folder: int, name: str, fill: Callable[[int], None], old: os.stat_result | None
) -> None:
    def put(temporary: str) -> None:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    _twice(lambda: _place(folder, name, fill, like=old, put=put))
    sync(folder)


def create(folder: int, name: str, data: bytes) -> bool:
    """Put a whole file where nothing is; False when something is there."""

    def put(temporary: str) -> None:
        rename_new(folder, temporary, folder, name)

    def fill(fd: int) -> None:
        write_all(fd, data)

    try:
        _twice(lambda: _place(folder, name, fill, like=None, put=put))
    except FileExistsError:
        return False
    sync(folder)
    return True


def rename_new(folder: int, name: str, to_folder: int, to_name: str) -> None:
    """Rename in one step, never over something.

    Raises:
        FileExistsError: something has the new name.
    """
    try:
        _renameat2(folder, name, to_folder, to_name)
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
        _rename_new_by_hand(folder, name, to_folder, to_name)


def _rename_new_by_hand(folder: int, name: str, to_folder: int, to_name: str) -> None:
    """Where renameat2 is missing: files by a second name, folders by a look first."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        try:
            os.link(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                raise
        else:
            os.unlink(name, dir_fd=folder)
            return
    # A folder, or a disk without hard links. Only Agiraph writes the names that it
    # moves to, so nothing of worth can appear between the look and the rename.
    with suppress(FileNotFoundError):
        os.stat(to_name, dir_fd=to_folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), to_name)
    os.rename(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)


def beside(name: str) -> str:
    """A new name for what is written beside a file until it is whole."""
    return f".{name[:40]}.agi-{os.getpid()}-{secrets.token_hex(6)}.tmp"


def _place(
    folder: int,
    name: str,
    fill: Callable[[int], None],
    *,
    like: os.stat_result | None,
    put: Callable[[str], None],
) -> None:
    temporary = beside(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        _fill(fd, fill, like)
        put(temporary)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _fill(fd: int, fill: Callable[[int], None], like: os.stat_result | None) -> None:
    try:
        fill(fd)
        if like is not None:
            take_after(fd, like)
        sync(fd)
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            os.close(fd)
        raise
    os.close(fd)  # may be where a network disk tells that it failed


def take_after(fd: int, old: os.stat_result) -> None:
    """Give an open file the owner and the mode that another one had."""
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        # A daemon run by root must not take a person's file away from them.
        with suppress(PermissionError):
            os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _holds(folder: int, name: str, data: bytes, size: int) -> bool:
    if size != len(data) or size > _COMPARED:
        return False
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=folder)
    except OSError:
        return False
    try:
        return read_all(fd, size) == data
    except OSError:
        return False
    finally:
        os.close(fd)


def _twice(step: Callable[[], None]) -> None:
    try:
        step()
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        step()


def _renameat2(folder: int, name: str, to_folder: int, to_name: str) -> None:
    call = getattr(libc(), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    done = call(
        ctypes.c_int(folder),
        ctypes.c_char_p(os.fsencode(name)),
        ctypes.c_int(to_folder),
        ctypes.c_char_p(os.fsencode(to_name)),
        ctypes.c_uint(_NOREPLACE),
    )
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), to_name)
