"""The first line of a log whose beginning was put away."""

from __future__ import annotations

import pytest

from agiraph.core.loghead import HEAD_BYTES, WHOLE, head_line, head_of

LINE = head_line("2026-07-31T21:04:11+00:00", "_archive/events/2026-07-31.jsonl.gz", 90)


def test_a_head_is_read_back_as_it_was_written() -> None:
    head = head_of(LINE + b'{"ts": "x"}\n')
    assert (head.ts, head.part) == (
        "2026-07-31T21:04:11+00:00",
        "2026-07-31.jsonl.gz",
    )
    assert (head.bytes, head.size) == (90, len(LINE))
    assert len(LINE) < HEAD_BYTES


def test_places_count_as_if_nothing_were_missing() -> None:
    head = head_of(LINE)
    assert head.place(head.size) == 90
    assert head.offset(90) == head.size
    assert head.offset(95) == head.size + 5
    assert head.offset(89) < head.size
    assert WHOLE.place(7) == WHOLE.offset(7) == 7


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        LINE[:-1],  # half a line
        b'{"ts": "2026-01-01T00:00:00+00:00", "type": "run.opened"}\n',
        b'{"put_away": "_archive/events/2026-07-31.jsonl.gz"}\n',
        b'{"put_away": "_archive/events/2026-07-31.jsonl.gz", "bytes": -1}\n',
        b'{"put_away": "_archive/events/mine.gz", "bytes": 3}\n',
        b'{"put_away": 3, "bytes": 3}\n',
        b'put_away "bytes"\n',
    ],
)
def test_any_other_first_line_is_none(beginning: bytes) -> None:
    assert head_of(beginning) == WHOLE
