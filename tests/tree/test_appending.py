"""Logs grow by whole lines; what a crash tore is cut off; flushes are shared."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import DiskFault, NotThere
from agiraph.tree import disk, openlogs
from agiraph.tree.pen import DiskPen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOG = PurePosixPath("ada/events.jsonl")


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The descriptors that were brought onto the disk, in order."""
    seen: list[int] = []
    real = disk.sync_data

    def note(fd: int) -> None:
        seen.append(fd)
        time.sleep(0.005)  # a disk that takes its time, so that calls meet
        real(fd)

    monkeypatch.setattr(openlogs, "sync_data", note)
    return seen


async def test_lines_are_added_in_order_and_whole(pen: DiskPen, root: Path) -> None:
    for number in range(100):
        await pen.append(LOG, b'{"n": %d}' % number, flush=number == 50)
    await pen.flush(LOG)
    lines = (root / LOG).read_bytes().splitlines()
    assert lines == [b'{"n": %d}' % number for number in range(100)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"n": 1}\n{"n": 2', b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n": 2}', b'{"n": 1}\n{"n": 2}\n'),
        (b'{"n": 1}\n' + b"\0" * 9000, b'{"n": 1}\n'),
        (b'{"n": 1}\n{"n"\0\0\0\n\0\0', b'{"n": 1}\n'),
        (b'{"n": 1}\n{"big": "' + b"x" * 300_000, b'{"n": 1}\n'),
        (b'{"n": 1', b""),
        (b"\0\0\0", b""),
        (b"", b""),
        (b'{"n": 1}\n', b'{"n": 1}\n'),
        (b'{"n": 1}\n17', b'{"n": 1}\n'),
    ],
)
async def test_a_torn_end_is_cut_off_before_the_first_append_and_told(
    root: Path, before: bytes, after: bytes
) -> None:
    (root / LOG).write_bytes(before)
    told: list[str] = []
    pen = DiskPen(str(root), on_repair=told.append)
    await pen.append(LOG, b'{"new": 1}\n', flush=True)
    await pen.append(LOG, b'{"new": 2}\n', flush=True)
    assert (root / LOG).read_bytes() == after + b'{"new": 1}\n{"new": 2}\n'
    assert bool(told) == (len(after) < len(before))
    assert pen.repairs == told
    assert all("ada/events.jsonl" in words for words in told)
    await pen.close()


async def test_other_logs_than_json_keep_their_last_line(root: Path) -> None:
    outbox = PurePosixPath("ada/_outbox.md")
    (root / outbox).write_bytes(b"hello\nhalf a li")
    pen = DiskPen(str(root))
    await pen.append(outbox, b"next\n", flush=True)
    assert (root / outbox).read_bytes() == b"hello\nhalf a li\nnext\n"
    assert pen.repairs == []
    await pen.close()


async def test_many_flushes_of_one_log_share_the_fsync(
    pen: DiskPen, syncs: list[int]
) -> None:
    await pen.append(LOG, b"{}\n", flush=True)
    syncs.clear()
    async with asyncio.TaskGroup() as tasks:
        for number in range(100):
            tasks.create_task(pen.append(LOG, b'{"n": %d}\n' % number, flush=True))
    assert 1 <= len(syncs) <= 3


async def test_a_flush_covers_what_came_while_another_was_under_way(
    pen: DiskPen, syncs: list[int]
) -> None:
    await pen.append(LOG, b"{}\n", flush=False)
    first = asyncio.ensure_future(pen.flush(LOG))
    await asyncio.sleep(0)
    await pen.append(LOG, b"{}\n", flush=False)
    second = asyncio.ensure_future(pen.flush(LOG))
    await first
    assert not second.done(), "the first fsync may have begun before the second line"
    await second
    assert len(syncs) == 2
    await pen.flush(LOG)
    assert len(syncs) == 2, "nothing new, so nothing to bring"


@pytest.fixture
def not_for_ever() -> Iterator[None]:
    """Raise in a loop that never lets go, which no deadline of asyncio's can end."""

    def ring(number: int, frame: object) -> None:
        raise AssertionError("it goes round and never ends")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 10.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("not_for_ever")
async def test_a_flush_that_begins_in_the_moment_in_which_one_ends_comes_to_its_end(
    pen: DiskPen,
) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(2000):
            group.create_task(pen.append(LOG, b"{}", flush=True))
            await asyncio.sleep(0)  # one in every round of the loop


async def test_a_flush_that_nobody_waits_for_any_more_disturbs_nobody(
    pen: DiskPen, syncs: list[int]
) -> None:
    await pen.append(LOG, b"{}\n", flush=False)
    impatient = asyncio.ensure_future(pen.flush(LOG))
    patient = asyncio.ensure_future(pen.flush(LOG))
    await asyncio.sleep(0)
    impatient.cancel()
    await patient
    assert impatient.cancelled()
    assert len(syncs) == 1


async def test_different_logs_are_flushed_at_the_same_time(pen: DiskPen) -> None:
    logs = [PurePosixPath(f"ada/log-{number}.jsonl") for number in range(4)]
    running = 0
    most = 0
    real = openlogs.sync_data

    def slow(fd: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.05)
        running -= 1
        real(fd)

    openlogs.sync_data = slow
    try:
        async with asyncio.TaskGroup() as tasks:
            for log in logs:
                tasks.create_task(pen.append(log, b"{}\n", flush=True))
    finally:
        openlogs.sync_data = real
    assert most > 1


async def test_after_a_failed_fsync_the_log_is_opened_anew(
    pen: DiskPen, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pen.append(LOG, b'{"n": 1}\n', flush=True)
    fds: list[int] = []
    real = disk.sync_data

    def fail_once(fd: int) -> None:
        fds.append(fd)
        if len(fds) == 1:
            os.dup(fd)  # so that the number is not used again
            raise OSError(errno.EIO, "the disk failed")
        real(fd)

    monkeypatch.setattr(openlogs, "sync_data", fail_once)
    with pytest.raises(DiskFault, match=r"events\.jsonl"):
        await pen.append(LOG, b'{"n": 2}\n', flush=True)
    await pen.append(LOG, b'{"n": 3}\n', flush=True)
    assert len(fds) == 2
    assert (root / LOG).read_bytes() == b'{"n": 1}\n{"n": 2}\n{"n": 3}\n'


async def test_after_a_failed_fsync_what_was_appended_goes_into_a_new_file(
    pen: DiskPen, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux forgets which pages were lost, and would call them kept the next time."""
    await pen.append(LOG, b'{"n": 1}\n', flush=True)
    (root / LOG).chmod(0o640)
    before = (root / LOG).stat()
    real = disk.sync_data

    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "the disk failed")

    monkeypatch.setattr(openlogs, "sync_data", fail)
    with pytest.raises(DiskFault):
        await pen.append(LOG, b'{"n": 2}\n', flush=True)
    monkeypatch.setattr(openlogs, "sync_data", real)
    await pen.flush(LOG)
    after = (root / LOG).stat()
    assert after.st_ino != before.st_ino
    assert after.st_mode == before.st_mode
    assert (root / LOG).read_bytes() == b'{"n": 1}\n{"n": 2}\n'
    assert os.listdir(root / LOG.parent) == [LOG.name]


def away(home: Path) -> None:
    home.rename(home.with_name("bob"))


def deleted(home: Path) -> None:
    (home / "events.jsonl").unlink()
    home.rmdir()


@pytest.mark.parametrize("leave", [away, deleted])
async def test_a_log_of_a_home_that_left_is_not_written(
    pen: DiskPen, root: Path, leave: Callable[[Path], None]
) -> None:
    await pen.append(LOG, b'{"n": 1}\n', flush=True)
    leave(root / "ada")
    with pytest.raises(NotThere):
        await pen.append(LOG, b'{"n": 2}\n', flush=True)
    for log in root.rglob("*.jsonl"):
        assert log.read_bytes() == b'{"n": 1}\n'


async def test_a_log_that_was_replaced_is_found_again(pen: DiskPen, root: Path) -> None:
    await pen.append(LOG, b'{"n": 1}\n', flush=True)
    (root / "new").write_bytes(b'{"from": "a sync"}\n{"torn')
    (root / "new").rename(root / LOG)
    await pen.append(LOG, b'{"n": 2}\n', flush=True)
    assert (root / LOG).read_bytes() == b'{"from": "a sync"}\n{"n": 2}\n'
    assert len(pen.repairs) == 1


async def test_more_logs_than_may_be_open_are_all_kept_and_flushed(
    root: Path, syncs: list[int]
) -> None:
    pen = DiskPen(str(root), most_open=4)
    logs = [PurePosixPath(f"ada/log-{number}.jsonl") for number in range(12)]
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(2):
        for log in logs:
            await pen.append(log, b"{}\n", flush=False)
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 5
    for log in logs:
        await pen.flush(log)
    assert len(syncs) == len(logs)
    assert all((root / log).read_bytes() == b"{}\n{}\n" for log in logs)
    await pen.close()
