"""The journal stays small, and forgets nothing that a restart needs."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from agiraph.errors import Unreadable
from agiraph.runtime import journal as books
from agiraph.runtime.journal import Journal
from tests.support.inside import inside

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "JOURNAL_BYTES", 20_000)


def made(a: Inside) -> Journal:
    (a.home / "_state").mkdir(parents=True, exist_ok=True)
    return Journal(a.world, a.desk.home)


def entries(a: Inside) -> list[dict[str, Any]]:
    text = (a.home / "_state/journal.jsonl").read_text("utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


async def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        journal = made(a)
        sizes = []
        for turn in range(1, 1000):
            await journal.intend(f"coordinator/1.{turn}.0", "bash", {"run": "r"})
            sizes.append((a.home / "_state/journal.jsonl").stat().st_size)

        assert max(sizes) < 2 * 20_000
        for known in (journal, made(a)):
            assert known.intent("coordinator/1.999.0") == {"run": "r"}
            assert known.intent("coordinator/1.1.0") is None


async def test_many_who_write_at_once_lose_nothing_while_it_is_replaced(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        journal = made(a)

        async def worker(name: str) -> None:
            for turn in range(1, 60):
                step = f"2026-11-21-01/{name}/1.{turn}.0"
                await journal.intend(step, "bash", {"run": name})
                assert f'"{step}"' in (a.home / "_state/journal.jsonl").read_text()
                assert journal.intent(step) == {"run": name}

        async with asyncio.TaskGroup() as group:
            for number in range(12):
                group.create_task(worker(f"w{number}"))

        anew = made(a)
        for number in range(12):
            step = f"2026-11-21-01/w{number}/1.59.0"
            assert anew.intent(step) == {"run": f"w{number}"}
        assert len(entries(a)) < 12 * 59


async def test_who_is_cancelled_meanwhile_stops_nobody(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        journal = made(a)
        for turn in range(1, 400):
            step = f"coordinator/1.{turn}.0"
            task = asyncio.create_task(journal.intend(step, "bash", {"run": "r"}))
            for _ in range(turn % 7):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        async with asyncio.timeout(30):
            await journal.intend("coordinator/1.400.0", "bash", {"run": "r"})

        assert made(a).intent("coordinator/1.400.0") == {"run": "r"}


async def test_what_could_not_be_read_for_a_moment_is_read_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inside(tmp_path) as a:
        await made(a).intend("coordinator/1.1.0", "bash", {"run": "r"})
        journal, reader = made(a), a.world.reader
        real = reader.read

        def refuse(*_: object, **__: object) -> bytes:
            raise Unreadable("too many open files")

        monkeypatch.setattr(reader, "read", refuse)
        with pytest.raises(Unreadable):
            journal.load()
        monkeypatch.setattr(reader, "read", real)

        assert journal.intent("coordinator/1.1.0") == {"run": "r"}


async def test_who_is_cancelled_while_it_is_replaced_leaves_no_task(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        before = asyncio.all_tasks()
        journal = made(a)
        writing = asyncio.create_task(journal.intend("coordinator/1.1.0", "bash", {}))
        await writing
        journal._most = 0  # the next line has it replaced
        writing = asyncio.create_task(journal.intend("coordinator/1.2.0", "bash", {}))
        while asyncio.all_tasks() <= before | {writing}:
            await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing

        assert asyncio.all_tasks() <= before
        assert made(a).intent("coordinator/1.2.0") == {}
