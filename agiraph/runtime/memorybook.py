"""The book of an agent's memory: who wrote which line, from where, and who else did.

It stands in `_state/memory.jsonl`, one line for each change. What a file has become is
written down before the file is changed, so a crash between the two is no edit of a
person's.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from agiraph.core.limits import GOAL_BYTES, LOG_BYTES
from agiraph.core.remembering import CURATED, Written, new_lines, traced
from agiraph.errors import AgiraphError
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import PurePosixPath

    from agiraph.core.remembering import Source
    from agiraph.model.layout import Home
    from agiraph.ports import Entry, Reader, Seat
    from agiraph.runtime.world import World

PERSON = "person"
SETTLED = 0.25  # seconds without a change until a file counts as whole
_DEEPEST = 4
_MOST_FILES = 5_000
_MOST_WATCHED = 20


class MemoryBook:
    """What is known of the memory's files and lines."""

    def __init__(self, world: World, home: Home) -> None:
        """For the agent at `home`; read when it is first needed."""
        self._world = world
        self._home = home
        self.record: list[Written] = []
        self._stamps: dict[str, tuple[int, float]] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        self._loaded = False

    # --- reading

    def load(self) -> None:
        """Read the book, once; a line that cannot be read is passed over."""
        if self._loaded:
            return
        self._loaded = True
        for each in recorded(self._world.reader, self._home):
            self._take(each)
            self._known[each.path] = (each.becomes, each.was)

    def _take(self, each: Written) -> None:
        self.record.append(each)
        self._known[each.path] = (each.becomes,)

    def edits(self) -> list[Written]:
        """The last change of each file, where a person made it."""
        last = {each.path: each for each in self.record}
        return [each for each in last.values() if each.by == PERSON]

    def folders(self) -> list[PurePosixPath]:
        """The folders below memory/ that hold files now."""
        paths = [self._home.path / path for path in self._stamps]
        tops = (self._home.path, self._home.memories)
        return sorted({path.parent for path in paths} - set(tops))[:_MOST_WATCHED]

    # --- writing

    async def own(self, change: Written) -> None:
        """Write down what an agent is about to make of a file."""
        self.load()
        if any(change.step == each.step for each in self.record[-20:]):
            return  # the same step, done anew after a restart
        await self._add(change, flush=True)

    async def _add(self, change: Written, *, flush: bool) -> None:
        data = json.dumps(asdict(change), ensure_ascii=False).encode() + b"\n"
        path = self._home.memory_book
        await self._world.append(path, data, flush=flush)
        self._take(change)

    def change(
        self, seat: Seat, path: str, hashes: tuple[str, str], lines: dict[str, str]
    ) -> Written:
        """A change by whoever sits there.

        Args:
            hashes: of the file before and after.
            lines: what was traced of the new lines.
        """
        was, becomes = hashes
        return Written(
            ts=self._world.stamp(),
            path=path,
            by=seat.who,
            was=was,
            becomes=becomes,
            lines=lines,
            run=seat.run or "",
            node=seat.node or "",
            step=seat.step,
        )

    # --- what others did

    async def look(self) -> float | None:
        """Write down what people changed; seconds until a file is whole, if one is not.

        The first look of all takes down what is there: nobody need be told of it.
        """
        self.load()
        first = not self.record
        if first:
            await self._note("", "", "", "")
        known = len(self.record)
        again = await self._looked(first=first)
        if first or len(self.record) != known:
            path = self._home.memory_book
            await self._world.durably(lambda: self._world.pen.flush(path))
        return again

    async def _looked(self, *, first: bool) -> float | None:
        again = None
        there: set[str] = set()
        for path, entry in self._files():
            there.add(path)
            stamp = (entry.size, entry.changed)
            if self._stamps.get(path) == stamp:
                continue
            age = self._world.clock.now().timestamp() - entry.changed
            young = 0 <= age < SETTLED and path != CURATED  # which was looked at before
            if young and not first:
                again = SETTLED - age
                continue
            if await self._judge(path, by="" if first else PERSON):
                self._stamps[path] = stamp
        for path in [p for p, known in self._known.items() if known[0]]:
            if path not in there and again is None:
                await self._note(path, "", "", PERSON)
        return again

    async def _judge(self, path: str, *, by: str) -> bool:
        place = self._home.path / path
        try:
            data = self._world.reader.read(place, limit=GOAL_BYTES)
        except AgiraphError:
            return False
        sha = hashlib.sha256(data).hexdigest()
        if sha not in self._known.get(path, ()):
            await self._note(path, sha, data.decode("utf-8", "replace"), by)
        return True

    async def _note(self, path: str, sha: str, text: str, by: str) -> None:
        known = {h for each in self.record if each.path == path for h in each.lines}
        lines = traced(text.splitlines(), ())
        fresh = {line: "" for line in lines if line not in known}
        was = self._known.get(path, ("",))[0]
        change = Written(self._world.stamp(), path, by, was, sha, fresh)
        await self._add(change, flush=False)  # all that one look finds, together

    def _files(self) -> Iterator[tuple[str, Entry]]:
        """MEMORY.md and the files below memory/, as paths within the home."""
        reader, home = self._world.reader, self._home
        try:
            entry = reader.entry(home.memory)
        except AgiraphError:
            entry = None
        if entry is not None and entry.kind is EntryKind.FILE:
            yield home.memory.name, entry
        below = self._below(home.memories, home.memories.name, _DEEPEST)
        yield from islice(below, _MOST_FILES)

    def _below(
        self, folder: PurePosixPath, shown: str, deep: int
    ) -> Iterator[tuple[str, Entry]]:
        try:
            entries = self._world.reader.entries(folder)
        except AgiraphError:
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.name.endswith(".error.md"):
                continue
            name = f"{shown}/{entry.name}"
            if entry.kind is EntryKind.FILE:
                yield name, entry
            elif entry.kind is EntryKind.FOLDER and deep > 1:
                yield from self._below(folder / entry.name, name, deep - 1)


def traced_change(old: str, new: str, shown: Sequence[Source]) -> dict[str, str]:
    """Where each line that a change brings is from."""
    return traced(new_lines(old, new), shown)


def recorded(reader: Reader, home: Home) -> Iterator[Written]:
    """The lines of an agent's memory book, in order."""
    try:
        data = reader.read(home.memory_book, limit=LOG_BYTES)
    except AgiraphError:
        return
    for raw in data.split(b"\n"):
        try:
            yield Written(**json.loads(raw))
        except (ValueError, TypeError):
            continue
