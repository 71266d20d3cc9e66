"""Taking away temporary files that a killed daemon left behind."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from agiraph.errors import AgiraphError
from agiraph.model.layout import MACHINE, ROOT, Home
from agiraph.tree.disk import LEFTOVER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.tree.beneath import Beneath

_RUNS: Final = 2  # the newest runs of an agent are the only ones still written to
_MOST_FOLDERS: Final = 500
# memory/ and _state/accepted/ have folders of their own; of a run, nodes/ and workers/
_DEPTH: Final = 3


def remove_leftovers(beneath: Beneath) -> int:
    """Remove them from the folders that are written to; how many there were.

    Only names that this program makes are touched, and only while no other daemon is
    at work on the tree.
    """
    removed = 0
    for folder in _written_folders(beneath):
        removed += _clean(beneath, folder)
    return removed


def remove_below(beneath: Beneath, folder: PurePosixPath) -> None:
    """Remove them from a folder and from what lies below it, before it is handed in.

    A clone of a hundred thousand files is not walked to its end: it was not written by
    this program.
    """
    left, waiting = _MOST_FOLDERS, [folder]
    while waiting and left:
        left -= 1
        here = waiting.pop()
        _clean(beneath, here)
        waiting += [here / name for name in _folders(beneath, here)]


def _written_folders(beneath: Beneath) -> Iterator[PurePosixPath]:
    yield ROOT
    yield MACHINE
    for name in _folders(beneath, ROOT):
        if name.startswith((".", "_")):
            continue
        home = Home(name)
        yield home.path
        yield from _below(beneath, home.state, _DEPTH)
        yield from _below(beneath, home.memories, _DEPTH)
        yield from _below(beneath, home.archive, _DEPTH)
        yield from (home.questions, home.dropbox, home.conversations)
        for run in sorted(_folders(beneath, home.runs))[-_RUNS:]:
            yield from _of_run(beneath, home.runs / run)
            yield from _below(beneath, home.accepted(home.runs / run), _DEPTH)


def _of_run(beneath: Beneath, run: PurePosixPath) -> Iterator[PurePosixPath]:
    yield run
    yield from (run / "_messages", run / "scratch", run / "outputs")
    for name in _folders(beneath, run / "nodes"):
        node = run / "nodes" / name
        yield from (node, node / "scratch", node / "outputs")
    for name in _folders(beneath, run / "workers"):
        worker = run / "workers" / name
        yield from (worker, worker / "conversations")


def _below(
    beneath: Beneath, folder: PurePosixPath, depth: int
) -> Iterator[PurePosixPath]:
    yield folder
    if depth > 1:
        for name in _folders(beneath, folder):
            yield from _below(beneath, folder / name, depth - 1)


def _folders(beneath: Beneath, folder: PurePosixPath) -> list[str]:
    try:
        with beneath.folder(folder) as fd, os.scandir(fd) as found:
            return [
                entry.name
                for entry in found
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
            ]
    except (AgiraphError, OSError):
        return []


def _clean(beneath: Beneath, folder: PurePosixPath) -> int:
    removed = 0
    try:
        with beneath.folder(folder) as fd, os.scandir(fd) as found:
            names = [entry.name for entry in found if LEFTOVER.fullmatch(entry.name)]
            for name in names:
                os.unlink(name, dir_fd=fd)
                removed += 1
    except (AgiraphError, OSError):
        return removed  # a folder that is gone, or cannot be written, holds nobody up
    return removed
