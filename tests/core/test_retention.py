"""What is put away: old runs that ended, old lines, and never what is newest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import inf

import pytest

from agiraph.core.codec import read_tree_settings
from agiraph.core.codec.report import Good, Rejected
from agiraph.core.retention import (
    aside,
    candidates,
    is_archive,
    is_aside,
    is_due,
    is_long,
    part_name,
    parts,
    span,
    talks,
    unfinished,
)
from agiraph.model.agent import Keep
from agiraph.model.run import Run, RunState

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = 86400.0


def run(state: RunState, ended: str, opened: str = "2026-01-01T00:00:00+00:00") -> Run:
    return Run("2026-01-01-01", state, opened, "", "", "1", ended=ended)


def test_the_oldest_come_first_and_the_newest_never() -> None:
    names = ["2026-01-02-01", "2026-01-01-02", "2026-01-01-01", "2026-01-03-01"]
    found = candidates(names, "2026-01-03-01", NOW, 30 * DAY)
    assert found == ("2026-01-01-01", "2026-01-01-02", "2026-01-02-01")
    assert candidates(["2026-01-01-01"], "2026-01-01-01", NOW, 30 * DAY) == ()


def test_a_name_that_is_no_run_is_left_alone() -> None:
    names = ["notes", "2026-01-01", "2026-13-01-01", ".2026-01-01-01", "0001-01-01-01"]
    assert candidates(names, "2026-05-01-01", NOW, DAY) == ()


def test_a_young_run_is_not_even_opened() -> None:
    names = ["2026-05-20-01", "2026-05-21-01"]
    assert candidates(names, "2026-05-31-01", NOW, 30 * DAY) == ()


@pytest.mark.parametrize("state", [RunState.OPEN, RunState.REOPENED])
def test_a_run_that_goes_on_stays(state: RunState) -> None:
    assert not is_due(run(state, ""), NOW, DAY)


def test_its_time_counts_from_its_end() -> None:
    ended = (NOW - timedelta(days=30)).isoformat()
    assert is_due(run(RunState.COMPLETED, ended), NOW, 30 * DAY)
    assert not is_due(run(RunState.COMPLETED, ended), NOW, 30 * DAY + 1)
    assert is_due(run(RunState.FORKED, ""), NOW, 30 * DAY)


@pytest.mark.parametrize("ended", ["yesterday", "2026-01-01T00:00:00"])
def test_a_time_that_says_nothing_certain_keeps_a_run(ended: str) -> None:
    assert not is_due(run(RunState.COMPLETED, ended), NOW, DAY)


def test_what_only_has_to_go_is_known_by_its_name() -> None:
    assert is_aside(aside("2026-01-01-01"))
    assert not is_aside("2026-01-01-01")
    assert not is_aside(".notes.put-away")


def test_agiraph_yaml_says_for_how_long() -> None:
    found = read_tree_settings("keep: {runs: 1y}\n")
    assert isinstance(found, Good)
    assert found.value.keep == Keep(runs=365 * DAY)
    plain = read_tree_settings("max_agents: 2\n")
    assert isinstance(plain, Good)
    assert plain.value.keep.runs == 90 * DAY
    assert (plain.value.keep.logs, plain.value.keep.archives) == (90 * DAY, inf)
    told = read_tree_settings("keep: {runs: forever, logs: 30d, archives: 2y}\n")
    assert isinstance(told, Good)
    assert told.value.keep == Keep(runs=inf, logs=30 * DAY, archives=730 * DAY)
    assert candidates(["2000-01-01-01"], "2026-01-01-01", NOW, inf) == ()
    bad = read_tree_settings("keep: {runs: long}\n")
    assert isinstance(bad, Rejected)
    assert "or forever" in str(bad)


# --- logs


def line(day: str, more: str = "") -> bytes:
    return f'{{"ts": "{day}T12:00:00+00:00"{more}}}\n'.encode()


def at(day: str) -> float:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()


def test_a_log_is_shortened_a_third_of_the_time_after_its_first_line_is_due() -> None:
    first = at("2026-01-01")
    assert not is_long(first, first + 119 * DAY, 90 * DAY)
    assert is_long(first, first + 121 * DAY, 90 * DAY)
    assert not is_long(first, first + 1.9 * DAY, DAY)
    assert is_long(first, first + 2 * DAY, DAY)
    assert not is_long(first, first + 1e6 * DAY, inf)


def test_lines_that_are_old_enough_go_and_all_behind_the_first_that_is_not_stay() -> (
    None
):
    lines = [line("2026-01-01"), line("2026-01-02"), line("2026-01-03")]
    found = span([*lines, line("2026-01-01")], 100, at("2026-01-03"))
    assert found is not None
    assert (found.start, found.end) == (100, 100 + len(lines[0] + lines[1]))
    assert (found.day, found.last) == ("2026-01-02", lines[1])


def test_a_line_without_a_time_goes_with_the_one_behind_it() -> None:
    odd = b"no record\n"
    old, new = line("2026-01-01"), line("2026-01-09")
    assert (found := span([odd, old, odd, new], 0, at("2026-01-05"))) is not None
    assert found.end == len(odd + old)
    assert span([odd, new], 0, at("2026-01-05")) is None
    assert span([odd, b'{"ts": "2026-01-01'], 0, at("2026-01-05")) is None


def test_archives_are_named_so_that_the_newest_comes_last() -> None:
    first = part_name("2026-01-31", "", [])
    second = part_name("2026-01-31", first, [first])
    third = part_name("2026-01-02", second, [first, second])  # the clock was set back
    tenth = part_name("2026-01-31", "2026-01-31.9.jsonl.gz", [])
    named = [first, second, third, tenth]
    assert named == [
        "2026-01-31.jsonl.gz",
        "2026-01-31.2.jsonl.gz",
        "2026-01-31.3.jsonl.gz",
        "2026-01-31.10.jsonl.gz",
    ]
    later = part_name("2026-02-01", tenth, named)
    there = [later, tenth, "mine.gz", *named[:3]]
    assert parts(there, tenth) == named
    assert parts(there, "") == []
    assert unfinished(there, tenth) == [later]


def test_a_name_that_is_taken_is_not_given_again() -> None:
    taken = ["2026-01-31.jsonl.gz", "2026-01-31.2.jsonl.gz"]
    assert part_name("2026-01-31", "", taken) == "2026-01-31.3.jsonl.gz"


def test_sessions_are_put_away_in_their_order() -> None:
    names = ["10000.jsonl", "0002-10.jsonl", "0002-2.jsonl", "0002.jsonl", "outbox.md"]
    assert talks(names) == [
        "0002.jsonl",
        "0002-2.jsonl",
        "0002-10.jsonl",
        "10000.jsonl",
    ]


def test_only_archives_of_our_making_are_known_as_such() -> None:
    ours = [
        "2026-01-01-01.tar.gz",
        "2026-01-01-01.2.tar.gz",
        "2026-01-31.jsonl.gz",
        "2026-01-31.2.jsonl.gz",
        "0007.jsonl.gz",
        "0007-2.jsonl.gz",
    ]
    assert all(map(is_archive, ours))
    theirs = ["backup.tar.gz", "2026.tar.gz", "workers", "notes-0007.jsonl.gz", ""]
    assert not any(map(is_archive, theirs))


def test_a_line_of_the_future_does_not_keep_a_log_from_becoming_shorter() -> None:
    old, new, ahead = line("2026-01-01"), line("2026-01-09"), line("2099-01-01")
    now = at("2026-01-10")
    found = span([old, ahead, old, ahead, new], 0, at("2026-01-05"), now)
    assert found is not None
    assert found.end == len(old + ahead + old)
    assert span([ahead, new, old], 0, at("2026-01-05"), now) is None
