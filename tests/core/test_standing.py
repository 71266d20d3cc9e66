"""How an agent stands: one state out of everything that is known of it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from agiraph.core.standing import Facts, standing
from agiraph.model.agent import AgentState
from agiraph.model.run import RunState

QUIET = Facts(
    broken="",
    paused=False,
    run=RunState.OPEN,
    active=0,
    held={},
    questions=(),
    queued=False,
    startable=False,
)
A = AgentState
EVERYTHING = replace(
    QUIET,
    broken="GOAL.md: bad",
    paused=True,
    active=2,
    held={"a": "no money"},
    questions=("q-001",),
    queued=True,
    startable=True,
)


def state(facts: Facts) -> AgentState:
    return standing(facts)[0]


@pytest.mark.parametrize(
    ("run", "stands"),
    [
        (None, A.IDLE),
        (RunState.COMPLETED, A.COMPLETED),
        (RunState.FAILED, A.FAILED),
        (RunState.STOPPED, A.STOPPED),
        (RunState.FORKED, A.FORKED),
        (RunState.OPEN, A.WORKING),
        (RunState.REOPENED, A.WORKING),
    ],
)
def test_a_quiet_agent_stands_as_its_newest_run(
    run: RunState | None, stands: AgentState
) -> None:
    assert state(replace(QUIET, run=run)) is stands


def test_what_keeps_it_from_starting_goes_before_all() -> None:
    assert standing(EVERYTHING) == (A.BROKEN, "GOAL.md: bad")


def test_a_pause_shows_at_once_though_work_is_still_ending() -> None:
    stands, words = standing(replace(EVERYTHING, broken=""))

    assert stands is A.PAUSED
    assert "PAUSE" in words


def test_an_agent_with_one_loop_at_work_works_whatever_else_waits() -> None:
    busy = replace(QUIET, active=1, held={"a": "no money"}, questions=("q-001",))

    assert standing(busy) == (A.WORKING, "")


@pytest.mark.parametrize("run", [RunState.COMPLETED, None])
def test_a_reply_after_the_run_is_work(run: RunState | None) -> None:
    assert state(replace(QUIET, run=run, active=1)) is A.WORKING


def test_an_agent_without_a_place_is_queued() -> None:
    stands, words = standing(replace(QUIET, queued=True))

    assert stands is A.HELD
    assert "queued" in words


def test_held_says_each_reason_once() -> None:
    held = {"a": "no money", "b": "no money", "c": "no key"}

    assert standing(replace(QUIET, held=held)) == (A.HELD, "no money; no key")


def test_an_open_question_waits_for_the_person() -> None:
    facts = replace(QUIET, questions=("q-001", "q-002"))

    assert standing(facts) == (A.WAITING_FOR_HUMAN, "an answer to q-001, q-002")


def test_a_question_while_something_can_go_on_waits_for_nobody() -> None:
    assert state(replace(QUIET, questions=("q-001",), startable=True)) is A.WORKING


def test_a_question_of_a_run_that_has_ended_holds_nothing_up() -> None:
    facts = replace(QUIET, run=RunState.COMPLETED, questions=("q-001",))

    assert state(facts) is A.COMPLETED


def test_an_infinite_agent_between_two_cycles_is_idle() -> None:
    assert standing(replace(QUIET, resting=True)) == (A.IDLE, "the next cycle")
    assert state(replace(QUIET, resting=True, startable=True)) is A.WORKING
    assert state(replace(QUIET, resting=True, active=1)) is A.WORKING


def test_an_open_run_whose_goal_was_deleted_is_held_until_it_returns() -> None:
    now, why = standing(replace(QUIET, aimless=True, active=1))

    assert now is A.HELD
    assert "GOAL.md" in why
    assert state(replace(QUIET, aimless=True, run=RunState.COMPLETED)) is A.COMPLETED


def test_a_coordinator_that_was_refused_has_failed_though_its_run_is_open() -> None:
    assert state(replace(QUIET, failed="the request was refused")) is A.FAILED
    assert state(replace(QUIET, failed="x", broken="GOAL.md is bad")) is A.BROKEN


def test_an_ended_run_whose_last_result_is_owed_is_at_work_still() -> None:
    owed = replace(QUIET, run=RunState.COMPLETED, settling=True)
    assert state(owed) is A.WORKING
    assert state(replace(owed, paused=True)) is A.PAUSED


def test_every_fact_counts() -> None:
    """A fact that changes nothing would be a promise forgotten."""
    changes = {
        "broken": "x",
        "failed": "x",
        "paused": True,
        "run": None,
        "active": 1,
        "held": {"a": "x"},
        "questions": ("q-001",),
        "queued": True,
        "startable": True,
        "resting": True,
        "aimless": True,
        "settling": True,
    }
    assert set(changes) == {field.name for field in fields(Facts)}
    for name, value in changes.items():
        asks = () if name in ("questions", "resting") else ("q-001",)
        run = RunState.COMPLETED if name == "settling" else QUIET.run
        base = replace(QUIET, questions=asks, run=run)
        assert standing(replace(base, **{name: value})) != standing(base), name  # type: ignore[arg-type]  # one field each
