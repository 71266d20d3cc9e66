"""What the system's refusals mean, as our errors, in words for a person."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from agiraph.errors import (
    DiskFault,
    Full,
    NotPlain,
    NotThere,
    Occupied,
    Outside,
    ReadOnly,
    TooManyOpen,
    Unreadable,
)

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.errors import AgiraphError

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_HANDLE = frozenset({errno.EMFILE, errno.ENFILE})
_PASSING = _NO_HANDLE | {errno.ENOMEM}
_NO_FOLDER = frozenset({errno.ENOTDIR, errno.EISDIR})


def told(
    error: OSError, path: PurePosixPath | str, *, writing: bool = False
) -> AgiraphError:
    """The error to raise for what the system said of a path."""
    known = _about_the_path(error.errno or 0, path)
    if known is not None:
        return known
    why = os.strerror(error.errno) if error.errno else str(error)
    if writing:
        return _refused_writing(error.errno or 0, path, why)
    words = f"{path} cannot be read: {why.lower()}"
    return TooManyOpen(words) if error.errno in _PASSING else Unreadable(words)


def _about_the_path(number: int, path: PurePosixPath | str) -> AgiraphError | None:
    if number == errno.ENOENT:
        named = "the tree's folder" if str(path) == "." else path
        return NotThere(f"{named} is not there")
    if number == errno.EXDEV:
        return Outside(f"{path} leads out of the folder that it must stay in")
    if number == errno.ELOOP:
        return NotPlain(f"{path} is a link, or lies behind one; links are not followed")
    if number in _NO_FOLDER:
        return NotPlain(f"{path}: a folder and a file are confused on the way to it")
    if number == errno.ENAMETOOLONG:
        return NotPlain(f"{path}: the name is too long for this disk")
    if number in (errno.ENXIO, errno.ENODEV):
        return NotPlain(f"{path} is no regular file")
    if number in (errno.EEXIST, errno.ENOTEMPTY):
        return Occupied(f"{path} is there already; it was left alone")
    return None


def _refused_writing(number: int, path: PurePosixPath | str, why: str) -> AgiraphError:
    if number in _NO_ROOM:
        return Full(
            f"{path} was not written, the disk has no room ({why.lower()}); what was "
            "there before is still there. Make room to go on"
        )
    if number in _NO_RIGHT:
        return ReadOnly(
            f"{path} may not be written ({why.lower()}); give the user that runs "
            "Agiraph the right to write there"
        )
    if number in _NO_HANDLE:
        return DiskFault(
            f"{path} was not written, too many files are open ({why.lower()}); raise "
            "the limit (`ulimit -n`, LimitNOFILE of the service)"
        )
    return DiskFault(
        f"{path}: the disk failed while it was written ({why.lower()}); look at the "
        "disk"
    )
