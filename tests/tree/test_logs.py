"""Logs are read by whole lines, each once; damage is told with its line."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.core.loghead import head_line
from agiraph.tree.logs import Tail
from agiraph.tree.reader import DiskReader

if TYPE_CHECKING:
    from tests.support.clock import HandClock

LOG = PurePosixPath("ada/events.jsonl")


@pytest.fixture
def reader(root: Path, clock: HandClock) -> DiskReader:
    return DiskReader(str(root), clock)


@pytest.fixture
def log(root: Path) -> Path:
    return root / LOG


def test_a_log_that_is_not_there_is_empty(reader: DiskReader) -> None:
    assert Tail(reader, LOG).more().records == ()


@pytest.mark.parametrize("tail", [b'{"n": 3', b"\0\0\0", b'{"n\0\0\n\0\n', b""])
def test_a_torn_end_is_no_record_and_no_damage(
    reader: DiskReader, log: Path, tail: bytes
) -> None:
    log.write_bytes(b'{"n": 1}\n\n{"n": "\xc3\xa9"}\n' + tail)
    found = Tail(reader, LOG).more()
    assert found.records == ({"n": 1}, {"n": "é"})
    assert found.damage is None
    assert found.torn == len(tail)


@pytest.mark.parametrize("bad", [b"{oops}", b"17", b'{"n"\0\0', b"\xff\xfe", b"[" * 9])
def test_a_bad_line_before_good_ones_is_damage_with_its_number(
    reader: DiskReader, log: Path, bad: bytes
) -> None:
    log.write_bytes(b'{"n": 1}\n{"n": 2}\n' + bad + b'\n{"n": 4}\n')
    found = Tail(reader, LOG).more()
    assert found.records == ({"n": 1}, {"n": 2}, {"n": 4})
    assert found.damage is not None
    assert found.damage.line == 3
    assert "ada/events.jsonl, line 3" in found.damage.words


def test_a_line_nested_without_end_is_damage(reader: DiskReader, log: Path) -> None:
    log.write_bytes(b'{"a":' * 100_000 + b"\n")
    assert Tail(reader, LOG).more().damage is not None


def test_a_tail_reads_on_and_nothing_twice(reader: DiskReader, log: Path) -> None:
    tail = Tail(reader, LOG)
    assert tail.more().records == ()
    with log.open("ab", buffering=0) as file:
        file.write(b'{"n": 1}\n{"n":')
        assert tail.more().records == ({"n": 1},)
        assert tail.more().records == ()
        file.write(b" 2}\n")
        assert tail.more().records == ({"n": 2},)
        file.write(b"oops\n")
        broken = tail.more().damage
        assert broken is not None
        assert broken.line == 3
        file.write(b'{"n": 4}\n')
        after = tail.more()
        assert (after.records, after.damage) == (({"n": 4},), None)
    assert tail.offset == log.stat().st_size


def test_a_tail_starts_where_it_is_told(reader: DiskReader, log: Path) -> None:
    log.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    assert Tail(reader, LOG, offset=9).more().records == ({"n": 2},)


def test_a_torn_end_that_is_cut_off_and_written_anew_is_read(
    reader: DiskReader, log: Path
) -> None:
    log.write_bytes(b'{"n": 1}\n{"torn')
    tail = Tail(reader, LOG)
    tail.more()
    log.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    found = tail.more()
    assert (found.records, found.restarted) == (({"n": 2},), False)


def test_a_log_that_became_shorter_is_read_from_its_start(
    reader: DiskReader, log: Path
) -> None:
    log.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    tail = Tail(reader, LOG)
    tail.more()
    log.write_bytes(b'{"n": 7}\n')
    found = tail.more()
    assert (found.records, found.restarted) == (({"n": 7},), True)


@pytest.mark.parametrize("gone", [10, 60, 100])
def test_a_tail_goes_on_at_its_line_where_the_beginning_was_put_away(
    reader: DiskReader, log: Path, gone: int
) -> None:
    lines = [b'{"n": %d}\n' % number for number in range(200)]
    log.write_bytes(b"".join(lines[:100]))
    tail = Tail(reader, LOG)
    assert len(tail.more().records) == 100
    for first, last in ((gone, 150), (gone + 20, 200)):
        away = sum(map(len, lines[:first]))
        archive = f"_archive/events/2026-01-{first % 28 + 1:02}.jsonl.gz"
        head = head_line("2026-01-01T00:00:00+00:00", archive, away)
        log.write_bytes(head + b"".join(lines[first:last]))
        found = tail.more()
        assert not found.restarted
        assert [each["n"] for each in found.records] == list(range(last - 50, last))


def test_lines_longer_than_one_part_are_read(reader: DiskReader, log: Path) -> None:
    long = b'{"text": "' + b"x" * 3_000_000 + b'"}\n'
    log.write_bytes(b'{"n": 1}\n' + long + b'{"n": 3}\n')
    found = Tail(reader, LOG).more()
    assert len(found.records) == 3
    assert found.damage is None


def test_a_log_whose_beginning_is_put_away_while_it_is_read_is_read_right(
    root: Path, clock: HandClock, log: Path
) -> None:
    lines = [b'{"n": %d, "x": "%s"}\n' % (n, b"x" * n) for n in range(2_000)]
    log.write_bytes(b"".join(lines))
    away = sum(map(len, lines[:300]))
    archive = "_archive/events/2026-01-01.jsonl.gz"
    head = head_line("2026-01-01T00:00:00+00:00", archive, away)

    class Slow(DiskReader):
        def part(
            self,
            path: PurePosixPath,
            *,
            offset: int,
            limit: int,
            within: PurePosixPath | None = None,
        ) -> bytes:
            if offset > 1_000_000 and not log.read_bytes().startswith(head):
                log.write_bytes(head + b"".join(lines[300:]))
            return super().part(path, offset=offset, limit=limit, within=within)

    tail = Tail(Slow(str(root), clock), LOG)
    found = tail.more()
    assert found.damage is None
    assert [each["n"] for each in found.records] == list(range(300, 2_000))
    assert tail.more().records == ()


def test_a_log_that_was_cut_behind_its_head_is_read_from_its_first_line(
    reader: DiskReader, log: Path
) -> None:
    head = head_line("2026-01-01T00:00:00+00:00", "_archive/x/2026-01-01.jsonl.gz", 90)
    log.write_bytes(head + b'{"n": 1}\n{"n": 2}\n')
    tail = Tail(reader, LOG)
    assert len(tail.more().records) == 2
    log.write_bytes(head + b'{"n": 3}\n')
    found = tail.more()
    assert (found.records, found.restarted) == (({"n": 3},), True)
