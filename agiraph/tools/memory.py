"""The tools that keep and find what was learned."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.limits import MEMORY_SHOWN
from agiraph.core.scopes import Place, reading
from agiraph.core.search import Section, best, sections
from agiraph.errors import AgiraphError, ToolRefused
from agiraph.model.tool import ToolResult
from agiraph.ports import EntryKind
from agiraph.tools import changes
from agiraph.tools.access import flag_of, found, in_words, may_write, text_of
from agiraph.tools.files import shown_list, written, written_texts, written_words
from agiraph.tools.schemas import memory as schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.json import JsonObject
    from agiraph.ports import Intent, Pen, Reader, Seat
    from agiraph.tools.seen import LastSeen

_WHOLE: Final = 40_000
_SECTIONS: Final = 10
_ANSWER: Final = 16_000
_FILE: Final = 1024 * 1024
_DEEPEST: Final = 6
_MOST_FILES: Final = 1_000
_OWN: Final = "memory.md"
_AGENT: Final = "MEMORY.md"


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
        place = _place(text_of(arguments, "path"), seat, access=("write",))
        if place.path == place.within:
            raise ToolRefused(f"{place.shown}/ is a folder; name a file in it.")
        asked = may_write(seat, place, written_texts(arguments))
        old = changes.old_file(self._reader, place)
        if not flag_of(arguments, "append"):
            self._seen.refuse_if_changed(seat, place, old)
        planned = changes.planned(place, old, written(arguments, old))
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
        _place(text_of(arguments, "path"), seat, access=("read", "write"))
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Show it."""
        path = text_of(intent, "path")
        place = _place(path, seat, access=("read", "write"))
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

    def __init__(self, reader: Reader, seen: LastSeen) -> None:
        self._reader = reader
        self._seen = seen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Nothing to check: every text is a query."""
        return arguments

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Find, and show."""
        files = await asyncio.to_thread(lambda: list(self._files(seat)))
        if not files:
            return ToolResult("Memory is empty.")
        if sum(len(file.text.encode()) for file in files) <= MEMORY_SHOWN:
            for file in files:
                self._seen.note(seat, file.path, file.data)
            pages = [f"[{file.shown}]\n{file.text.strip()}" for file in files]
            return ToolResult("\n\n".join(pages))
        pool = [part for file in files for part in sections(file.shown, file.text)]
        hits = best(text_of(intent, "query"), pool, _SECTIONS)
        return ToolResult(_shown_hits(hits, [file.shown for file in files]))

    def _files(self, seat: Seat) -> Iterator[_File]:
        tops = [_OWN] if seat.worker is not None else []
        if seat.worker is None or seat.agent_memory in ("read", "write"):
            tops += [_AGENT, "memory"]
        count = 0
        for top in tops:
            for file in self._below(reading(top, seat), 0):
                count += 1
                if count > _MOST_FILES:
                    return
                yield file

    def _below(self, place: Place, depth: int) -> Iterator[_File]:
        """The text files at a place or below it; what cannot be read is passed over."""
        try:
            entry = self._reader.entry(place.path, within=place.within)
            if entry is None or depth > _DEEPEST:
                return
            if entry.kind is EntryKind.FILE and entry.size <= _FILE:
                data = self._reader.read(place.path, limit=_FILE, within=place.within)
                if b"\0" not in data and data.strip():
                    yield _File(place.path, place.shown, data)
            elif entry.kind is EntryKind.FOLDER:
                for inner in self._reader.entries(place.path, within=place.within):
                    if not inner.name.startswith("."):
                        yield from self._below(_inner(place, inner.name), depth + 1)
        except AgiraphError:
            return


@dataclass(frozen=True, slots=True)
class _File:
    """One memory file as it was read."""

    path: PurePosixPath
    shown: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


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


def _place(path: str, seat: Seat, *, access: tuple[str, ...]) -> Place:
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
        if name == _OWN or (name in (_AGENT, ".") and seat.agent_memory == "none"):
            return reading(_OWN, seat)
        if not agents_too:
            raise ToolRefused(f"{path} is not yours to use so; your memory is {_OWN}.")
    elif name == _OWN:
        name = _AGENT
    if name == _AGENT or plain.parts[:1] == ("memory",):
        return reading(name, seat)
    return reading(f"memory/{name}", seat)
