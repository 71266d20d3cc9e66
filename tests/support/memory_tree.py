"""A tree in memory, as the ports `Reader` and `Pen`, that loses what was not flushed.

The tree holds what a running machine sees. What a power cut would take away is noted
beside it: names whose folder was not brought onto the disk yet, and the ends of logs.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import tempfile
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TypeVar

from agiraph.errors import Changing, NotPlain, NotThere, Occupied, TooLarge
from agiraph.model.layout import ARCHIVE, MACHINE, ROOT
from agiraph.ports import Entry, EntryKind, Seen, Sight
from agiraph.tree.beneath import parts_below
from agiraph.tree.content import Unfit, text_of
from agiraph.tree.reader import ABSENT_BELIEVED, EMPTY_BELIEVED, SETTLED
from agiraph.tree.tails import mend

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator

    from agiraph.ports import Clock

Result = TypeVar("Result")
_OURS: Final = frozenset({MACHINE.name, ARCHIVE.name})


@dataclass(eq=False, slots=True)
class File:
    """A regular file.

    Attributes:
        changed: seconds since 1970.
        version: counts changes, as an inode's time stamp would.
        durable: how many of its bytes are on the disk.
        named: whether its name is.
        busy: whether somebody has it open for writing.
    """

    data: bytes
    changed: float
    number: int
    version: int = 0
    durable: int = 0
    named: bool = True
    busy: bool = False


@dataclass(eq=False, slots=True)
class Folder:
    """A folder."""

    changed: float
    inner: dict[str, File | Folder] = field(default_factory=dict)


class MemoryTree:
    """The files, and what people and disks do to them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.top = Folder(self._now())
        self._numbers = itertools.count(1)
        self._pending: dict[int, Callable[[], None]] = {}
        self._steps = itertools.count(1)
        self.listeners: list[Callable[[PurePosixPath], None]] = []

    def _now(self) -> float:
        return self._clock.now().timestamp()

    # --- looking

    def find(self, path: PurePosixPath) -> File | Folder | None:
        """What stands at a path."""
        here: File | Folder | None = self.top
        for part in path.parts:
            if not isinstance(here, Folder):
                return None
            here = here.inner.get(part)
        return here

    def folder(self, path: PurePosixPath) -> Folder:
        """A folder that is there."""
        found = self.find(path)
        if found is None:
            raise NotThere(f"{path} is not there")
        if isinstance(found, File):
            raise NotPlain(f"{path} is a regular file, not a folder")
        return found

    def data(self, path: PurePosixPath) -> bytes | None:
        """The bytes of a file; None where there is none."""
        found = self.find(path)
        return found.data if isinstance(found, File) else None

    def files(
        self, below: PurePosixPath = ROOT
    ) -> Iterator[tuple[PurePosixPath, File]]:
        """Every file below a folder, by name."""
        found = self.find(below)
        if not isinstance(found, Folder):
            return
        for name in sorted(found.inner):
            each = found.inner[name]
            if isinstance(each, File):
                yield below / name, each
            else:
                yield from self.files(below / name)

    # --- changing, all of it seen at once

    def put(self, path: PurePosixPath, data: bytes, *, busy: bool = False) -> File:
        """Put a new file in place of what has the name, as a rename does."""
        new = File(data, self._now(), next(self._numbers), durable=len(data))
        new.busy = busy
        self._place(path, new)
        return new

    def edit(self, path: PurePosixPath, data: bytes, *, busy: bool = False) -> None:
        """Change a file in place, as an editor or `>>` does."""
        found = self.find(path)
        if not isinstance(found, File):
            self.put(path, data, busy=busy)
            return
        found.data, found.durable = data, len(data)
        found.changed, found.busy = self._now(), busy
        found.version += 1
        self._told(path)

    def make(self, path: PurePosixPath) -> list[PurePosixPath]:
        """Make a folder and what is missing above it; what was made."""
        made = []
        for part in (*reversed(path.parents), path):
            if self.find(part) is None:
                self._place(part, Folder(self._now()))
                made.append(part)
        self.folder(path)
        return made

    def take(self, path: PurePosixPath) -> File | Folder | None:
        """Take something out of its folder."""
        parent = self.find(path.parent)
        if not isinstance(parent, Folder) or path.name not in parent.inner:
            return None
        gone = parent.inner.pop(path.name)
        parent.changed = self._now()
        self._told(path)
        return gone

    def place(self, path: PurePosixPath, what: File | Folder) -> None:
        """Put something under a name."""
        self._place(path, what)

    def _place(self, path: PurePosixPath, what: File | Folder) -> None:
        parent = self.folder(path.parent)
        parent.inner[path.name] = what
        parent.changed = self._now()
        self._told(path)

    def _told(self, path: PurePosixPath) -> None:
        for listener in self.listeners:
            listener(path)

    # --- power

    def owe(self, undo: Callable[[], None]) -> int:
        """Note a change of names that is not on the disk yet; `paid` ends that."""
        step = next(self._steps)
        self._pending[step] = undo
        return step

    def paid(self, step: int) -> None:
        """A change of names is on the disk."""
        self._pending.pop(step, None)

    def kill(self) -> None:
        """The process ends; the machine goes on, and brings all onto the disk."""
        self._pending.clear()
        self._settle()

    def cut(self, chance: random.Random) -> None:
        """The power is cut: what was not flushed is gone, or torn, or half there."""
        owed = sorted(self._pending, reverse=True)
        for step in owed[: chance.randint(0, len(owed))]:
            self._pending[step]()  # the last names that were made go first
        self._pending.clear()
        for path, file in list(self.files()):
            tail = file.data[file.durable :]
            if not file.named and not file.durable and chance.random() < 0.5:
                self.take(path)
            elif tail:
                file.data = file.data[: file.durable] + _torn(tail, chance)
                file.version += 1
        self._settle()

    def _settle(self) -> None:
        for _, file in self.files():
            file.durable, file.named = len(file.data), True


def _torn(tail: bytes, chance: random.Random) -> bytes:
    """What a power cut leaves of bytes that were not flushed."""
    kept = chance.randint(0, len(tail))
    match chance.randrange(5):
        case 0:
            return b""
        case 1:
            return tail
        case 2:
            return tail[:kept]
        case 3:
            return b"\0" * kept
        case _:
            return tail[:kept] + b"\0" * chance.randint(0, len(tail) - kept)


# --- the reader


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: tuple[int, int] | None
    since: float


class MemoryReader:
    """The port `Reader` on a tree in memory, with the rules of the real one."""

    def __init__(self, tree: MemoryTree, clock: Clock) -> None:
        self._tree = tree
        self._clock = clock
        self._known: dict[PurePosixPath, _Known] = {}

    def look(self, path: PurePosixPath, *, limit: int, at_once: bool = False) -> Sight:
        found = self._tree.find(path)
        if found is None:
            return self._absent(path)
        if isinstance(found, Folder):
            words = "this is a folder; put a regular file in its place"
            return Sight(Seen.BAD, problem=words)
        quiet = self._quiet(path, found)
        needed = SETTLED if found.data else EMPTY_BELIEVED
        early = quiet < needed
        if early and not (at_once and found.data):
            return Sight(Seen.LATER, again=needed - quiet, quiet=quiet)
        return replace(self._whole(found, limit), quiet=quiet)

    def _quiet(self, path: PurePosixPath, found: File) -> float:
        stamp = (found.number, found.version)
        known = self._known.get(path)
        if known is None or known.stamp != stamp:
            known = self._known[path] = _Known(stamp, self._clock.monotonic())
        age = self._clock.now().timestamp() - found.changed
        return max(self._clock.monotonic() - known.since, age, 0.0)

    def _whole(self, found: File, limit: int) -> Sight:
        if len(found.data) > limit:
            return Sight(Seen.BAD, problem=f"the file has {len(found.data):,} bytes")
        if found.busy:
            words = "another program has it open for writing"
            return Sight(Seen.LATER, again=SETTLED, problem=words)
        sha = hashlib.sha256(found.data).hexdigest()
        text = text_of(found.data)
        if isinstance(text, Unfit):
            return Sight(Seen.BAD, sha=sha, problem=text.words, line=text.line)
        return Sight(Seen.GOOD, text=text, sha=sha)

    def _absent(self, path: PurePosixPath) -> Sight:
        known = self._known.get(path)
        if known is None:
            return Sight(Seen.ABSENT)
        if known.stamp is not None:
            known = self._known[path] = _Known(None, self._clock.monotonic())
        gone = self._clock.monotonic() - known.since
        if gone < ABSENT_BELIEVED:
            return Sight(Seen.LATER, again=ABSENT_BELIEVED - gone)
        del self._known[path]
        return Sight(Seen.ABSENT)

    def read(
        self, path: PurePosixPath, *, limit: int, within: PurePosixPath | None = None
    ) -> bytes:
        data = self._file(path, within).data
        if len(data) > limit:
            raise TooLarge(f"{path} has {len(data)} bytes; {limit} are read at most")
        return data

    def part(
        self,
        path: PurePosixPath,
        *,
        offset: int,
        limit: int,
        within: PurePosixPath | None = None,
    ) -> bytes:
        return self._file(path, within).data[offset : offset + limit]

    def _file(self, path: PurePosixPath, within: PurePosixPath | None) -> File:
        parts_below(path, within)
        found = self._tree.find(path)
        if found is None:
            raise NotThere(f"{path} is not there")
        if isinstance(found, Folder):
            raise NotPlain(f"{path} is a folder, not a regular file")
        return found

    def entries(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> tuple[Entry, ...]:
        parts_below(path, within)
        inner = self._tree.folder(path).inner
        return tuple(_entry(name, inner[name]) for name in sorted(inner))

    def stand(
        self, folders: Iterable[PurePosixPath], *, ignoring: frozenset[str]
    ) -> tuple[str, float]:
        told, newest = [], 0.0
        for path in folders:
            found = self._tree.find(path)
            inner = found.inner if isinstance(found, Folder) else {}
            for name in sorted(inner.keys() - ignoring):
                each = inner[name]
                stamp = (each.number, each.version) if isinstance(each, File) else ()
                told.append((str(path), name, stamp, each.changed))
                newest = max(newest, each.changed)
        return hashlib.sha256(repr(told).encode()).hexdigest(), newest

    def entry(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> Entry | None:
        parts_below(path, within)
        found = self._tree.find(path)
        return None if found is None else _entry(path.name, found)


def _entry(name: str, found: File | Folder) -> Entry:
    if isinstance(found, Folder):
        return Entry(name, EntryKind.FOLDER, 0, found.changed)
    return Entry(name, EntryKind.FILE, len(found.data), found.changed)


# --- the pen


class MemoryPen:
    """The port `Pen` on a tree in memory; it takes its time, as a disk does.

    Attributes:
        before: called with the operation and the path before each change begins; may
            raise what a disk refuses.
        between: called at each point where a crash may come: before a change is seen,
            when it is seen, and when it is on the disk.
        dead: nothing has an effect any more.
    """

    def __init__(
        self, tree: MemoryTree, *, chance: random.Random | None = None
    ) -> None:
        self._tree = tree
        self._chance = chance
        self._opened: dict[PurePosixPath, File] = {}
        self._lanes: dict[PurePosixPath, float] = {}
        self._owing: list[int] = []
        self._owed_by: dict[PurePosixPath, list[int]] = {}
        self.before: Callable[[str, PurePosixPath], None] = lambda *_: None
        self.between: Callable[[str, PurePosixPath], None] = lambda *_: None
        self.repairs: list[str] = []
        self.dead = False

    async def write(
        self, path: PurePosixPath, data: bytes, *, within: PurePosixPath | None = None
    ) -> None:
        def step() -> Callable[[], None] | None:
            self._make(path.parent)
            old = self._plain(path)
            if old is not None and old.data == data:
                return None
            new = self._tree.put(path, data)
            return lambda: self._back(path, new, old)

        await self._change("write", path, within, step)

    async def create(self, path: PurePosixPath, data: bytes) -> bool:
        made: list[bool] = []

        def step() -> Callable[[], None] | None:
            self._make(path.parent)
            if self._tree.find(path) is not None:
                return None
            made.append(True)
            new = self._tree.put(path, data)
            return lambda: self._back(path, new, None)

        await self._change("create", path, None, step)
        return bool(made)

    async def append(self, path: PurePosixPath, line: bytes, *, flush: bool) -> None:
        self._end_the_dead()
        _refuse(path, None)
        self.before("append", path)
        self.between("append", path)
        await self._unless_dead()
        file = self._log(path)
        file.data += line if line.endswith(b"\n") else line + b"\n"
        file.changed = self._tree._now()
        file.version += 1
        self._tree._told(path)
        self.between("append", path)
        await self._unless_dead()
        if flush:
            await self.flush(path)

    async def mend(self, path: PurePosixPath) -> None:
        self._end_the_dead()
        if self._tree.find(path) is not None:
            _refuse(path, None)
            self.before("mend", path)
            self._log(path)

    async def shorten(
        self, path: PurePosixPath, head: bytes, start: int, last: bytes
    ) -> None:
        def step() -> Callable[[], None]:
            old = self._log(path)
            if bytes(old.data[start - len(last) : start]) != last:
                raise Changing(f"{path} changed meanwhile")
            new = self._tree.put(path, head + bytes(old.data[start:]))
            self._opened.pop(path, None)
            return lambda: self._back(path, new, old)

        await self._change("shorten", path, None, step)

    async def flush(self, path: PurePosixPath) -> None:
        self._end_the_dead()
        file = self._opened.get(path)
        if file is None or (file.durable >= len(file.data) and file.named):
            return
        self.before("flush", path)
        covers = len(file.data)

        def done() -> None:
            file.durable = max(file.durable, covers)
            file.named = True
            for each in self._owed_by.pop(path, []):
                self._tree.paid(each)

        await self._later([lambda: self.between("flush", path), done], 0.006, path)
        self.between("flush", path)
        await self._unless_dead()

    async def move(self, source: PurePosixPath, target: PurePosixPath) -> None:
        _refuse(source, None)

        def step() -> Callable[[], None]:
            what = self._tree.find(source)
            if what is None:
                raise NotThere(f"{source} is not there")
            self._make(target.parent)
            if self._tree.find(target) is not None:
                raise Occupied(f"{target} is there already; it was left alone")
            for file in _files_in(what):
                file.durable, file.named = len(file.data), True
            self._tree.take(source)
            self._tree.place(target, what)
            return lambda: self._move_back(source, target, what)

        await self._change("move", target, None, step)

    async def remove(self, path: PurePosixPath) -> None:
        def step() -> Callable[[], None] | None:
            found = self._tree.find(path)
            if found is None:
                return None
            if isinstance(found, Folder):
                raise NotPlain(f"{path} is a folder; only files are taken away")
            self._tree.take(path)
            return lambda: self._tree.place(path, found)

        await self._change("remove", path, None, step)

    async def folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> None:
        def step() -> None:
            self._make(path)

        await self._change("folder", path, within, step)

    async def make_home(self, agent: str) -> None:
        self._end_the_dead()
        self._tree.make(PurePosixPath(agent))

    async def remove_leftovers(self) -> int:
        return 0

    async def close(self) -> None:
        """What is under way comes onto the disk first, as with threads."""
        if not self.dead:
            self._tree.kill()

    # --- how

    async def _change(
        self,
        name: str,
        path: PurePosixPath,
        within: PurePosixPath | None,
        step: Callable[[], Callable[[], None] | None],
    ) -> None:
        """Seen in one step; on the disk a moment later, and only then is it told."""
        self._end_the_dead()
        _refuse(path, within)
        self.before(name, path)
        owed: list[int] = []

        def seen() -> None:
            self.between(name, path)
            if self.dead:
                return
            undo = step()
            owed.extend(self._made())
            if undo is not None:
                owed.append(self._tree.owe(undo))
            if owed:
                self.between(name, path)

        def flushed() -> None:
            for each in owed:
                self._tree.paid(each)

        await self._later([seen, flushed], 0.012, path)
        self.between(name, path)
        await self._unless_dead()

    def _end_the_dead(self) -> None:
        """A process that has ended is told of nothing that it might go on by."""
        if self.dead:
            raise asyncio.CancelledError

    async def _unless_dead(self) -> None:
        """Wait for ever once nothing has an effect any more; whoever waits is ended."""
        if self.dead:
            await asyncio.get_running_loop().create_future()

    async def _later(
        self, steps: list[Callable[[], None]], most: float, path: PurePosixPath
    ) -> None:
        """Do the steps one after the other, as a thread would: cancelled or not.

        Two calls for one path are never under way at the same time.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        at = max(loop.time(), self._lanes.get(path, 0.0))
        for number, step in enumerate(steps):
            at += self._chance.uniform(0, most) if self._chance else 0.0
            last = number == len(steps) - 1
            loop.call_at(at, self._one, step, done, last)
        self._lanes[path] = at
        await done

    def _one(
        self, step: Callable[[], None], done: asyncio.Future[None], last: bool
    ) -> None:
        if self.dead:
            return
        try:
            step()
        except Exception as error:  # noqa: BLE001 - handed on to whoever waits
            if not done.done():
                done.set_exception(error)
        else:
            if last and not done.done():
                done.set_result(None)

    def _make(self, path: PurePosixPath) -> None:
        home = path.parts[0] if path.parts else ""
        gone = self._tree.find(PurePosixPath(home)) is None
        if gone and home not in _OURS:
            raise NotThere(
                f"{home} is gone, so {path} was not written; a deleted folder is never "
                "made again"
            )
        for part in reversed((path, *path.parents)):
            if isinstance(self._tree.find(part), File):
                raise NotPlain(f"{path}: a folder and a file are confused")
        for made in self._tree.make(path):
            self._owing.append(self._tree.owe(partial(self._unmake, made)))

    def _made(self) -> list[int]:
        """The folders that were made since the last call, as what is owed for them."""
        made, self._owing = self._owing, []
        return made

    def _unmake(self, path: PurePosixPath) -> None:
        found = self._tree.find(path)
        if isinstance(found, Folder) and not found.inner:
            self._tree.take(path)

    def _back(self, path: PurePosixPath, new: File, old: File | None) -> None:
        if self._tree.find(path) is not new or new.version:
            return  # somebody has replaced or changed it meanwhile
        if old is None:
            self._tree.take(path)
        else:
            self._tree.place(path, old)

    def _move_back(
        self, source: PurePosixPath, target: PurePosixPath, what: File | Folder
    ) -> None:
        if self._tree.find(target) is what and self._tree.find(source) is None:
            self._tree.take(target)
            self._tree.place(source, what)

    def _plain(self, path: PurePosixPath) -> File | None:
        found = self._tree.find(path)
        if isinstance(found, Folder):
            raise NotPlain(f"{path} is a folder, not a regular file")
        return found

    def _log(self, path: PurePosixPath) -> File:
        """The open log; opened anew where its name leads to another file now."""
        found = self._plain(path)
        if found is not None and self._opened.get(path) is found:
            return found
        if found is None:
            self._make(path.parent)
            found = self._tree.put(path, b"")
            found.named = False
            self._owed_by[path] = self._made()
        else:
            whole = _mended(found.data, json_lines=path.suffix == ".jsonl")
            if whole != found.data:
                if len(whole) < len(found.data):
                    self.repairs.append(str(path))
                found.data, found.durable = whole, min(found.durable, len(whole))
        self._opened[path] = found
        return found


def _refuse(path: PurePosixPath, within: PurePosixPath | None) -> None:
    parts_below(path, within)
    if not path.name:
        raise NotPlain("the root of the tree is no file")


def _files_in(what: File | Folder) -> Iterator[File]:
    if isinstance(what, File):
        yield what
        return
    for each in what.inner.values():
        yield from _files_in(each)


def _mended(data: bytes, *, json_lines: bool) -> bytes:
    """A log as the real pen leaves it before its first append."""
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    if not data or (data.endswith(b"\n") and b"\0" not in data[last:]):
        return data
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        mend(file.fileno(), json_lines=json_lines)
        file.seek(0)
        return file.read()
