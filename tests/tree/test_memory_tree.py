"""The tree in memory keeps the contract of the real one: the same tests for both."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

import pytest

from agiraph.errors import NotPlain, NotThere, Occupied, Outside, TooLarge
from agiraph.ports import EntryKind, Seen
from agiraph.tree.pen import DiskPen
from agiraph.tree.reader import DiskReader
from tests.support.clock import HandClock
from tests.support.memory_tree import File, MemoryPen, MemoryReader, MemoryTree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agiraph.ports import Pen, Reader

STATUS = PurePosixPath("ada/_status.md")
LOG = PurePosixPath("ada/events.jsonl")
GOAL = PurePosixPath("ada/GOAL.md")
LIMIT = 1000


class Tree(Protocol):
    """One of the two trees, with a home `ada`, and a person's hand in it."""

    pen: Pen
    reader: Reader
    clock: HandClock

    def put(self, path: PurePosixPath, data: bytes) -> None:
        """Write as a person does."""

    def take(self, path: PurePosixPath) -> None:
        """Delete as a person does."""

    def data(self, path: PurePosixPath) -> bytes | None:
        """What stands at a path."""


class OnDisk:
    def __init__(self, root: Path) -> None:
        self.clock = HandClock(datetime.now(UTC))
        self._root = root
        self.pen = DiskPen(str(root))
        self.reader = DiskReader(str(root), self.clock)

    def put(self, path: PurePosixPath, data: bytes) -> None:
        (self._root / path).write_bytes(data)

    def take(self, path: PurePosixPath) -> None:
        (self._root / path).unlink()

    def data(self, path: PurePosixPath) -> bytes | None:
        place = self._root / path
        return place.read_bytes() if place.is_file() else None


class InMemory:
    def __init__(self) -> None:
        self.clock = HandClock()
        self._tree = MemoryTree(self.clock)
        self._tree.make(PurePosixPath("ada"))
        self.pen = MemoryPen(self._tree)
        self.reader = MemoryReader(self._tree, self.clock)

    def put(self, path: PurePosixPath, data: bytes) -> None:
        self._tree.edit(path, data)

    def take(self, path: PurePosixPath) -> None:
        self._tree.take(path)

    def data(self, path: PurePosixPath) -> bytes | None:
        return self._tree.data(path)


@pytest.fixture(params=["disk", "memory"])
async def tree(request: pytest.FixtureRequest, root: Path) -> AsyncIterator[Tree]:
    if request.param == "memory":
        yield InMemory()
        return
    on_disk = OnDisk(root)
    yield on_disk
    await on_disk.pen.close()


# --- both


async def test_a_file_is_made_and_replaced(tree: Tree) -> None:
    await tree.pen.write(STATUS, b"one")
    await tree.pen.write(STATUS, b"two")
    assert tree.data(STATUS) == b"two"


async def test_missing_folders_are_made_but_never_a_home(tree: Tree) -> None:
    await tree.pen.write(PurePosixPath("ada/runs/r/nodes/n/_status.md"), b"x")
    await tree.pen.write(PurePosixPath(".agiraph/cache/x"), b"x")
    for step in (
        tree.pen.write(PurePosixPath("ghost/_status.md"), b"x"),
        tree.pen.folder(PurePosixPath("ghost/runs")),
        tree.pen.create(PurePosixPath("ghost/x"), b"x"),
        tree.pen.append(PurePosixPath("ghost/log.jsonl"), b"{}\n", flush=True),
        tree.pen.move(PurePosixPath("ada/runs"), PurePosixPath("ghost/runs")),
    ):
        with pytest.raises(NotThere):
            await step
    assert [e.name for e in tree.reader.entries(PurePosixPath())] == [".agiraph", "ada"]
    await tree.pen.make_home("ghost")
    assert tree.reader.entry(PurePosixPath("ghost")) is not None


async def test_create_never_replaces_and_of_many_one_wins(tree: Tree) -> None:
    async with asyncio.TaskGroup() as tasks:
        made = [
            tasks.create_task(tree.pen.create(STATUS, str(number).encode()))
            for number in range(20)
        ]
    winners = [number for number, task in enumerate(made) if task.result()]
    assert [int(tree.data(STATUS) or b"")] == winners
    assert not await tree.pen.create(STATUS, b"late")


async def test_move_takes_a_folder_whole_and_never_replaces(tree: Tree) -> None:
    node = PurePosixPath("ada/runs/r/nodes/n")
    await tree.pen.write(node / "scratch/deep/report.md", b"done")
    await tree.pen.move(node / "scratch", node / "published")
    assert tree.data(node / "published/deep/report.md") == b"done"
    await tree.pen.folder(node / "scratch")
    with pytest.raises(Occupied):
        await tree.pen.move(node / "scratch", node / "published")
    with pytest.raises(NotThere):
        await tree.pen.move(node / "none", node / "else")


async def test_remove_takes_files_only(tree: Tree) -> None:
    await tree.pen.write(STATUS, b"x")
    await tree.pen.remove(STATUS)
    await tree.pen.remove(STATUS)
    with pytest.raises(NotPlain):
        await tree.pen.remove(PurePosixPath("ada"))
    assert tree.data(STATUS) is None


@pytest.mark.parametrize("path", ["../x", "ada/../../x", "/tmp/x"])
async def test_nothing_is_written_outside(tree: Tree, path: str) -> None:
    place = PurePosixPath(path)
    for step in (
        tree.pen.write(place, b"x"),
        tree.pen.append(place, b"x", flush=False),
        tree.pen.folder(place),
        tree.pen.remove(place),
        tree.pen.move(place, STATUS),
    ):
        with pytest.raises((Outside, NotThere)):
            await step


async def test_a_file_in_the_way_of_a_folder_is_told(tree: Tree) -> None:
    tree.put(PurePosixPath("ada/runs"), b"a person's note")
    with pytest.raises(NotPlain):
        await tree.pen.write(PurePosixPath("ada/runs/r/_status.md"), b"x")
    assert tree.data(PurePosixPath("ada/runs")) == b"a person's note"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"n": 1}\n{"n": 2', b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n": 2}', b'{"n": 1}\n{"n": 2}\n'),
        (b'{"n": 1}\n' + b"\0" * 9000, b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n"\0\0\0\n\0\0', b'{"n": 1}\n'),
        (b'{"n": 1', b""),
        (b"", b""),
    ],
)
async def test_a_torn_end_is_cut_off_before_the_first_append(
    tree: Tree, before: bytes, after: bytes
) -> None:
    tree.put(LOG, before)
    await tree.pen.append(LOG, b'{"new": 1}\n', flush=True)
    await tree.pen.append(LOG, b'{"new": 2}\n', flush=True)
    assert tree.data(LOG) == after + b'{"new": 1}\n{"new": 2}\n'


async def test_a_torn_end_is_cut_off_without_an_append_too(tree: Tree) -> None:
    await tree.pen.mend(LOG)
    assert tree.data(LOG) is None
    tree.put(LOG, b'{"n": 1}\n{"n": 2')
    await tree.pen.mend(LOG)
    assert tree.data(LOG) == b'{"n": 1}\n'
    await tree.pen.append(LOG, b'{"n": 3}\n', flush=True)
    assert tree.data(LOG) == b'{"n": 1}\n{"n": 3}\n'


async def test_a_log_that_was_replaced_is_found_again(tree: Tree) -> None:
    await tree.pen.append(LOG, b'{"n": 1}\n', flush=True)
    tree.take(LOG)
    tree.put(LOG, b'{"from": "a sync"}\n{"torn')
    await tree.pen.append(LOG, b'{"n": 2}\n', flush=True)
    assert tree.data(LOG) == b'{"from": "a sync"}\n{"n": 2}\n'


async def test_a_cancelled_write_never_lands_after_the_next_one(tree: Tree) -> None:
    for number in range(10):
        first = asyncio.ensure_future(tree.pen.write(STATUS, b"old"))
        await asyncio.sleep(0)
        first.cancel()
        await tree.pen.write(STATUS, b"new %d" % number)
        assert tree.data(STATUS) == b"new %d" % number
        await asyncio.gather(first, return_exceptions=True)


async def test_a_file_is_read_once_it_was_quiet(tree: Tree) -> None:
    tree.put(GOAL, b"find out")
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    tree.clock.move(0.3)
    sight = tree.reader.look(GOAL, limit=LIMIT)
    assert (sight.seen, sight.text) == (Seen.GOOD, "find out")
    tree.put(GOAL, b"find out more")
    tree.clock.jump_wall(-10)  # stamps lie in the future: only our own watching counts
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.LATER


async def test_an_empty_file_is_believed_after_five_seconds(tree: Tree) -> None:
    tree.put(GOAL, b"")
    tree.clock.move(4.0)
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    tree.clock.move(1.5)
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.GOOD


async def test_a_known_file_is_believed_to_be_gone_after_two_seconds(
    tree: Tree,
) -> None:
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.ABSENT
    tree.put(GOAL, b"here")
    tree.clock.move(3)
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.GOOD
    tree.take(GOAL)
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    tree.clock.move(2.1)
    assert tree.reader.look(GOAL, limit=LIMIT).seen is Seen.ABSENT


async def test_what_is_no_text_is_bad(tree: Tree) -> None:
    tree.put(GOAL, b"half\0a file")
    tree.clock.move(3)
    sight = tree.reader.look(GOAL, limit=LIMIT)
    assert sight.seen is Seen.BAD
    assert "NUL" in sight.problem


async def test_reading_gives_the_bytes_and_refuses_the_rest(tree: Tree) -> None:
    tree.put(GOAL, b"0123456789")
    assert tree.reader.read(GOAL, limit=10) == b"0123456789"
    assert tree.reader.part(GOAL, offset=2, limit=3) == b"234"
    with pytest.raises(TooLarge):
        tree.reader.read(GOAL, limit=9)
    with pytest.raises(NotThere):
        tree.reader.read(STATUS, limit=9)
    with pytest.raises(NotPlain):
        tree.reader.read(PurePosixPath("ada"), limit=9)
    entry = tree.reader.entry(GOAL)
    assert entry is not None
    assert (entry.kind, entry.size) == (EntryKind.FILE, 10)


async def test_a_mark_of_folders_differs_once_a_file_came_went_or_changed(
    tree: Tree,
) -> None:
    home, marks = PurePosixPath("ada"), []
    for step in (
        lambda: None,
        lambda: tree.put(GOAL, b"one"),
        lambda: tree.put(GOAL, b"other"),
        lambda: tree.take(GOAL),
    ):
        step()
        marks.append(tree.reader.stand([home], ignoring=frozenset())[0])
        same = tree.reader.stand([home], ignoring=frozenset())[0]
        assert same == marks[-1]
    assert len(set(marks)) == 3, "gone again is as before"
    tree.put(STATUS, b"x")
    ignored = tree.reader.stand([home], ignoring=frozenset({STATUS.name}))[0]
    assert ignored == marks[0]


# --- what only memory can do: lose what was not flushed


def in_memory(seed: int) -> tuple[MemoryTree, MemoryPen, random.Random]:
    tree = MemoryTree(HandClock())
    tree.make(PurePosixPath("ada"))
    return tree, MemoryPen(tree), random.Random(seed)


@pytest.mark.parametrize("seed", range(20))
async def test_a_power_cut_takes_at_most_what_was_not_flushed(seed: int) -> None:
    tree, pen, chance = in_memory(seed)
    await pen.write(STATUS, b"kept")
    await pen.append(LOG, b'{"n": 1}\n', flush=True)
    await pen.append(LOG, b'{"n": 2}\n', flush=False)
    tree.cut(chance)
    assert tree.data(STATUS) == b"kept"
    log = tree.data(LOG) or b""
    assert log.startswith(b'{"n": 1}\n')
    rest = log.removeprefix(b'{"n": 1}\n').rstrip(b"\0")
    assert b'{"n": 2}\n'.startswith(rest)


async def test_a_power_cut_tears_lines_in_each_of_its_ways() -> None:
    left = set()
    for seed in range(60):
        tree, pen, chance = in_memory(seed)
        await pen.append(LOG, b'{"n": 1}\n', flush=False)
        tree.cut(chance)
        left.add(tree.data(LOG))
    assert {None, b"", b'{"n": 1}\n'} <= left
    assert any(data and b"\0" in data for data in left)


async def test_a_write_that_was_not_told_is_there_whole_or_not_at_all() -> None:
    left = set()
    for seed in range(30):
        tree, _, chance = in_memory(seed)
        pen = MemoryPen(tree, chance=chance)
        await pen.write(STATUS, b"old")
        points = 0

        def count(*_: object) -> None:
            nonlocal points
            points += 1

        pen.between = count
        write = asyncio.ensure_future(pen.write(STATUS, b"new"))
        while points < 1 + seed % 2:
            await asyncio.sleep(0)
        pen.dead = True
        tree.cut(chance)
        left.add(tree.data(STATUS))
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
    assert left == {b"old", b"new"}


async def test_the_dead_are_told_of_nothing_that_they_might_go_on_by() -> None:
    tree, pen, _ = in_memory(0)
    await pen.append(LOG, b'{"n": 1}\n', flush=False)
    pen.dead = True
    for asked in (
        pen.append(LOG, b'{"n": 2}\n', flush=True),
        pen.flush(LOG),
        pen.mend(LOG),
        pen.write(STATUS, b"new"),
        pen.create(STATUS, b"new"),
        pen.remove(LOG),
        pen.move(LOG, STATUS),
    ):
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asked, 10)
    assert tree.data(LOG) == b'{"n": 1}\n'
    assert tree.data(STATUS) is None


async def test_what_is_seen_when_a_pen_is_closed_outlasts_a_power_cut() -> None:
    for seed in range(20):
        tree, _, chance = in_memory(seed)
        pen = MemoryPen(tree, chance=chance)
        write = asyncio.ensure_future(pen.write(STATUS, b"new"))
        while tree.data(STATUS) is None:
            await asyncio.sleep(0)
        write.cancel()
        await pen.close()
        pen.dead = True
        tree.cut(chance)
        assert tree.data(STATUS) == b"new"
        await asyncio.gather(write, return_exceptions=True)


async def test_a_kill_loses_nothing_that_was_written() -> None:
    tree, pen, _ = in_memory(0)
    await pen.append(LOG, b'{"n": 1}\n', flush=False)
    tree.kill()
    found = tree.find(LOG)
    assert isinstance(found, File)
    assert (found.data, found.durable) == (b'{"n": 1}\n', 9)
