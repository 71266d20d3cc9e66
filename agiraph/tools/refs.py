"""The tool that reads what a node's spec refers to by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.arguments import nearest
from agiraph.core.given import text_of
from agiraph.core.paging import PAGE, SAMPLE, binary_kind
from agiraph.core.scopes import reading
from agiraph.errors import NotThere, ToolRefused
from agiraph.model.layout import Home
from agiraph.model.tool import ToolResult
from agiraph.tools.access import in_words
from agiraph.tools.files import shown_page
from agiraph.tools.schemas import files as schemas

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject
    from agiraph.ports import Intent, Reader, Seat

_LIMIT: Final = 4 * 1024 * 1024
_LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class _Entry:
    """One file of a ref: its path as a model names it, and its size in bytes."""

    path: str
    size: int


class ReadRef:
    """`read_ref`: the text of a ref's file, or of several while they are small."""

    spec = schemas.READ_REF.spec
    effect = schemas.READ_REF.effect
    who = schemas.READ_REF.who

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Find the ref by its name."""
        self._entries(text_of(arguments, "ref_name"), seat)
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show what it leads to."""
        name = text_of(intent, "ref_name")
        entries = self._entries(name, seat)
        if len(entries) == 1:
            text = shown_page(self._reader, reading(entries[0].path, seat))
            return ToolResult(f"[{entries[0].path}]\n{text}")
        total = sum(entry.size for entry in entries)
        if total <= PAGE and all(self._is_text(entry, seat) for entry in entries):
            pages = [
                f"[{e.path}]\n{shown_page(self._reader, reading(e.path, seat))}"
                for e in entries
            ]
            return ToolResult("\n\n".join(pages))
        return ToolResult(_listing(name, entries))

    def _is_text(self, entry: _Entry, seat: Seat) -> bool:
        place = reading(entry.path, seat)
        with in_words(place):
            sample = self._reader.part(
                place.path, offset=0, limit=SAMPLE, within=place.within
            )
        return binary_kind(sample) is None

    def _entries(self, name: str, seat: Seat) -> tuple[_Entry, ...]:
        refs = self._refs(seat)
        found = refs.get(name)
        if found is None:
            close = nearest(name, tuple(refs), 3) or tuple(refs)
            known = f"your refs are {', '.join(close)}" if close else "you have no refs"
            raise ToolRefused(f"There is no ref {name!r}: {known}.")
        entries = _files_of(found)
        if not entries:
            raise ToolRefused(f"The ref {name!r} leads to no file.")
        return entries

    def _refs(self, seat: Seat) -> Mapping[str, Json]:
        if seat.run is None or seat.node is None:
            raise ToolRefused(
                "Only a node has refs; read nodes/<id>/published/ with read_file."
            )
        node = Home(seat.agent).run(seat.run).node(seat.node)
        try:
            data = self._reader.read(node.refs, limit=_LIMIT, within=node.path)
            refs = json.loads(data)
        except NotThere:
            return {}
        except ValueError:
            raise ToolRefused("_refs.json cannot be read; use read_file.") from None
        return refs if isinstance(refs, Mapping) else {}


def _files_of(found: Json) -> tuple[_Entry, ...]:
    items = [found] if isinstance(found, Mapping) else found
    if not isinstance(items, Sequence) or isinstance(items, str):
        return ()
    return tuple(
        _Entry(_whole(str(item["path"])), int(str(item.get("size") or 0)))
        for item in items
        if isinstance(item, Mapping) and "path" in item
    )


def _whole(path: str) -> str:
    """A ref's path with the `nodes/` that a spec may leave out."""
    return path if path.startswith(("nodes/", "inputs/")) else f"nodes/{path}"


def _listing(name: str, entries: tuple[_Entry, ...]) -> str:
    lines = [f"  {entry.path}  {entry.size:,} bytes" for entry in entries[:_LISTED]]
    if len(entries) > _LISTED:
        lines.append(f"  [{len(entries) - _LISTED:,} more are not shown]")
    head = f"{name} holds {len(entries)} files; read each with read_file:"
    return "\n".join([head, *lines])
