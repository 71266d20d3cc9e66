"""A person's file is read when it is whole, and only then."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import pytest

from agiraph.clock import SystemClock
from agiraph.errors import NotPlain, NotThere, Outside, TooLarge
from agiraph.ports import EntryKind, Seen
from agiraph.tree import reader as reading
from agiraph.tree.reader import DiskReader
from tests.support.clock import HandClock

GOAL = PurePosixPath("ada/GOAL.md")
LIMIT = 1000


@pytest.fixture
def goal(root: Path) -> Path:
    return root / "ada/GOAL.md"


@pytest.fixture
def clock() -> HandClock:
    """Starts at the real time: the disk's time stamps are real."""
    return HandClock(datetime.now(UTC))


@pytest.fixture
def reader(root: Path, clock: HandClock, by_kernel: bool | None) -> DiskReader:
    return DiskReader(str(root), clock, by_kernel=by_kernel)


def settled(reader: DiskReader, clock: HandClock) -> str:
    reader.look(GOAL, limit=LIMIT)
    clock.move(0.3)
    sight = reader.look(GOAL, limit=LIMIT)
    assert sight.seen is Seen.GOOD
    return sight.text


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="read leases are Linux's")
def test_at_once_a_file_that_nobody_writes_is_read_before_it_settles(
    reader: DiskReader, goal: Path
) -> None:
    goal.write_text("here")
    sight = reader.look(GOAL, limit=LIMIT, at_once=True)
    assert (sight.seen, sight.text) == (Seen.GOOD, "here")


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="read leases are Linux's")
def test_at_once_neither_an_open_nor_an_empty_file_is_read(
    reader: DiskReader, goal: Path
) -> None:
    goal.write_text("")
    assert reader.look(GOAL, limit=LIMIT, at_once=True).seen is Seen.LATER
    with goal.open("w") as writer:
        writer.write("half of")
        writer.flush()
        assert reader.look(GOAL, limit=LIMIT, at_once=True).seen is Seen.LATER
    assert reader.look(GOAL, limit=LIMIT, at_once=True).text == "half of"


def test_at_once_without_leases_a_file_settles_first(
    reader: DiskReader, clock: HandClock, goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(fcntl, "F_SETLEASE", raising=False)
    goal.write_text("here")
    assert reader.look(GOAL, limit=LIMIT, at_once=True).seen is Seen.LATER
    clock.move(0.3)
    assert reader.look(GOAL, limit=LIMIT, at_once=True).text == "here"


def test_a_file_is_read_once_it_was_quiet(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    goal.write_text("find out")
    early = reader.look(GOAL, limit=LIMIT)
    assert early.seen is Seen.LATER
    assert 0 < early.again <= 0.25
    clock.move(early.again + 0.01)
    sight = reader.look(GOAL, limit=LIMIT)
    assert (sight.seen, sight.text) == (Seen.GOOD, "find out")
    assert sight.sha == hashlib.sha256(b"find out").hexdigest()
    assert sight.quiet == pytest.approx(0.26, abs=0.2)


def test_an_old_file_is_read_at_the_first_look(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    goal.write_text("old")
    clock.move(3600)
    assert reader.look(GOAL, limit=LIMIT).text == "old"


def test_each_change_starts_the_waiting_anew(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    clock.jump_wall(-10)  # stamps lie in the future: only our own watching counts
    goal.write_text("a")
    for length in range(2, 6):
        assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
        clock.move(0.1)
        goal.write_text("a" * length)
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    clock.move(0.26)
    assert reader.look(GOAL, limit=LIMIT).text == "aaaaa"


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_was_set_makes_nothing_wait_for_ever(
    reader: DiskReader, clock: HandClock, goal: Path, jump: float
) -> None:
    goal.write_text("words")
    reader.look(GOAL, limit=LIMIT)
    clock.jump_wall(jump)
    clock.move(0.3)
    assert reader.look(GOAL, limit=LIMIT).text == "words"


def test_a_file_that_somebody_writes_is_not_read(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    with goal.open("w") as writer:
        writer.write("half")
        writer.flush()
        reader.look(GOAL, limit=LIMIT)
        clock.move(10)
        sight = reader.look(GOAL, limit=LIMIT)
        assert sight.seen is Seen.LATER
        assert "open for writing" in sight.problem
        writer.write(" and half")
    clock.move(10)
    assert reader.look(GOAL, limit=LIMIT).text == "half and half"


def test_an_empty_file_is_believed_after_five_seconds(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    goal.write_text("")
    first = reader.look(GOAL, limit=LIMIT)
    assert first.seen is Seen.LATER
    assert 4 < first.again <= 5
    clock.move(4.5)
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    clock.move(0.6)
    sight = reader.look(GOAL, limit=LIMIT)
    assert (sight.seen, sight.text) == (Seen.GOOD, "")


def test_a_known_file_is_believed_to_be_gone_after_two_seconds(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.ABSENT, "never seen: at once"
    goal.write_text("here")
    settled(reader, clock)
    goal.unlink()
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    clock.move(1.9)
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    clock.move(0.2)
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.ABSENT


def test_a_save_by_delete_and_rename_is_no_absence(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    goal.write_text("before")
    settled(reader, clock)
    goal.rename(goal.with_name("GOAL.md~"))
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    goal.write_text("after")
    assert settled(reader, clock) == "after"


def test_a_home_that_is_gone_makes_its_files_absent(
    reader: DiskReader, clock: HandClock, goal: Path
) -> None:
    goal.write_text("here")
    settled(reader, clock)
    goal.parent.rename(goal.parent.with_name("bob"))
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    clock.move(2.1)
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.ABSENT


def test_a_change_within_one_tick_of_the_disks_clock_is_found(
    reader: DiskReader, clock: HandClock, goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def coarse(found: os.stat_result) -> tuple[int, ...]:
        return found.st_dev, found.st_ino, found.st_size, 0, 0

    monkeypatch.setattr(reading, "stamp_of", coarse)  # as on a disk that counts seconds
    goal.write_text("one")
    assert settled(reader, clock) == "one"
    with goal.open("r+") as file:
        file.write("two")
    assert settled(reader, clock) == "two"


def test_an_unchanged_file_is_not_read_again(
    root: Path, clock: HandClock, goal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = DiskReader(str(root), clock)
    goal.write_text("still")
    clock.move(60)
    assert reader.look(GOAL, limit=LIMIT).text == "still"

    def refuse(*_: object, **__: object) -> int:
        raise AssertionError("it was read again")

    monkeypatch.setattr(os, "pread", refuse)
    again = reader.look(GOAL, limit=LIMIT)
    assert again.text == "still"
    clock.move(5)
    assert reader.look(GOAL, limit=LIMIT).quiet > again.quiet


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def make_link_to_secret(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def make_large(path: Path) -> None:
    path.write_bytes(b"x" * (LIMIT + 1))


def make_binary(path: Path) -> None:
    path.write_bytes(b"\x7fELF\0\0")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (make_fifo, "pipe"),
        (make_folder, "folder"),
        (make_dangling_link, "link"),
        (make_link_to_secret, "link"),
        (make_large, "1,001 bytes"),
        (make_binary, "NUL"),
    ],
)
def test_what_is_no_text_file_is_bad_and_the_words_say_why(
    reader: DiskReader, clock: HandClock, goal: Path, make: object, word: str
) -> None:
    assert callable(make)
    make(goal)
    reader.look(GOAL, limit=LIMIT)
    clock.move(1)
    sight = reader.look(GOAL, limit=LIMIT)
    assert sight.seen is Seen.BAD
    assert word in sight.problem
    assert sight.text == ""


def test_a_home_that_is_a_link_is_never_entered(reader: DiskReader, root: Path) -> None:
    (root / "eve").symlink_to("ada")
    (root / "ada/GOAL.md").write_text("secret")
    sight = reader.look(PurePosixPath("eve/GOAL.md"), limit=LIMIT)
    assert sight.seen is Seen.BAD
    assert "link" in sight.problem


HOSTILE = textwrap.dedent("""
    import sys, time
    end = time.monotonic() + float(sys.argv[2])
    count = 0
    while time.monotonic() < end:
        count += 1
        body = (str(count % 10) * 2000).encode()
        with open(sys.argv[1], "wb", buffering=0) as file:
            for start in range(0, 2000, 500):
                file.write(body[start:start + 500])
        time.sleep(0.0004)
""")


class Impatient:
    """A clock on which every file has long been quiet: only the lease protects."""

    def __init__(self) -> None:
        self._real = SystemClock()

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time() + 3600, UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def zone(self) -> object:
        return UTC

    async def sleep(self, seconds: float) -> None:
        await self._real.sleep(seconds)


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="read leases are Linux's")
def test_a_file_rewritten_in_place_all_the_time_is_never_read_torn(
    root: Path, goal: Path
) -> None:
    goal.write_text("0" * 2000)
    reader = DiskReader(str(root), Impatient())  # type: ignore[arg-type]
    writer = subprocess.Popen([sys.executable, "-c", HOSTILE, str(goal), "2"])
    good = 0
    naive_torn = 0
    while writer.poll() is None:
        sight = reader.look(GOAL, limit=10_000)
        if sight.seen is Seen.GOOD and sight.text:
            good += 1
            assert len(sight.text) == 2000
            assert len(set(sight.text)) == 1
        text = goal.read_text()
        naive_torn += len(text) != 2000
    assert writer.returncode == 0, "the lease's signal or delay hurt the writer"
    assert good > 20
    assert naive_torn > 0, "the writer was not hostile enough to prove anything"


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="read leases are Linux's")
def test_a_writer_that_breaks_a_lease_does_not_end_the_reader(goal: Path) -> None:
    goal.write_text("text")
    program = textwrap.dedent("""
        import os, sys
        from agiraph.tree import lease
        fd = os.open(sys.argv[1], os.O_RDONLY)
        assert lease.take(fd) is lease.Lease.GRANTED
        try:
            os.close(os.open(sys.argv[1], os.O_WRONLY | os.O_NONBLOCK))
        except BlockingIOError:
            print("broken and alive")
    """)
    done = subprocess.run(
        [sys.executable, "-c", program, str(goal)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout) == (0, "broken and alive\n"), done.stderr


def test_reading_gives_the_bytes_and_refuses_the_rest(
    reader: DiskReader, root: Path
) -> None:
    (root / "ada/data").write_bytes(b"0123456789")
    (root / "ada/link").symlink_to("data")
    os.mkfifo(root / "ada/pipe")
    data = PurePosixPath("ada/data")
    assert reader.read(data, limit=10) == b"0123456789"
    assert reader.part(data, offset=8, limit=10) == b"89"
    assert reader.part(data, offset=20, limit=10) == b""
    with pytest.raises(TooLarge):
        reader.read(data, limit=9)
    for name in ("link", "pipe", "."):
        with pytest.raises(NotPlain):
            reader.read(PurePosixPath("ada") / name, limit=10)
    with pytest.raises(NotThere):
        reader.read(PurePosixPath("ada/none"), limit=10)
    with pytest.raises(Outside):
        reader.read(PurePosixPath("ada/../ada/data"), limit=10)


def test_a_folder_is_listed_in_order_without_names_that_cannot_be_written(
    reader: DiskReader, root: Path
) -> None:
    home = root / "ada"
    (home / "b").mkdir()
    (home / "a.txt").write_text("12345")
    (home / "c").symlink_to("b")
    Path(os.fsdecode(os.fsencode(home) + b"/\xff")).write_text("?")
    found = reader.entries(PurePosixPath("ada"))
    assert [(entry.name, entry.kind, entry.size) for entry in found] == [
        ("a.txt", EntryKind.FILE, 5),
        ("b", EntryKind.FOLDER, 0),
        ("c", EntryKind.LINK, 0),
    ]
    link = reader.entry(PurePosixPath("ada/c"))
    assert link is not None
    assert link.kind is EntryKind.LINK
    assert reader.entry(PurePosixPath("ada/none/deeper")) is None
    top = reader.entry(PurePosixPath())
    assert top is not None
    assert (top.name, top.kind) == ("", EntryKind.FOLDER)
    with pytest.raises(NotThere):
        reader.entries(PurePosixPath("bob"))


def test_a_file_that_finds_no_descriptor_is_looked_at_later(
    reader: DiskReader, goal: Path, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal.write_text("Do it.\n")
    reader.look(GOAL, limit=LIMIT)
    clock.move(60)
    real = os.open

    def refuse(path: str, *args: int, **more: int) -> int:
        if path == "GOAL.md":
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(path, *args, **more)

    with monkeypatch.context() as refusing:
        refusing.setattr(os, "open", refuse)
        assert reader.look(GOAL, limit=LIMIT).seen is Seen.LATER
    assert reader.look(GOAL, limit=LIMIT).seen is Seen.GOOD
