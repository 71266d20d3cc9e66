"""Files are written whole or not at all, inside the tree, and never over a person's."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import shutil
import stat
import subprocess
import threading
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import (
    AgiraphError,
    DiskFault,
    DiskRefused,
    Full,
    NotPlain,
    NotThere,
    Occupied,
    Outside,
    ReadOnly,
)
from agiraph.tree import disk
from agiraph.tree.pen import DiskPen

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUS = PurePosixPath("ada/_status.md")
SCRATCH = PurePosixPath("ada/scratch")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_file_is_made_and_replaced_and_leaves_nothing_behind(
    pen: DiskPen, root: Path
) -> None:
    await pen.write(STATUS, b"one")
    await pen.write(STATUS, b"two")
    assert (root / STATUS).read_bytes() == b"two"
    assert names(root / "ada") == ["_status.md"]


async def test_equal_bytes_are_not_written_again(pen: DiskPen, root: Path) -> None:
    await pen.write(STATUS, b"same")
    before = (root / STATUS).stat()
    await pen.write(STATUS, b"same")
    after = (root / STATUS).stat()
    assert (before.st_ino, before.st_ctime_ns) == (after.st_ino, after.st_ctime_ns)


async def test_a_replaced_file_keeps_its_rights_and_its_owner(
    pen: DiskPen, root: Path
) -> None:
    path = root / "ada/triggers.yaml"
    path.write_text("[]")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 1234)
    before = path.stat()
    await pen.write(PurePosixPath("ada/triggers.yaml"), b"- {}")
    after = path.stat()
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


async def test_a_reader_sees_the_old_or_the_new_and_nothing_else(
    pen: DiskPen, root: Path
) -> None:
    await pen.write(STATUS, b"0" * 5000)
    stop = threading.Event()
    bad: list[object] = []
    looks = 0

    def watch() -> None:
        nonlocal looks
        while not stop.is_set():
            looks += 1
            try:
                text = (root / STATUS).read_bytes()
            except OSError as error:
                bad.append(error)
                continue
            if len(text) != 5000 or len(set(text)) != 1:
                bad.append(text)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for number in range(200):
        await pen.write(STATUS, str(number % 10).encode() * 5000)
    stop.set()
    watcher.join()
    assert looks > 100
    assert bad == []


async def test_missing_folders_are_made_but_never_a_home(
    pen: DiskPen, root: Path
) -> None:
    await pen.write(PurePosixPath("ada/runs/r/nodes/n/_status.md"), b"x")
    await pen.write(PurePosixPath(".agiraph/cache/x"), b"x")
    await pen.write(PurePosixPath("agiraph.yaml.error.md"), b"x")
    ghost = PurePosixPath("ghost")
    line = b'{"type": "x"}\n'
    with pytest.raises(NotThere, match="never made again"):
        await pen.write(ghost / "_status.md", b"x")
    with pytest.raises(NotThere):
        await pen.folder(ghost)
    with pytest.raises(NotThere):
        await pen.folder(ghost / "runs")
    with pytest.raises(NotThere):
        await pen.create(ghost / "runs/x", b"x")
    with pytest.raises(NotThere):
        await pen.append(ghost / "events.jsonl", line, flush=True)
    with pytest.raises(NotThere):
        await pen.move(STATUS.parent / "runs", ghost / "runs")
    assert names(root) == [".agiraph", "ada", "agiraph.yaml.error.md"]
    await pen.make_home("ghost")
    await pen.make_home("ghost")
    await pen.append(ghost / "events.jsonl", line, flush=True)
    assert (root / "ghost/events.jsonl").read_bytes() == line


async def test_a_home_deleted_while_it_is_written_to_stays_deleted(
    pen: DiskPen, root: Path
) -> None:
    log = PurePosixPath("ada/runs/r/log.jsonl")
    await pen.append(log, b"{}\n", flush=True)
    shutil.rmtree(root / "ada")
    with pytest.raises(NotThere):
        await pen.append(log, b"{}\n", flush=True)
    with pytest.raises(NotThere):
        await pen.write(STATUS, b"x")
    assert names(root) == []


async def test_create_never_replaces(pen: DiskPen, root: Path) -> None:
    assert await pen.create(STATUS, b"first")
    assert not await pen.create(STATUS, b"second")
    assert (root / STATUS).read_bytes() == b"first"
    (root / "ada/folder").mkdir()
    assert not await pen.create(PurePosixPath("ada/folder"), b"x")
    assert names(root / "ada") == ["_status.md", "folder"]


async def test_of_many_creators_one_wins(pen: DiskPen, root: Path) -> None:
    async with asyncio.TaskGroup() as tasks:
        made = [
            tasks.create_task(pen.create(STATUS, str(number).encode()))
            for number in range(20)
        ]
    winners = [number for number, task in enumerate(made) if task.result()]
    assert [int((root / STATUS).read_bytes())] == winners


@pytest.fixture(params=["renameat2", "by hand"])
def either_rename(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the system call, and as on a system that lacks it."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EINVAL, "not supported")

    if request.param == "by hand":
        monkeypatch.setattr(disk, "_renameat2", refuse)


@pytest.mark.usefixtures("either_rename")
async def test_move_takes_a_folder_whole_and_never_replaces(
    pen: DiskPen, root: Path
) -> None:
    node = PurePosixPath("ada/runs/r/nodes/n")
    await pen.write(node / "scratch/deep/report.md", b"done", within=node / "scratch")
    await pen.move(node / "scratch", node / "published")
    assert (root / node / "published/deep/report.md").read_bytes() == b"done"
    await pen.folder(node / "scratch")
    with pytest.raises(Occupied):
        await pen.move(node / "scratch", node / "published")
    with pytest.raises(NotThere):
        await pen.move(node / "none", node / "else")
    assert names(root / node) == ["published", "scratch"]


@pytest.mark.usefixtures("either_rename")
async def test_move_takes_a_file_and_never_replaces(pen: DiskPen, root: Path) -> None:
    await pen.write(PurePosixPath("ada/_inbox/m.md"), b"hello")
    await pen.write(PurePosixPath("ada/_inbox/.read/old.md"), b"old")
    with pytest.raises(Occupied):
        await pen.move(
            PurePosixPath("ada/_inbox/m.md"), PurePosixPath("ada/_inbox/.read/old.md")
        )
    await pen.move(
        PurePosixPath("ada/_inbox/m.md"), PurePosixPath("ada/_inbox/.read/m.md")
    )
    assert names(root / "ada/_inbox/.read") == ["m.md", "old.md"]
    assert names(root / "ada/_inbox") == [".read"]


async def test_remove_takes_files_only(pen: DiskPen, root: Path) -> None:
    await pen.write(STATUS, b"x")
    await pen.remove(STATUS)
    await pen.remove(STATUS)
    await pen.remove(PurePosixPath("ghost/none/x"))
    with pytest.raises(NotPlain):
        await pen.remove(PurePosixPath("ada"))
    assert names(root / "ada") == []


@pytest.mark.parametrize("path", ["../x", "ada/../../x", "/tmp/x"])
async def test_nothing_is_written_outside(pen: DiskPen, path: str) -> None:
    for step in (
        pen.write(PurePosixPath(path), b"x"),
        pen.append(PurePosixPath(path), b"x", flush=False),
        pen.folder(PurePosixPath(path)),
        pen.remove(PurePosixPath(path)),
        pen.create(PurePosixPath(path), b"x"),
        pen.move(PurePosixPath(path), STATUS),
        pen.move(STATUS, PurePosixPath(path)),
    ):
        with pytest.raises((Outside, NotThere)):
            await step


async def test_a_model_cannot_write_through_a_link_that_leaves(
    root: Path, by_kernel: bool | None
) -> None:
    pen = DiskPen(str(root), by_kernel=by_kernel)
    (root / "ada/secret").mkdir()
    (root / "ada/secret/key").write_text("key")
    scratch = root / SCRATCH
    scratch.mkdir()
    (scratch / "out").symlink_to("../secret")
    (scratch / "key").symlink_to("../secret/key")
    (scratch / "inner").mkdir()
    (scratch / "in").symlink_to("inner")
    with pytest.raises(Outside):
        await pen.write(SCRATCH / "out/key", b"taken", within=SCRATCH)
    with pytest.raises(Outside):
        await pen.folder(SCRATCH / "out/new", within=SCRATCH)
    with pytest.raises(NotPlain):
        await pen.write(SCRATCH / "key", b"taken", within=SCRATCH)
    with pytest.raises(Outside):
        await pen.write(PurePosixPath("ada/GOAL.md"), b"taken", within=SCRATCH)
    await pen.write(SCRATCH / "in/deep/note", b"fine", within=SCRATCH)
    assert (scratch / "inner/deep/note").read_bytes() == b"fine"
    assert (root / "ada/secret/key").read_text() == "key"
    await pen.close()


async def test_protocol_files_are_never_written_through_links(
    pen: DiskPen, root: Path
) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "ada/runs").symlink_to(outside)
    (root / STATUS).symlink_to(outside / "x")
    (root / "ada/events.jsonl").symlink_to(outside / "y")
    with pytest.raises(NotPlain):
        await pen.write(PurePosixPath("ada/runs/r/_status.md"), b"x")
    with pytest.raises(NotPlain):
        await pen.write(STATUS, b"x")
    with pytest.raises(NotPlain):
        await pen.append(PurePosixPath("ada/events.jsonl"), b"{}\n", flush=True)
    assert names(outside) == []


async def test_a_file_in_the_way_of_a_folder_is_told(pen: DiskPen, root: Path) -> None:
    (root / "ada/runs").write_text("a person's note")
    with pytest.raises(NotPlain, match="ada/runs"):
        await pen.write(PurePosixPath("ada/runs/r/_status.md"), b"x")
    assert (root / "ada/runs").read_text() == "a person's note"


async def test_a_pipe_in_place_of_a_file_does_not_hang(
    pen: DiskPen, root: Path
) -> None:
    os.mkfifo(root / STATUS)
    os.mkfifo(root / "ada/events.jsonl")
    async with asyncio.timeout(30):
        with pytest.raises(NotPlain, match="pipe"):
            await pen.write(STATUS, b"x")
        with pytest.raises(NotPlain, match="pipe"):
            await pen.append(PurePosixPath("ada/events.jsonl"), b"{}\n", flush=True)


async def test_a_failed_flush_is_written_again_from_the_start_once(
    pen: DiskPen, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real_open, real_sync = os.open, os.fsync
    failures = 1

    def note_open(path: str, *args: object, **kwargs: object) -> int:
        if str(path).endswith(".tmp"):
            opened.append(path)
        return real_open(path, *args, **kwargs)  # type: ignore[arg-type]

    def fail(fd: int) -> None:
        nonlocal failures
        if failures and stat.S_ISREG(os.fstat(fd).st_mode):
            failures -= 1
            raise OSError(errno.EIO, "the disk failed")
        real_sync(fd)

    monkeypatch.setattr(os, "open", note_open)
    monkeypatch.setattr(os, "fsync", fail)
    await pen.write(STATUS, b"kept")
    assert (root / STATUS).read_bytes() == b"kept"
    assert len(set(opened)) == 2, "a new temporary file, not a second fsync"

    failures = 2
    with pytest.raises(DiskFault, match=r"_status\.md"):
        await pen.write(STATUS, b"lost")
    assert (root / STATUS).read_bytes() == b"kept"
    assert names(root / "ada") == ["_status.md"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A tree on a disk of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount command")
    if done.returncode != 0:
        pytest.skip("mounting is not permitted here")
    try:
        (place / "ada").mkdir()
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


async def test_on_a_full_disk_the_old_file_stays(small_disk: Path) -> None:
    pen = DiskPen(str(small_disk))
    log = PurePosixPath("ada/events.jsonl")
    await pen.write(STATUS, b"old")
    await pen.append(log, b'{"n": 0}\n', flush=True)
    with pytest.raises(Full, match="no room"):
        await pen.write(STATUS, b"n" * 400_000)
    with pytest.raises(Full):
        await pen.append(log, b'{"n": "' + b"n" * 400_000 + b'"}\n', flush=True)
    assert (small_disk / STATUS).read_bytes() == b"old"
    assert (small_disk / log).read_bytes() == b'{"n": 0}\n'
    assert names(small_disk / "ada") == ["_status.md", "events.jsonl"]
    await pen.append(log, b'{"n": 1}\n', flush=True)
    await pen.write(STATUS, b"new")
    assert (small_disk / log).read_bytes() == b'{"n": 0}\n{"n": 1}\n'
    await pen.close()


async def test_a_file_size_limit_counts_as_full(pen: DiskPen, root: Path) -> None:
    await pen.write(STATUS, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(Full):
            await pen.write(STATUS, b"n" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (root / STATUS).read_bytes() == b"old"


async def test_a_disk_that_is_read_only_is_told(small_disk: Path) -> None:
    pen = DiskPen(str(small_disk))
    await pen.write(STATUS, b"old")
    subprocess.run(
        ["mount", "-o", "remount,ro", str(small_disk)], check=True, capture_output=True
    )
    with pytest.raises(ReadOnly, match=r"_status\.md"):
        await pen.write(STATUS, b"new")
    with pytest.raises(ReadOnly):
        await pen.append(PurePosixPath("ada/events.jsonl"), b"{}\n", flush=True)
    with pytest.raises(ReadOnly):
        await pen.folder(PurePosixPath("ada/runs"))
    await pen.close()


async def test_a_cancelled_write_never_lands_after_the_next_one(
    pen: DiskPen, root: Path
) -> None:
    for number in range(30):
        first = asyncio.ensure_future(pen.write(STATUS, b"old %d" % number))
        await asyncio.sleep(0)
        first.cancel()
        await pen.write(STATUS, b"new %d" % number)
        assert (root / STATUS).read_bytes() == b"new %d" % number
        await asyncio.gather(first, return_exceptions=True)


async def test_leftovers_of_a_killed_daemon_are_taken_away(
    pen: DiskPen, root: Path
) -> None:
    left = [
        ".a.yaml.agi-12-abcdef.tmp",
        "ada/._status.md.agi-12-abcdef.tmp",
        "ada/_state/accepted/.GOAL.md.agi-1-0f.tmp",
        "ada/_state/accepted/runs/2026-11-21-01/nodes/n/._spec.md.agi-1-0f.tmp",
        "ada/_state/accepted/runs/2026-11-21-01/workers/Al/.identity.md.agi-1-0f.tmp",
        "ada/runs/2026-11-21-01/nodes/n/._status.md.agi-9-0f.tmp",
        "ada/runs/2026-11-21-01/workers/Alice/.memory.md.agi-9-0f.tmp",
    ]
    kept = ["ada/.GOAL.md.swp", "ada/notes.tmp", "ada/.x.agi-y-z.tmp"]
    for name in left + kept:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    assert await pen.remove_leftovers() == len(left)
    assert [name for name in left if (root / name).exists()] == []
    assert all((root / name).exists() for name in kept)


async def test_every_refusal_is_one_of_our_errors_and_names_the_path(
    pen: DiskPen,
) -> None:
    long = PurePosixPath("ada") / ("n" * 300)
    with pytest.raises(AgiraphError, match="name is too long"):
        await pen.write(long / "x", b"x")
    with pytest.raises(AgiraphError):
        await pen.write(PurePosixPath(), b"x")


async def test_after_a_failed_fsync_of_a_folder_an_equal_file_is_not_taken_for_kept(
    pen: DiskPen, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, synced, fails = os.fsync, [], [True]

    def fail_once(fd: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        if is_folder and fails and fails.pop():
            raise OSError(errno.EIO, "the disk failed")
        real(fd)
        synced.append(is_folder)

    monkeypatch.setattr(os, "fsync", fail_once)
    path = PurePosixPath("ada/_status.md")
    with pytest.raises(DiskFault):
        await pen.write(path, b"status: idle\n")
    assert synced == [False]
    await pen.write(path, b"status: idle\n")
    assert synced == [False, True]
    await pen.write(path, b"status: idle\n")
    assert synced == [False, True]


async def test_what_is_handed_in_holds_no_leftovers_at_any_depth(
    pen: DiskPen, root: Path
) -> None:
    inner = root / SCRATCH / "deep/er"
    inner.mkdir(parents=True)
    (inner / ".a.md.agi-12-abcdef.tmp").write_text("half")
    (inner / "a.md").write_text("whole")
    await pen.move(SCRATCH, PurePosixPath("ada/published"))
    assert names(root / "ada/published/deep/er") == ["a.md"]


async def test_a_write_that_finds_no_descriptor_is_refused_by_the_disk(
    pen: DiskPen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DiskRefused):
        await pen.write(STATUS, b"words")


class FailingFolders:
    """fsync fails for folders while `failing`; it notes which were brought."""

    def __init__(self) -> None:
        self.failing = True
        self.brought: list[str] = []
        self._real = os.fsync

    def __call__(self, fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            if self.failing:
                raise OSError(errno.EIO, "the disk failed")
            self.brought.append(Path(os.readlink(f"/proc/self/fd/{fd}")).name)
        self._real(fd)


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> FailingFolders:
    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc here")
    found = FailingFolders()
    monkeypatch.setattr(os, "fsync", found)
    return found


async def test_a_move_that_could_not_be_flushed_is_finished_when_it_is_tried_again(
    pen: DiskPen, root: Path, folders: FailingFolders
) -> None:
    source, target = SCRATCH / "a.md", PurePosixPath("ada/done/a.md")
    (root / SCRATCH).mkdir()
    (root / source).write_text("whole")
    for _ in range(2):
        with pytest.raises(DiskFault):
            await pen.move(source, target)
    folders.failing = False
    await pen.move(source, target)
    assert folders.brought == ["done", "ada", "scratch"]
    assert (root / target).read_text() == "whole"
    with pytest.raises(NotThere):
        await pen.move(source, target)


async def test_a_move_that_was_given_up_does_not_swallow_the_next_one(
    pen: DiskPen, root: Path, folders: FailingFolders
) -> None:
    (root / SCRATCH).mkdir()
    published = PurePosixPath("ada/published")
    with pytest.raises(DiskFault):
        await pen.move(SCRATCH, published)
    folders.failing = False
    (root / published).rename(root / "ada/published.1")
    (root / SCRATCH).mkdir()
    await pen.move(SCRATCH, published)
    assert names(root / "ada") == ["published", "published.1"]


async def test_a_removal_that_could_not_be_flushed_is_flushed_when_it_is_tried_again(
    pen: DiskPen, root: Path, folders: FailingFolders
) -> None:
    (root / STATUS).write_text("old")
    with pytest.raises(DiskFault):
        await pen.remove(STATUS)
    folders.failing = False
    await pen.remove(STATUS)
    assert folders.brought == ["ada"]


async def test_folders_that_were_made_reach_the_disk_when_a_write_is_tried_again(
    pen: DiskPen, root: Path, folders: FailingFolders
) -> None:
    path = PurePosixPath("ada/runs/r/_run.yaml")
    with pytest.raises(DiskFault):
        await pen.write(path, b"status: open\n")
    folders.failing = False
    await pen.write(path, b"status: open\n")
    assert sorted(folders.brought) == ["ada", "r", "runs"]
