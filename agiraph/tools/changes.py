"""Changes of one whole file that are harmless to repeat: by the hash before and after.

A restart may perform a change a second time without knowing whether the first time
succeeded. A file that already has the new hash is done; one that has the old hash is
changed; any other was changed by someone else and is left alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.given import text_of
from agiraph.core.scopes import Place
from agiraph.errors import NotPlain, Outside, ToolRefused
from agiraph.ports import EntryKind
from agiraph.tools.access import in_words, refusal

if TYPE_CHECKING:
    from agiraph.model.json import Json
    from agiraph.ports import Intent, Pen, Reader

LARGEST: Final = 8 * 1024 * 1024
_OLD_READ: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Old:
    """A file before its change; `data` is None where there is none."""

    data: bytes | None

    @property
    def sha(self) -> str:
        """Its sha256 in hex; empty where there is no file."""
        return "" if self.data is None else sha_of(self.data)


def sha_of(data: bytes) -> str:
    """The sha256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def encoded(text: str, name: str) -> bytes:
    """A text as the bytes of a file.

    Raises:
        ToolRefused: half a surrogate pair, which no file can hold, or too much.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as fault:
        raise ToolRefused(
            f"`{name}` holds a broken character at position {fault.start}; send it "
            "again without it."
        ) from None
    if len(data) > LARGEST:
        raise ToolRefused(
            f"`{name}` has {len(data):,} bytes; {LARGEST:,} are taken at most. Write "
            "it in several files, or make it with bash."
        )
    return data


def old_file(reader: Reader, place: Place) -> Old:
    """The file that stands at a place now.

    Raises:
        ToolRefused: something else stands there, or it is too large to be compared.
    """
    with in_words(place):
        entry = reader.entry(place.path, within=place.within)
        if entry is None:
            return Old(None)
        if entry.kind is not EntryKind.FILE:
            kind = "a folder" if entry.kind is EntryKind.FOLDER else "no regular file"
            raise ToolRefused(
                f"{place.shown} is {kind}{_of_link(entry.kind)}; choose another name."
            )
        if entry.size > _OLD_READ:
            raise ToolRefused(
                f"{place.shown} has {entry.size:,} bytes, too many to be replaced by "
                "this tool; take it away with bash first."
            )
        return Old(reader.read(place.path, limit=_OLD_READ, within=place.within))


def _of_link(kind: EntryKind) -> str:
    return " (a link; write to what it leads to)" if kind is EntryKind.LINK else ""


def planned(place: Place, old: Old, new: bytes) -> dict[str, Json]:
    """What must be known to do a change, or to see that it is done.

    Raises:
        ToolRefused: the file would become too large.
    """
    if len(new) > LARGEST:
        raise ToolRefused(
            f"{place.shown} would have {len(new):,} bytes; {LARGEST:,} is the most. "
            "Begin another file, or add to it with bash."
        )
    return {
        "place": str(place.path),
        "within": str(place.within),
        "shown": place.shown,
        "size": len(old.data or b""),
        "was": old.sha,
        "becomes": sha_of(new),
    }


def planned_place(intent: Intent) -> Place:
    """The place that an intent names."""
    return Place(
        PurePosixPath(text_of(intent, "place")),
        PurePosixPath(text_of(intent, "within")),
        text_of(intent, "shown"),
    )


def undone(reader: Reader, intent: Intent) -> Old | None:
    """The file to be changed, as it was planned; None when the change is done.

    Raises:
        ToolRefused: someone else changed it meanwhile.
    """
    place = planned_place(intent)
    now = old_file(reader, place)
    if now.sha == intent["becomes"]:
        return None
    if now.sha != intent["was"]:
        raise ToolRefused(
            f"{place.shown} was changed meanwhile by someone else; nothing was "
            "written. Read it again, then decide."
        )
    return now


async def put(pen: Pen, intent: Intent, new: bytes) -> None:
    """Write the file as planned.

    Raises:
        ToolRefused: the path leads out, or to no file.
        NotThere: the agent's home is gone: the loop's matter, not the model's.
        DiskRefused: the disk did not take it: likewise.
    """
    place = planned_place(intent)
    try:
        await pen.write(place.path, new, within=place.within)
    except (Outside, NotPlain) as fault:
        raise refusal(fault, place) from None
