"""A log loses its beginning in one step, and nothing that is added meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import AgiraphError, Changing, DiskRefused
from agiraph.tree.pen import DiskPen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOG = PurePosixPath("ada/events.jsonl")
HEAD = b'{"put_away": "x", "bytes": 2}\n'


def line(number: int) -> bytes:
    return b'{"number": %d, "more": "%s"}\n' % (number, b"x" * 200)


OLD = [line(number) for number in range(2_000)]
START = sum(map(len, OLD[:500]))


@pytest.fixture
async def pen(tmp_path: Path) -> AsyncIterator[DiskPen]:
    (tmp_path / "ada").mkdir()
    pen = DiskPen(str(tmp_path))
    for each in OLD:
        await pen.append(LOG, each, flush=False)
    yield pen
    await pen.close()


def log(root: Path) -> list[bytes]:
    return (root / LOG).read_bytes().splitlines(keepends=True)


async def test_the_line_stands_in_the_place_of_the_beginning(
    pen: DiskPen, tmp_path: Path
) -> None:
    os.chmod(tmp_path / LOG, 0o640)
    await pen.shorten(LOG, HEAD, START, OLD[499])
    await pen.append(LOG, line(2_000), flush=True)
    assert log(tmp_path) == [HEAD, *OLD[500:], line(2_000)]
    assert (tmp_path / LOG).stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "ada") == [LOG.name]


async def test_what_is_added_meanwhile_stands_behind_it_each_line_once(
    pen: DiskPen, tmp_path: Path
) -> None:
    new: list[bytes] = []
    ended = asyncio.Event()

    async def adds() -> None:
        while not ended.is_set():
            new.append(line(len(new) + 10_000))
            await pen.append(LOG, new[-1], flush=len(new) % 7 == 0)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(adds())
        gone = 0
        for _ in range(20):
            await asyncio.sleep(0.005)
            first = len(HEAD) if gone else 0
            at = first + sum(map(len, OLD[gone : gone + 100]))
            gone += 100
            await pen.shorten(LOG, HEAD, at, OLD[gone - 1])
        ended.set()
    assert len(new) > 20
    assert log(tmp_path) == [HEAD, *OLD[2_000:], *new]


async def test_a_log_that_is_not_what_it_was_is_left_alone(
    pen: DiskPen, tmp_path: Path
) -> None:
    with pytest.raises(Changing):
        await pen.shorten(LOG, HEAD, START, OLD[498])
    with pytest.raises(Changing):
        await pen.shorten(LOG, HEAD, START + 7, OLD[499])
    beside = tmp_path / "ada" / "beside"
    beside.write_bytes(b"mended by hand\n")
    os.replace(beside, tmp_path / LOG)
    with pytest.raises(Changing):
        await pen.shorten(LOG, HEAD, START, OLD[499])
    assert log(tmp_path) == [b"mended by hand\n"]
    assert os.listdir(tmp_path / "ada") == [LOG.name]


@pytest.mark.parametrize("call", ["write", "fsync", "rename", "fchmod"])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_disk_that_refuses_loses_nothing(
    pen: DiskPen,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    times: int,
) -> None:
    await pen.flush(LOG)
    real, left = getattr(os, call), [times]

    def refuses(*args: object, **more: object) -> object:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuses)
        try:
            await pen.shorten(LOG, HEAD, START, OLD[499])
        except AgiraphError as fault:
            assert isinstance(fault, DiskRefused)  # noqa: PT017  (it may also be done)
    await pen.append(LOG, line(2_000), flush=True)
    whole, shorter = [*OLD, line(2_000)], [HEAD, *OLD[500:], line(2_000)]
    assert log(tmp_path) in (whole, shorter)
    assert os.listdir(tmp_path / "ada") == [LOG.name]


async def test_who_is_cancelled_leaves_the_log_whole_and_nothing_beside_it(
    pen: DiskPen, tmp_path: Path
) -> None:
    task = asyncio.ensure_future(pen.shorten(LOG, HEAD, START, OLD[499]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pen.close()
    assert log(tmp_path) == OLD
    for _ in range(3):  # what the thread began is let go of by the loop
        await asyncio.sleep(0)
    assert os.listdir(tmp_path / "ada") == [LOG.name]
