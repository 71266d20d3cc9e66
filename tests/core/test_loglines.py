"""What a crash leaves at the end of a log is cut off; all other damage is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.loglines import BadLine, bad_lines, record_of, records, time_of

ONE, TWO = b'{"a": 1}\n', b'{"a": 2}\n'


def found(data: bytes) -> list[object]:
    return [record.found["a"] for record in records(data)]


@pytest.mark.parametrize(
    "end",
    [b"", b'{"a": 3', b"\0\0\0\0", b'{"a"\0\0\0', b"\0\0\n", b'{"a": 3\0\0\n', b"\n"],
)
def test_what_a_crash_leaves_at_the_end_is_left_out(end: bytes) -> None:
    assert found(ONE + TWO + end) == [1, 2]


def test_a_last_line_that_lacks_only_its_line_end_counts() -> None:
    assert found(ONE + TWO.rstrip()) == [1, 2]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b'{"a": \n', "no JSON"),
        (b"[1]\n", "no JSON object"),
        (b"\xff\xfe\n", "no JSON"),
        (b"\0\0\0\n", "NUL"),
        (b"[" * 100_000 + b"\n", "no JSON|deeply"),
    ],
)
def test_damage_before_a_good_line_is_told_with_its_place(bad: bytes, why: str) -> None:
    with pytest.raises(BadLine, match=why) as told:
        found(ONE + bad + TWO)
    assert told.value.number == 2


def test_a_whole_line_that_is_no_record_is_damage_at_the_end_too() -> None:
    with pytest.raises(BadLine) as told:
        found(ONE + TWO + b"what is this\n")
    assert told.value.number == 3


def test_nul_bytes_before_a_line_without_its_end_are_damage() -> None:
    with pytest.raises(BadLine, match="NUL"):
        found(ONE + b"\0\0\n" + TWO.rstrip())


@given(st.lists(st.integers(), max_size=20), st.data())
def test_a_log_cut_anywhere_is_read_up_to_there(
    numbers: list[int], data: st.DataObject
) -> None:
    whole = b"".join(json.dumps({"a": n}).encode() + b"\n" for n in numbers)
    cut = data.draw(st.integers(0, len(whole)))
    read = found(whole[:cut])
    assert read == numbers[: len(read)]
    assert len(read) >= whole[:cut].count(b"\n")


@pytest.mark.parametrize("line", [b"", b'{"a": 1', b"[1]", b"\xff", b"[" * 100_000])
def test_a_line_by_itself_is_a_record_or_nothing(line: bytes) -> None:
    assert record_of(line) is None
    assert record_of(ONE) == {"a": 1}


def test_a_stamp_that_is_no_time_is_long_ago() -> None:
    assert time_of("1970-01-01T00:01:00+00:00") == 60.0
    assert time_of(None) == time_of("yesterday") == 0.0


@pytest.mark.parametrize(
    "end",
    [b"", b'{"a": 3', b"\0\0\0\0", b'{"a"\0\0\0', b"\0\0\n", b"\0\n{", b"\n \n"],
)
def test_every_bad_line_is_named_and_what_a_crash_left_is_none(end: bytes) -> None:
    data = ONE + b"rubbish\n\n\0\n[1]\n" + TWO + end
    lines = data.splitlines(keepends=True)
    bad = list(bad_lines(lines, lambda said: "two" if said == {"a": 2} else ""))
    assert [each.number for each in bad] == [2, 4, 5, 6]
    assert [each.why[:16] for each in bad] == [
        "it is no JSON (E",
        "there are NUL by",
        "it is no JSON ob",
        "two",
    ]


@given(st.lists(st.sampled_from([ONE, b"x\n", b"\0\n", b"\n", b"{", b"\0"])))
def test_the_first_bad_line_is_the_one_that_reading_stops_at(
    parts: list[bytes],
) -> None:
    data = b"".join(parts)
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    bad = next(bad_lines(lines, lambda _: ""), None)
    assert (bad and (bad.number, bad.why)) == first_bad(data)


def first_bad(data: bytes) -> tuple[int, str] | None:
    try:
        list(records(data))
    except BadLine as told:
        return told.number, told.why
    return None
