"""Whether a new home is still arriving: when something below it last changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.errors import AgiraphError
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.ports import Reader

MOST_FOLDERS = 200
FRESH_QUIET = 0.25
ARRIVING_QUIET = 2.0
SETTINGS_WAIT = 10.0  # a new home waits so long for tree settings that keep changing


def seconds_left(reader: Reader, home: PurePosixPath, now: float) -> float:
    """Seconds until a new home may be judged; 0 when it has been quiet long enough."""
    newest, copied = newest_change(reader, home)
    quiet = ARRIVING_QUIET if copied else FRESH_QUIET
    age = now - newest
    if age < 0 or age >= quiet:  # a clock that was set back must not hold it up
        return 0.0
    return quiet - age


def newest_change(reader: Reader, home: PurePosixPath) -> tuple[float, bool]:
    """When something below a home last changed, and whether it looks like a copy.

    Looks at so many folders at most: a home that brings a hundred thousand files is
    not walked through. A copy, a sync or a checkout brings names that begin with `_`,
    or `runs/`.
    """
    newest, folders = 0.0, [home]
    top = reader.entry(home)
    if top is not None:
        newest = top.changed
    copied = False
    for folder in folders:
        try:
            entries = reader.entries(folder)
        except AgiraphError:
            continue
        newest = max([newest, *(entry.changed for entry in entries)])
        if folder == home:
            copied = any(e.name[0] == "_" or e.name == "runs" for e in entries)
        inner = [folder / e.name for e in entries if e.kind is EntryKind.FOLDER]
        folders.extend(inner[: MOST_FOLDERS - len(folders)])
    return newest, copied
