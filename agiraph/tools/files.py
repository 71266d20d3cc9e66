"""The tools that read, write, edit and list files."""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import TYPE_CHECKING, Final

from agiraph.core import paging
from agiraph.core.edits import replaced
from agiraph.core.given import flag_of, number_of, text_of
from agiraph.core.scopes import Place, reading, writing
from agiraph.core.untrusted import refenced, source_of
from agiraph.errors import NotThere, ToolRefused
from agiraph.model.tool import ToolResult
from agiraph.ports import EntryKind
from agiraph.tools import changes
from agiraph.tools.access import at_hand, chunks, found, in_words, may_write
from agiraph.tools.schemas import files as schemas
from agiraph.tools.specs import check_spec

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.ports import Entry, Intent, Pen, Reader, Seat
    from agiraph.tools.seen import LastSeen

_COUNTED: Final = 8 * 1024 * 1024
_SMALL: Final = 64 * 1024
_LISTED: Final = 500


class ReadFile:
    """`read_file`: a page of a text."""

    spec = schemas.READ_FILE.spec
    effect = schemas.READ_FILE.effect
    who = schemas.READ_FILE.who

    def __init__(self, reader: Reader, seen: LastSeen) -> None:
        self._reader = reader
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Find the place that is meant."""
        reading(text_of(arguments, "path"), seat)
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show the page."""
        place = at_hand(self._reader, reading(text_of(intent, "path"), seat))
        offset, limit = number_of(intent, "offset") or 1, number_of(intent, "limit")
        entry = found(self._reader, place)
        if entry.size <= _SMALL:  # read sooner than another thread is woken
            text = _shown_page(self._reader, place, entry, offset, limit)
        else:
            text = await asyncio.to_thread(
                _shown_page, self._reader, place, entry, offset, limit
            )
        self._seen.note_read(seat, place, self._reader)
        return ToolResult(text)


def shown_page(
    reader: Reader, place: Place, offset: int = 1, limit: int | None = None
) -> str:
    """A page of a file, as a model sees it.

    Raises:
        ToolRefused: there is no such file or line.
    """
    return _shown_page(reader, place, found(reader, place), offset, limit)


def _shown_page(
    reader: Reader, place: Place, entry: Entry, offset: int, limit: int | None
) -> str:
    if entry.kind is EntryKind.FOLDER:
        raise ToolRefused(f"{place.shown} is a folder; list_files shows what is in it.")
    with in_words(place):
        pieces = chunks(reader, place, entry.size)
        first = next(pieces, b"")
        if not first:
            return f"[{place.shown} is empty]"
        sample = first[: paging.SAMPLE]
        kind = paging.binary_kind(sample)
        if kind is not None:
            return f"[{place.shown} is no text: {kind}, {entry.size:,} bytes]"
        page = paging.page(
            chain((first,), pieces),
            offset=offset,
            limit=limit,
            count_all=entry.size <= _COUNTED,
        )
    source = source_of(sample.decode("utf-8", "replace"))
    return _in_brackets(place, page, source)


def _in_brackets(place: Place, page: paging.Page, source: str | None) -> str:
    """The page with its notes; in a fence where its file begins with one."""
    if page.last < page.first:
        raise ToolRefused(
            f"{place.shown} has {page.total} lines; offset={page.first} is behind its "
            "end."
        )
    notes = list(page.remarks)
    total = "more" if page.total is None else str(page.total)
    if page.more:
        notes.append(
            f"lines {page.first}-{page.last} of {total}; "
            f"read on with offset={page.last + 1}"
        )
    elif page.first > 1:
        notes.append(f"lines {page.first}-{page.last} of {total}, the end")
    text = page.text if source is None else refenced(page.text, source)
    if not notes:
        return text
    gap = "" if text.endswith("\n") else "\n"
    return text + gap + "\n".join(f"[{note}]" for note in notes)


class WriteFile:
    """`write_file`: a whole file, or more at its end."""

    spec = schemas.WRITE_FILE.spec
    effect = schemas.WRITE_FILE.effect
    who = schemas.WRITE_FILE.who

    def __init__(self, reader: Reader, pen: Pen, seen: LastSeen) -> None:
        self._reader = reader
        self._pen = pen
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the place and note the file's hash before and after."""
        place = writing(text_of(arguments, "path"), seat)
        asked = may_write(seat, place, written_texts(arguments))
        old = changes.old_file(self._reader, place)
        new = written(arguments, old)
        if place.spec_of is not None:
            check_spec(self._reader, place, seat, old, new)
            self._seen.refuse_if_changed(seat, place, old)
        return {**arguments, **changes.planned(place, old, new), **asked}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write it, if that is not done yet."""
        old = changes.undone(self._reader, intent)
        if old is not None:
            new = written(intent, old)
            await changes.put(self._pen, intent, new)
            self._seen.note_if_shared(seat, changes.planned_place(intent), new)
        return ToolResult(written_words(intent))


def written_texts(arguments: JsonObject) -> dict[str, str]:
    """What a person is shown of a write: the content, and where it goes."""
    name = "added at the end" if flag_of(arguments, "append") else "content"
    return {name: text_of(arguments, "content")}


def written_words(intent: Intent) -> str:
    """What is said of a write, the first time and when it is repeated."""
    size = len(text_of(intent, "content").encode())
    if flag_of(intent, "append"):
        return f"Added {size:,} bytes to {intent['shown']}."
    return f"Wrote {intent['shown']}: {size:,} bytes."


def written(arguments: JsonObject, old: changes.Old) -> bytes:
    """The file's new bytes: the content, or what stands there with it behind."""
    data = changes.encoded(text_of(arguments, "content"), "content")
    return (old.data or b"") + data if flag_of(arguments, "append") else data


class EditFile:
    """`edit_file`: one passage of a file."""

    spec = schemas.EDIT_FILE.spec
    effect = schemas.EDIT_FILE.effect
    who = schemas.EDIT_FILE.who

    def __init__(self, reader: Reader, pen: Pen, seen: LastSeen) -> None:
        self._reader = reader
        self._pen = pen
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check that the passage stands there once; note the hash before and after."""
        place = writing(text_of(arguments, "path"), seat)
        texts = {key: text_of(arguments, key) for key in ("old", "new")}
        asked = may_write(seat, place, texts)
        found(self._reader, place)
        old = changes.old_file(self._reader, place)
        new = _edited(arguments, old, place.shown)
        if place.spec_of is not None:
            check_spec(self._reader, place, seat, old, new)
        return {**arguments, **changes.planned(place, old, new), **asked}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Replace it, if that is not done yet."""
        shown = text_of(intent, "shown")
        old = changes.undone(self._reader, intent)
        if old is not None:
            new = _edited(intent, old, shown)
            await changes.put(self._pen, intent, new)
            self._seen.note_if_shared(seat, changes.planned_place(intent), new)
        return ToolResult(f"Edited {shown}.")


def _edited(arguments: JsonObject, old: changes.Old, shown: str) -> bytes:
    if old.data is None or len(old.data) > changes.LARGEST:
        raise ToolRefused(f"{shown} is too large to be edited; use bash.")
    try:
        text = old.data.decode()
    except UnicodeDecodeError:
        raise ToolRefused(f"{shown} is no text in UTF-8; use bash.") from None
    new = replaced(
        text, text_of(arguments, "old"), text_of(arguments, "new"), shown=shown
    )
    return changes.encoded(new, "new")


class ListFiles:
    """`list_files`: names and sizes."""

    spec = schemas.LIST_FILES.spec
    effect = schemas.LIST_FILES.effect
    who = schemas.LIST_FILES.who

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Find the place that is meant."""
        _listed_place(arguments, seat)
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show the names."""
        place = _listed_place(intent, seat)
        return ToolResult(shown_list(self._reader, place))


def _listed_place(arguments: JsonObject, seat: Seat) -> Place:
    path = text_of(arguments, "path").strip()
    return reading("scratch" if path in ("", ".", "./") else path, seat)


def shown_list(reader: Reader, place: Place) -> str:
    """The names in a folder, as a model sees them; a missing scope is an empty one.

    Raises:
        ToolRefused: there is no such folder.
    """
    if place.path == place.within and "/" not in place.shown:
        with in_words(place):
            if reader.entry(place.path, within=place.within) is None:
                return f"{place.shown}/ is empty."
    entry = found(reader, place)
    if entry.kind is EntryKind.FILE:
        return f"{place.shown}  {entry.size:,} bytes (a file)"
    with in_words(place):
        entries = reader.entries(place.path, within=place.within)
    kept = [e for e in entries if place.names is None or e.name in place.names]
    away = _put_away(reader, place)
    if not kept and not away:
        return f"{place.shown}/ is empty."
    lines = [f"{place.shown}/", *(f"  {_line(entry)}" for entry in kept[:_LISTED])]
    lines += [f"  {name}  (put away; read it as any other)" for name in away]
    if len(kept) > _LISTED:
        lines.append(f"[{len(kept) - _LISTED:,} more names are not shown]")
    return "\n".join(lines)


def _put_away(reader: Reader, place: Place) -> list[str]:
    """The names of a folder's files that were put away, the newest of many."""
    if place.packed is None:
        return []
    try:
        found = reader.entries(place.packed, within=place.packed)
    except NotThere:
        return []
    names = [e.name.removesuffix(".gz") for e in found if e.name.endswith(".gz")]
    return names[-_LISTED:]


def _line(entry: Entry) -> str:
    match entry.kind:
        case EntryKind.FILE:
            return f"{entry.name}  {entry.size:,} bytes"
        case EntryKind.FOLDER:
            return f"{entry.name}/"
        case EntryKind.LINK:
            return f"{entry.name}  (a link)"
        case EntryKind.OTHER:
            return f"{entry.name}  (no regular file)"
