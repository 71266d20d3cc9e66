"""The tools that keep and find what was learned."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.given import flag_of, text_of
from agiraph.core.limits import MEMORY_SHOWN
from agiraph.core.remembering import is_daily, over_the_cap
from agiraph.core.scopes import Place, reading
from agiraph.core.search import Leaf
from agiraph.errors import AgiraphError, ToolRefused
from agiraph.model.tool import ToolResult
from agiraph.model.worker import AgentMemory
from agiraph.ports import EntryKind
from agiraph.tools import changes
from agiraph.tools.access import found, in_words, may_write
from agiraph.tools.files import shown_list, written, written_texts, written_words
from agiraph.tools.schemas import memory as schemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agiraph.core.search import Section
    from agiraph.model.json import JsonObject
    from agiraph.ports import Entry, Intent, Pen, Reader, Seat, Shelf
    from agiraph.tools.seen import LastSeen

_WHOLE: Final = 40_000
_SECTIONS: Final = 10
_ANSWER: Final = 16_000
_FILE: Final = 1024 * 1024
_DEEPEST: Final = 6
_MOST_FILES: Final = 5_000
_OWN: Final = "memory.md"
_AGENT: Final = "MEMORY.md"
_READERS: Final = (AgentMemory.READ, AgentMemory.WRITE)


class MemoryWrite:
    """`memory_write`: a whole memory file, or more at its end."""

    spec = schemas.MEMORY_WRITE.spec
    effect = schemas.MEMORY_WRITE.effect
    who = schemas.MEMORY_WRITE.who

    def __init__(self, reader: Reader, pen: Pen, seen: LastSeen) -> None:
        self._reader = reader
        self._pen = pen
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the place, and that nothing unseen would be replaced."""
        place = _place(text_of(arguments, "path"), seat, access=(AgentMemory.WRITE,))
        if place.path == place.within:
            raise ToolRefused(f"{place.shown}/ is a folder; name a file in it.")
        asked = may_write(seat, place, written_texts(arguments))
        old = changes.old_file(self._reader, place)
        append = flag_of(arguments, "append")
        if not append and is_daily(place.shown) and (old.data or b"").strip():
            raise ToolRefused(
                f"{place.shown} is a daily log: it is only added to. Use `append`."
            )
        if not append:
            self._seen.refuse_if_changed(seat, place, old)
        new = written(arguments, old)
        if place.shown == _AGENT and (why := over_the_cap(old.data or b"", new)):
            raise ToolRefused(why)
        planned = changes.planned(place, old, new)
        return {**arguments, **planned, **asked}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write it, if that is not done yet."""
        old = changes.undone(self._reader, intent)
        if old is not None:
            new = written(intent, old)
            await changes.put(self._pen, intent, new)
            self._seen.note(seat, changes.planned_place(intent).path, new)
        return ToolResult(written_words(intent))


class MemoryRead:
    """`memory_read`: a memory file, or the names in the memory folder."""

    spec = schemas.MEMORY_READ.spec
    effect = schemas.MEMORY_READ.effect
    who = schemas.MEMORY_READ.who

    def __init__(self, reader: Reader, seen: LastSeen) -> None:
        self._reader = reader
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Find the place that is meant."""
        _place(text_of(arguments, "path"), seat, access=_READERS)
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show it."""
        path = text_of(intent, "path")
        place = _place(path, seat, access=_READERS)
        if place.path == place.within:
            return ToolResult(shown_list(self._reader, place))
        if found(self._reader, place).kind is EntryKind.FOLDER:
            return ToolResult(shown_list(self._reader, place))
        with in_words(place):
            data = self._reader.read(
                place.path, limit=changes.LARGEST, within=place.within
            )
        self._seen.note(seat, place.path, data)
        return ToolResult(_shown(place, data.decode("utf-8", "replace")))


def _shown(place: Place, text: str) -> str:
    if not text.strip():
        return f"[{place.shown} is empty]"
    if len(text) <= _WHOLE:
        return text
    return (
        f"{text[:_WHOLE]}\n[the first {_WHOLE:,} of {len(text):,} characters; "
        "memory_search finds the rest]"
    )


class MemorySearch:
    """`memory_search`: all of memory while it is small, else the best sections."""

    spec = schemas.MEMORY_SEARCH.spec
    effect = schemas.MEMORY_SEARCH.effect
    who = schemas.MEMORY_SEARCH.who

    def __init__(self, reader: Reader, seen: LastSeen, shelf: Shelf) -> None:
        self._reader = reader
        self._seen = seen
        self._shelf = shelf

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Nothing to check: every text is a query."""
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Find, and show."""
        return await asyncio.to_thread(self._found, text_of(intent, "query"), seat)

    def _found(self, query: str, seat: Seat) -> ToolResult:
        files = list(islice(self._files(seat), _MOST_FILES))
        if not files:
            return ToolResult("Memory is empty.")
        if sum(file.leaf.size for file in files) <= MEMORY_SHOWN:
            return ToolResult(self._all(files, seat))
        places = {file.leaf.path: file for file in files}

        def read(leaf: Leaf) -> str:
            return _text(self._data(places[leaf.path]))

        leaves = [file.leaf for file in files]
        hits = self._shelf.best(seat.agent, leaves, read, query, _SECTIONS)
        return ToolResult(_shown_hits(hits, [leaf.shown for leaf in leaves]))

    def _all(self, files: Sequence[_File], seat: Seat) -> str:
        """All of it, and noted as seen."""
        pages = []
        for file in files:
            data = self._data(file)
            self._seen.note(seat, file.leaf.path, data)
            if _text(data).strip():
                pages.append(f"[{file.leaf.shown}]\n{_text(data).strip()}")
        return "\n\n".join(pages) or "Memory is empty."

    def _data(self, file: _File) -> bytes:
        """The bytes of a file; none where it is gone or cannot be read."""
        try:
            path, within = file.leaf.path, file.within
            return self._reader.read(path, limit=_FILE, within=within)
        except AgiraphError:
            return b""

    def _files(self, seat: Seat) -> Iterator[_File]:
        tops = [_OWN] if seat.worker is not None else []
        if seat.worker is None or seat.agent_memory.readable:
            tops += [_AGENT, "memory"]
        for top in tops:
            place = reading(top, seat)
            try:
                entry = self._reader.entry(place.path, within=place.within)
            except AgiraphError:
                continue
            if entry is not None:
                yield from self._below(place, entry, 0)

    def _below(self, place: Place, entry: Entry, depth: int) -> Iterator[_File]:
        """The files at a place or below it; what cannot be read is passed over."""
        if entry.kind is EntryKind.FILE and 0 < entry.size <= _FILE:
            leaf = Leaf(place.path, place.shown, entry.size, entry.changed)
            yield _File(leaf, place.within)
        if entry.kind is not EntryKind.FOLDER or depth >= _DEEPEST:
            return
        try:
            inner = self._reader.entries(place.path, within=place.within)
        except AgiraphError:
            return
        for each in inner:
            if not each.name.startswith("."):
                yield from self._below(_inner(place, each.name), each, depth + 1)


@dataclass(frozen=True, slots=True)
class _File:
    """One memory file, and the folder that it may not lead out of."""

    leaf: Leaf
    within: PurePosixPath


def _text(data: bytes) -> str:
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def _inner(place: Place, name: str) -> Place:
    return Place(place.path / name, place.within, f"{place.shown}/{name}")


def _shown_hits(hits: tuple[Section, ...], files: list[str]) -> str:
    if not hits:
        names = ", ".join(files[:50])
        return f"Nothing in memory shares a word with this. There are: {names}."
    shown: list[str] = []
    size = 0
    for hit in hits:
        size += len(hit.text)
        if shown and size > _ANSWER:
            break
        shown.append(f"[{hit.source}]\n{hit.text[:_ANSWER]}")
    return "\n\n".join(shown)


def _place(path: str, seat: Seat, *, access: tuple[AgentMemory, ...]) -> Place:
    """The memory file that a path means.

    The coordinator, and a worker with one of these accesses to the agent's memory:
    `MEMORY.md`, or a file below `memory/`, that prefix optional. A worker's own is
    `memory.md`.

    Raises:
        ToolRefused: a worker named another file than its own.
    """
    plain = PurePosixPath(path.strip() or ".")
    if plain.is_absolute():
        raise ToolRefused(
            f"{path}: absolute paths are not taken; name {_AGENT} or {_OWN}."
        )
    name = str(plain)
    if seat.worker is not None:
        agents_too = seat.agent_memory in access
        nothing = seat.agent_memory is AgentMemory.NONE
        if name == _OWN or (name in (_AGENT, ".") and nothing):
            return reading(_OWN, seat)
        if not agents_too:
            raise ToolRefused(f"{path} is not yours to use so; your memory is {_OWN}.")
    elif name == _OWN:
        name = _AGENT
    if any(part.startswith(".") and part != ".." for part in plain.parts):
        raise ToolRefused(f"{path}: names that begin with a dot are not memory.")
    if name == _AGENT or plain.parts[:1] == ("memory",):
        return reading(name, seat)
    return reading(f"memory/{name}", seat)
