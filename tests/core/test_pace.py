"""The pace of calls: what refusals and answers do to it, on a clock of numbers."""

from __future__ import annotations

import pytest

from agiraph.core import pace as rules
from agiraph.core.pace import FEWER, FIRST_AT_ONCE, SLOWER, SLOWEST, Going, Pace
from agiraph.model.usage import Headroom


def burst(calls: int, at: float = 0.0, start: Pace | None = None) -> Pace:
    """A pace after so many calls at one moment."""
    pace = start or Pace()
    for _ in range(calls):
        pace = rules.sent(pace, at)
    return pace


def refused(pace: Pace, times: int, *, at: float, went: float) -> Pace:
    for _ in range(times):
        pace = rules.refused(pace, at, went, 1.0)
    return pace


def test_without_a_refusal_nothing_is_waited_for() -> None:
    pace = burst(32)

    assert rules.wait(pace, 0.0) == 0
    assert pace.rate is None


def test_the_first_refusals_tell_the_rate_by_what_was_let_through() -> None:
    pace = refused(burst(32), 12, at=0.05, went=0.0)

    assert pace.rate == pytest.approx(20.0)
    assert rules.wait(pace, 0.1) == pytest.approx(0.95)


def test_after_a_pause_calls_go_one_by_one_at_that_rate() -> None:
    pace = refused(burst(32), 12, at=0.0, went=0.0)

    assert rules.wait(pace, 1.0) == 0
    pace = rules.sent(pace, 1.0)
    assert rules.wait(pace, 1.0) == pytest.approx(1 / 20)
    assert rules.wait(pace, 1.06) == 0


def test_refusals_of_one_burst_count_as_one() -> None:
    one = refused(burst(32), 1, at=0.0, went=0.0)
    many = refused(burst(32), 12, at=0.0, went=0.0)

    assert one.at_once == many.at_once == FIRST_AT_ONCE * FEWER


def test_a_later_refusal_lowers_the_rate_a_little() -> None:
    pace = refused(burst(32), 12, at=0.0, went=0.0)
    now = 1.0
    while now < 3.0:
        pace = rules.sent(pace, now)
        now += rules.wait(pace, now) + 1e-6
    before = pace.rate
    pace = rules.refused(pace, now, now - 0.05, 1.0)

    assert before is not None
    assert pace.rate == pytest.approx(SLOWER * before, rel=0.03)
    assert pace.until == pytest.approx(now + 1.0)


def test_time_without_a_refusal_raises_the_rate() -> None:
    pace = refused(burst(32), 12, at=0.0, went=0.0)
    later = rules.answered(rules.sent(pace, 1.0), 11.0, Going(1.0, 1))

    assert later.rate is not None
    assert 20.0 < later.rate < 40.0
    assert later.at_once == pace.at_once + 1


def test_calls_at_once_grow_by_one_an_answer_and_have_an_end() -> None:
    pace = Pace(at_once=3.0, most=4.0)
    for _ in range(3):
        pace = rules.answered(pace, 0.0, Going(0.0, 0))

    assert pace.at_once == 4.0


def test_a_busy_service_gets_fewer_at_once_and_the_first_of_many_counts() -> None:
    one = rules.overloaded(Pace(), 10.0, 9.0, 2.0)
    two = rules.overloaded(one, 10.1, 9.0, 2.0)

    assert one == two
    assert rules.wait(one, 11.0) == 1.0
    assert one.at_once == FIRST_AT_ONCE * FEWER
    assert one.rate is None


def test_no_refusal_makes_it_stand_still_for_good() -> None:
    pace = Pace()
    for step in range(200):
        pace = rules.refused(rules.sent(pace, 10.0 * step), 10.0 * step, -1.0, 1.0)
        pace = rules.refused(pace, 10.0 * step + 2, 10.0 * step + 1.5, 1.0)

    assert pace.rate is not None
    assert pace.rate >= SLOWEST
    assert pace.at_once >= 1.0


def told(pace: Pace, now: float, left: float, *, sent_at: float) -> Pace:
    """An answer that says what is left of sixty calls a minute."""
    room = Headroom("requests", limit=60, left=left)
    return rules.answered(pace, now, Going(sent_at, pace.gone), [room])


def test_a_limit_that_is_told_holds_before_anything_is_refused() -> None:
    plenty = told(burst(5), 0.0, 50, sent_at=0.0)
    little = told(burst(5), 0.0, 2, sent_at=0.0)

    assert plenty.rate is little.rate is None
    assert rules.wait(burst(49, start=plenty), 0.0) == 0
    assert rules.wait(burst(2, start=little), 0.0) == pytest.approx(1.0)
    assert rules.wait(told(burst(5), 0.0, 0, sent_at=0.0), 0.0) == pytest.approx(1.0)


def test_what_was_told_outlasts_a_refusal() -> None:
    pace = told(burst(5), 0.0, 0, sent_at=0.0)
    later = rules.refused(pace, 0.1, 0.0, 0.2)

    assert later.quotas == pace.quotas
    assert rules.wait(later, 0.4) == pytest.approx(0.6)
