"""Making folders below the root, but never the home of an agent that was deleted."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from agiraph.errors import NotThere
from agiraph.model.layout import ARCHIVE, MACHINE
from agiraph.tree.beneath import FOLDER
from agiraph.tree.disk import sync
from agiraph.tree.faults import told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

_OURS = frozenset({MACHINE.name, ARCHIVE.name})


class Place(NamedTuple):
    """A folder, and the folder that the way to it may not leave."""

    path: PurePosixPath
    within: PurePosixPath | None = None


class NewNames:
    """Folders that got or lost a name which may not be on the disk yet.

    A name is safe only when the folder that holds it has been brought onto the disk.
    What failed there stays noted, so that whoever tries again brings it along.
    """

    def __init__(self, beneath: Beneath) -> None:
        self._beneath = beneath
        self._noted: dict[Place, int] = {}
        self._count = 0
        self._lock = threading.Lock()

    def note(self, place: Place) -> None:
        """A name in a folder has changed just now."""
        with self._lock:
            self._count += 1
            self._noted[place] = self._count

    def bring(self, path: PurePosixPath) -> None:
        """Bring onto the disk what is noted of a folder and of those above it.

        The deepest first: of a move to further below, a power cut leaves the new name.

        Raises:
            DiskFault: the disk failed.
        """
        with self._lock:
            noted = [
                (place, count)
                for place, count in self._noted.items()
                if path == place.path or place.path in path.parents
            ]
        noted.sort(key=lambda each: -len(each[0].path.parts))
        for place, count in noted:
            sync_folder(self._beneath, place)
            with self._lock:
                if self._noted.get(place) == count:  # else there is a newer name
                    del self._noted[place]


def open_folder(
    beneath: Beneath,
    path: PurePosixPath,
    *,
    note: Callable[[Place], None],
    within: PurePosixPath | None = None,
) -> int:
    """A folder held open, made where it is missing; its descriptor.

    Args:
        beneath, path, within: where.
        note: is told of each folder that got a new name in it.

    Raises:
        NotThere: the first component, an agent's home, is gone.
        Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
    """
    try:
        return beneath.open(path, FOLDER, within=within)
    except NotThere:
        _refuse_gone_home(beneath, path)
    for part in (*reversed(path.parents), path):
        if part.parts:
            inside = within is not None and part.parent.is_relative_to(within)
            place = Place(part.parent, within if inside else None)
            _make(beneath, part, place, note)
    return beneath.open(path, FOLDER, within=within)


def make_home(beneath: Beneath, agent: str, path: PurePosixPath) -> None:
    """Make an agent's folder; nothing when it is there."""
    with beneath.folder(path.parent) as root:
        try:
            os.mkdir(agent, dir_fd=root)
        except FileExistsError:
            pass
        except OSError as error:
            raise told(error, path, writing=True) from error
        sync_folder(beneath, Place(path.parent))


def sync_folder(beneath: Beneath, place: Place) -> None:
    """Bring the names in a folder onto the disk; nothing when it is gone.

    Raises:
        DiskFault: the disk failed.
    """
    with suppress(NotThere), beneath.folder(place.path, within=place.within) as fd:
        try:
            sync(fd)
        except OSError as error:
            raise told(error, place.path, writing=True) from error


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
    beneath: Beneath, path: PurePosixPath, parent: Place, note: Callable[[Place], None]
) -> None:
    with beneath.folder(parent.path, within=parent.within) as fd:
        try:
            os.mkdir(path.name, dir_fd=fd)
        except FileExistsError:
            return
        except OSError as error:
            raise told(error, path, writing=True) from error
    note(parent)
