"""Hints come for what changes in the folders that are watched, whatever happens."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.watcher import EVERYTHING, FolderWatch, afterlook
from agiraph.watcher import minder as minding
from agiraph.watcher.afterlook import Afterlook
from agiraph.watcher.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


class Listener:
    """Collects hints and what is reported."""

    def __init__(self, root: Path, *, polling: bool = False) -> None:
        self.words: list[str] = []
        self.watch = FolderWatch(str(root), report=self.words.append, polling=polling)
        self.seen: list[str] = []
        self._news = asyncio.Event()

    async def run(self) -> None:
        async for names in self.watch.hints():
            self.seen += sorted(names)
            self._news.set()

    async def hears(self, name: str, within: float = 5.0) -> float:
        """Wait for a hint; how long it took."""
        began = time.monotonic()
        async with asyncio.timeout(within):
            while name not in self.seen:
                self._news.clear()
                await self._news.wait()
        return time.monotonic() - began

    async def settle(self) -> None:
        """Let what is under way arrive, then forget it."""
        quiet = False
        while not quiet:
            self.seen.clear()
            await asyncio.sleep(0.8)  # arming takes its time on a busy machine
            quiet = not self.seen
        self.seen.clear()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "agents"
    (root / "ada/_inbox").mkdir(parents=True)
    return root


@pytest.fixture
async def listener(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Listener]:
    monkeypatch.setattr(afterlook, "AFTER", 0.2)  # `settle` waits longer than that
    listener = Listener(root)
    task = asyncio.create_task(listener.run())
    await listener.hears(EVERYTHING)
    yield listener
    await listener.watch.close()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def folders(*names: str) -> list[PurePosixPath]:
    return [PurePosixPath(name) for name in names]


async def test_a_new_folder_in_the_root_is_a_hint_for_the_root(
    listener: Listener, root: Path
) -> None:
    (root / "prepared").mkdir()
    shutil.move(root / "prepared", root / "bob")
    await listener.hears("")


async def test_a_folder_moved_in_with_its_content_is_hinted_at_once_it_is_watched(
    listener: Listener, root: Path, tmp_path: Path
) -> None:
    prepared = tmp_path / "prepared"
    (prepared / "_inbox").mkdir(parents=True)
    (prepared / "GOAL.md").write_text("goal")
    prepared.rename(root / "bob")
    await listener.hears("")
    await listener.settle()
    listener.watch.folders("bob", folders("bob", "bob/_inbox"))
    await listener.hears("bob")
    await listener.settle()
    (root / "bob/_inbox/m.md").write_text("hello")
    await listener.hears("bob")


@pytest.mark.parametrize(("new", "hints"), [(60.0, 2), (-1.0, 1)])
def test_a_new_folder_is_hinted_at_a_second_time_and_an_old_one_is_not(
    root: Path, monkeypatch: pytest.MonkeyPatch, new: float, hints: int
) -> None:
    monkeypatch.setattr(afterlook, "AFTER", 0.2)
    monkeypatch.setattr(afterlook, "NEW", new)
    said: list[str] = []
    wanted = Wanted(str(root))
    minder = minding.Minder(wanted, polling=False, hint=said.extend, report=said.append)
    minder.start()
    until(lambda: EVERYTHING in said)
    wanted.put("ada", folders("ada", "ada/_inbox"))
    minder.wake()
    until(lambda: said.count("ada") >= hints)
    time.sleep(0.5)
    minder.stop()
    minder.join()
    assert said.count("ada") == hints


def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_second_look_is_due_a_second_after_the_watch_stands_and_once() -> None:
    again = Afterlook()
    assert again.wait(10.0) == float("inf")
    again.want((), 10.0)
    again.want({"ada"}, 10.0)
    again.want({"ada", "bob"}, 10.5)
    assert (again.due(10.9), again.wait(10.75)) == (frozenset(), 0.25)
    assert again.due(11.0) == {"ada"}
    assert again.due(12.0) == {"ada", "bob"}
    assert (again.due(99.0), again.wait(99.0)) == (frozenset(), float("inf"))


async def test_a_hint_comes_within_a_quarter_of_a_second(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada", "ada/_inbox"))
    await listener.settle()
    times = []
    for number in range(5):
        (root / f"ada/_inbox/{number}.md").write_text("hello")
        times.append(await listener.hears("ada"))
        await listener.settle()
    assert sorted(times)[2] < 0.25


async def test_what_lies_below_a_watched_folder_costs_nothing(
    listener: Listener, root: Path
) -> None:
    (root / "ada/inputs").mkdir()
    listener.watch.folders("ada", folders("ada"))
    await listener.settle()
    (root / "ada/inputs/data").write_text("x")
    await asyncio.sleep(0.4)
    assert listener.seen == []


async def test_the_daemons_own_logs_and_temporary_files_are_no_hint(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada"))
    await listener.settle()
    (root / "ada/events.jsonl").write_text("{}")
    (root / "ada/._status.md.agi-1-0a.tmp").write_text("x")
    (root / "ada/._status.md.agi-1-0a.tmp").rename(root / "ada/_status.md")
    await asyncio.sleep(0.4)
    assert listener.seen == []
    (root / "ada/GOAL.md").write_text("x")
    await listener.hears("ada")


async def test_saying_the_same_folders_again_is_no_hint(listener: Listener) -> None:
    listener.watch.folders("ada", folders("ada", "ada/_inbox"))
    await listener.settle()
    for _ in range(5):
        listener.watch.folders("ada", folders("ada", "ada/_inbox"))
    await asyncio.sleep(0.3)
    assert listener.seen == []


async def test_a_folder_that_does_not_exist_yet_is_no_trouble(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada", "ada/runs"))
    await listener.settle()
    (root / "ada/runs").mkdir()
    await listener.hears("ada")
    listener.watch.folders("ada", folders("ada", "ada/runs"))
    await listener.settle()
    (root / "ada/runs/r").mkdir()
    await listener.hears("ada")
    assert listener.words == []


async def test_a_watched_folder_that_is_made_anew_is_watched_anew(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada", "ada/_inbox"))
    await listener.settle()
    shutil.rmtree(root / "ada/_inbox")
    (root / "ada/_inbox").mkdir()
    await listener.settle()
    (root / "ada/_inbox/m.md").write_text("hello")
    await listener.hears("ada")


async def test_a_home_moved_away_and_back_is_watched_again(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada", "ada/_inbox"))
    await listener.settle()
    (root / "ada").rename(root / "bob")
    await listener.settle()
    (root / "bob").rename(root / "ada")
    await listener.settle()
    for place in ("GOAL.md", "_inbox/m.md"):
        (root / "ada" / place).write_text("hello")
        await listener.hears("ada")
        await listener.settle()


async def test_while_more_and_more_folders_are_added_nothing_is_missed(
    listener: Listener, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minding, "_YOUNG_MOST", 40)
    watched = ["ada"]
    for number in range(60):
        name = f"ada/n{number:02d}"
        (root / name).mkdir()
        watched.append(name)
        listener.watch.folders("ada", folders(*watched))
        await asyncio.sleep(0.01)
    await listener.settle()
    for name in watched[::7]:
        (root / name / "_spec.md").write_text("do")
        await listener.hears("ada")
        await listener.settle()


async def test_a_name_that_is_not_utf8_blinds_it_only_for_a_moment(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada"))
    await listener.settle()
    bad = os.fsencode(root / "ada") + b"/\xff\xfe"
    with open(bad, "wb") as file:
        file.write(b"x")
    await listener.hears(EVERYTHING)
    assert "not valid UTF-8" in listener.words[0]
    await asyncio.sleep(1.3)
    await listener.settle()
    (root / "ada/GOAL.md").write_text("x")
    await listener.hears("ada")


async def test_a_root_that_is_deleted_and_made_again_is_watched_again(
    listener: Listener, root: Path
) -> None:
    listener.watch.folders("ada", folders("ada"))
    await listener.settle()
    shutil.rmtree(root)
    await listener.hears(EVERYTHING, within=10)
    assert any("gone" in words for words in listener.words)
    (root / "ada").mkdir(parents=True)
    listener.seen.clear()
    await listener.hears(EVERYTHING, within=10)
    await asyncio.sleep(2.5)
    await listener.settle()
    (root / "ada/GOAL.md").write_text("x")
    await listener.hears("ada")


async def test_a_root_that_is_replaced_is_noticed(
    listener: Listener, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener.watch.folders("ada", folders("ada"))
    await listener.settle()
    root.rename(root.with_name("old"))
    (root / "ada").mkdir(parents=True)
    await listener.hears(EVERYTHING, within=10)
    await listener.settle()
    (root / "ada/GOAL.md").write_text("x")
    await listener.hears("ada")


async def test_polling_finds_changes_too(root: Path) -> None:
    listener = Listener(root, polling=True)
    listener.watch.folders("ada", folders("ada"))
    task = asyncio.create_task(listener.run())
    await listener.hears(EVERYTHING)
    await asyncio.sleep(0.5)
    listener.seen.clear()
    (root / "ada/GOAL.md").write_text("x")
    await listener.hears("ada")
    await listener.watch.close()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_ends_at_once_and_leaves_no_thread(root: Path) -> None:
    listener = Listener(root)
    listener.watch.folders("ada", folders("ada"))
    task = asyncio.create_task(listener.run())
    await listener.hears(EVERYTHING)
    began = time.monotonic()
    await listener.watch.close()
    assert time.monotonic() - began < 15
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not [t for t in threading.enumerate() if t.name.startswith("watch")]


async def test_a_listener_that_is_cancelled_ends_the_threads(root: Path) -> None:
    listener = Listener(root)
    task = asyncio.create_task(listener.run())
    await listener.hears(EVERYTHING)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(30):
        while [t for t in threading.enumerate() if t.name.startswith("watch")]:
            await asyncio.sleep(0.02)
