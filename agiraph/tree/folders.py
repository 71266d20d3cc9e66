"""Making folders below the root, but never the home of an agent that was deleted."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from agiraph.errors import NotPlain, NotThere
from agiraph.model.layout import ARCHIVE, MACHINE
from agiraph.tree.beneath import FOLDER
from agiraph.tree.disk import sync
from agiraph.tree.faults import told

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

_OURS = frozenset({MACHINE.name, ARCHIVE.name})


def open_folder(
    beneath: Beneath, path: PurePosixPath, *, within: PurePosixPath | None = None
) -> tuple[int, list[PurePosixPath]]:
    """A folder held open, made where it is missing.

    Returns:
        The descriptor, and the folders that got a new name in them: a name is safe
        only when the folder that holds it has been brought onto the disk.

    Raises:
        NotThere: the first component, an agent's home, is gone.
        Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
    """
    try:
        return beneath.open(path, FOLDER, within=within), []
    except NotThere:
        _refuse_gone_home(beneath, path)
    changed: list[PurePosixPath] = []
    for part in (*reversed(path.parents), path):
        if within is not None and not part.is_relative_to(within):
            _make(beneath, part, None, changed)
        elif part.parts:
            _make(beneath, part, within if part != within else None, changed)
    return beneath.open(path, FOLDER, within=within), changed


def make_home(beneath: Beneath, agent: str, path: PurePosixPath) -> None:
    """Make an agent's folder; nothing when it is there."""
    with beneath.folder(path.parent) as root:
        try:
            os.mkdir(agent, dir_fd=root)
        except FileExistsError:
            pass
        except OSError as error:
            raise told(error, path, writing=True) from error
        sync_folder(beneath, path.parent)


def sync_folder(beneath: Beneath, path: PurePosixPath) -> None:
    """Bring the names in a folder onto the disk; nothing when it is gone.

    Raises:
        DiskFault: the disk failed.
    """
    with suppress(NotThere), beneath.folder(path) as fd:
        try:
            sync(fd)
        except OSError as error:
            raise told(error, path, writing=True) from error


def _refuse_gone_home(beneath: Beneath, path: PurePosixPath) -> None:
    home = path.parts[0] if path.parts else ""
    if home in _OURS:
        return
    try:
        os.close(beneath.open(type(path)(home), FOLDER))
    except NotThere as gone:
        raise NotThere(
            f"{home or beneath.root} is gone, so {path} was not written; "
            "a deleted folder is never made again"
        ) from gone


def _make(
    beneath: Beneath,
    path: PurePosixPath,
    within: PurePosixPath | None,
    changed: list[PurePosixPath],
) -> None:
    if not path.parts:
        return
    parent = path.parent
    inside = within if within is not None and parent.is_relative_to(within) else None
    with beneath.folder(parent, within=inside) as fd:
        try:
            os.mkdir(path.name, dir_fd=fd)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno == errno.ENOTDIR:
                raise NotPlain(f"{parent} is a file, not a folder") from error
            raise told(error, path, writing=True) from error
    changed.append(parent)
