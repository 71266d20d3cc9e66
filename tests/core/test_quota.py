"""Limits that a service tells: how long the next call waits for each of them."""

from __future__ import annotations

import pytest

from agiraph.core import quota as rules
from agiraph.core.quota import Quota
from agiraph.model.usage import Headroom

Quotas = tuple[Quota, ...]


def tokens(left: float, took: float, resets: float | None = None) -> Headroom:
    """60,000 tokens a minute, which is a thousand a second."""
    return Headroom("tokens", 60_000, left, resets, took)


def told(
    *rooms: Headroom,
    to: Quotas = (),
    now: float = 0.0,
    went: float = 0.0,
    since: int = 0,
) -> Quotas:
    return rules.told(to, rooms, now, went=went, since=since)


def steady(left: float, took: float) -> Quotas:
    """Two calls in a row took the same, the later one tells what is left."""
    return told(tokens(left, took), to=told(tokens(60_000, took)))


def test_what_is_not_told_holds_nobody() -> None:
    assert rules.wait((), 0.0) == 0


def test_a_call_waits_until_the_tokens_that_it_needs_are_there_again() -> None:
    quotas = steady(left=4_000, took=10_000)

    assert rules.wait(quotas, 0.0) == pytest.approx(6.0)
    assert rules.wait(quotas, 5.0) == pytest.approx(1.0)
    assert rules.wait(quotas, 6.0) == 0


def test_calls_that_go_empty_it_until_a_new_word_comes() -> None:
    quotas = steady(left=25_000, took=10_000)

    quotas = rules.taken(rules.taken(quotas, 0.0), 0.0)
    assert rules.wait(quotas, 0.0) == pytest.approx(5.0)
    quotas = told(tokens(40_000, 10_000), to=quotas)
    assert rules.wait(quotas, 0.0) == 0


def test_every_limit_has_to_have_room() -> None:
    calls = Headroom("requests", 60, 0)
    quotas = told(calls, to=steady(left=4_000, took=10_000))

    assert rules.wait(quotas, 0.0) == pytest.approx(6.0)
    assert rules.wait(quotas, 6.0) == 0


def test_an_answer_that_took_long_knows_nothing_of_the_calls_after_it() -> None:
    before = told(tokens(60_000, 10_000))
    room = tokens(30_000, 10_000)
    quotas = told(room, to=before, now=20.0, went=10.0, since=4)

    # 30,000 and what came back in ten seconds, less four calls.
    assert rules.wait(quotas, 20.0) == pytest.approx(10.0)


def test_the_word_of_an_earlier_call_counts_no_more() -> None:
    newer = told(tokens(0, 10_000), now=5.0, went=5.0)
    older = told(tokens(60_000, 10_000), to=newer, now=6.0, went=1.0, since=1)

    assert older == newer


def test_the_time_of_its_reset_tells_how_fast_it_fills() -> None:
    day = told(Headroom("requests", 14_400, 0, resets=86_400))
    minute = told(Headroom("requests", 60, 0))

    assert rules.wait(day, 0.0) == pytest.approx(6.0)
    assert rules.wait(minute, 0.0) == pytest.approx(1.0)


def test_one_large_first_call_does_not_make_the_next_wait_for_as_much() -> None:
    first = told(tokens(8_000, 50_000))
    second = told(tokens(9_000, 800), to=first, now=1.0, went=1.0)

    assert rules.wait(first, 0.0) == 0
    assert rules.wait(second, 1.0) == 0


def test_a_call_larger_than_the_limit_goes_when_nothing_of_it_is_used() -> None:
    quotas = steady(left=0, took=90_000)

    assert rules.wait(quotas, 0.0) == pytest.approx(60.0)
    assert rules.wait(quotas, 60.0) == 0


def test_no_more_than_the_whole_comes_back() -> None:
    quotas = steady(left=60_000, took=10_000)
    for _ in range(6):
        quotas = rules.taken(quotas, 1_000.0)

    assert rules.wait(quotas, 1_000.0) == pytest.approx(10.0)
