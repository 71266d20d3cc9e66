"""What gzip archives hold, a piece at a time."""

from __future__ import annotations

import gzip
from pathlib import PurePosixPath

import pytest

from agiraph.core.packed import HEADER, lines, made_at, unpacked
from agiraph.errors import Unreadable

PATH = PurePosixPath("a.gz")
TEXT = b"".join(b"%d\n" % number for number in range(400_000))
PACKED = gzip.compress(TEXT, mtime=1_800_000_000)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1_000, 65_536, len(PACKED)])
def test_everything_comes_out_in_order(size: int) -> None:
    assert b"".join(unpacked(cut(PACKED, size), PATH)) == TEXT


def test_no_piece_is_large_however_well_it_was_packed() -> None:
    packed = gzip.compress(bytes(50_000_000))
    assert max(map(len, unpacked([packed], PATH))) <= 1 << 20


@pytest.mark.parametrize(
    "data", [b"", PACKED[:-9], PACKED[:200], b"no archive", PACKED[:50] + bytes(999)]
)
def test_a_damaged_archive_is_told(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"a\.gz is damaged"):
        list(unpacked([data], PATH))


def test_lines_are_whole_wherever_the_pieces_end() -> None:
    text = b"one\n\ntwo\nthree"
    for size in range(1, len(text) + 1):
        assert list(lines(cut(text, size))) == [b"one\n", b"\n", b"two\n", b"three"]


def test_an_archive_says_when_it_was_made() -> None:
    assert made_at(PACKED[:HEADER]) == 1_800_000_000
    assert made_at(gzip.compress(b"x", mtime=0)[:HEADER]) is None
    assert made_at(b"{}\n") is None
    assert made_at(b"no archive at all") is None
