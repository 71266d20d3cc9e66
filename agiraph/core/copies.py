"""Copies that sync tools lay beside a file where two sides wrote at once."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD: Final = "conflict"


def copied(name: str, known: Iterable[str]) -> str:
    """The file of which a name is a conflict copy; empty where it is none.

    Syncthing writes `GOAL.sync-conflict-20261121-201403-ABCDEFG.md`, Dropbox and
    Nextcloud `GOAL (Ann's conflicted copy 2026-11-21).md`: the name, the word, the
    ending (docs.syncthing.net, "Conflicting Changes"; help.dropbox.com, "Conflicted
    copy").
    """
    if _WORD not in name.casefold():
        return ""  # as nearly always, and every name of a folder is asked about
    for each in known:
        stem, ending = PurePosixPath(each).stem, PurePosixPath(each).suffix
        inner = name.removeprefix(stem)
        if inner != name and name.endswith(ending) and _WORD in inner.casefold():
            return each
    return ""


def told(original: str) -> str:
    """The words on a conflict copy."""
    return (
        f"a conflict copy of {original}, which a sync tool made; it is not read, and "
        "both are kept. Take over by hand what you want of it, then delete it"
    )
