"""Which runs are put away: the old and ended ones, and never the newest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from agiraph.core.codec import read_tree_settings
from agiraph.core.codec.report import Good, Rejected
from agiraph.core.retention import aside, candidates, is_aside, is_due
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
    assert isinstance(read_tree_settings("keep: {runs: long}\n"), Rejected)
