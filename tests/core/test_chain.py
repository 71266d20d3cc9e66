"""The fallback chain: who is asked, and for how long somebody is put off."""

from __future__ import annotations

import pytest

from agiraph.core.chain import (
    FIRST_AWAY,
    LONG_AWAY,
    LONGEST_AWAY,
    REFUSED_AWAY,
    Setback,
    away,
    is_of_the_request,
    left_of,
    pick,
)
from agiraph.core.limits import RETRY_LAST
from agiraph.errors import Fault

CHAIN = ("a/one", "b/two", "c/three")


def test_the_first_is_asked_while_nothing_speaks_against_it() -> None:
    assert pick(CHAIN, {}, 0.0) == "a/one"


def test_the_next_is_asked_while_the_first_is_put_off() -> None:
    away_until_ten = {"a/one": Setback("down", until=10.0)}

    assert pick(CHAIN, away_until_ten, 9.9) == "b/two"
    assert pick(CHAIN, away_until_ten, 10.0) == "a/one"


def test_where_all_are_put_off_the_one_that_is_back_soonest_is_asked() -> None:
    off = {
        name: Setback("down", until)
        for name, until in zip(CHAIN, (30.0, 20.0, 25.0), strict=True)
    }

    assert pick(CHAIN, off, 0.0) == "b/two"


def test_a_chain_of_one_is_always_asked() -> None:
    assert pick(CHAIN[:1], {"a/one": Setback("down", 99.0)}, 0.0) == "a/one"


def test_what_is_over_leaves_nothing() -> None:
    assert left_of(Setback("down", 5.0), 7.0) == 0
    assert left_of(Setback("down", 5.0), 3.0) == 2
    assert left_of(None, 3.0) == 0


@pytest.mark.parametrize("kind", [Fault.RATE, Fault.OVERLOADED, Fault.NETWORK])
def test_a_service_that_is_down_is_tried_again_at_growing_intervals(
    kind: Fault,
) -> None:
    found = [away(kind, None, count) for count in range(1, 8)]

    assert found[:3] == [FIRST_AWAY, 2 * FIRST_AWAY, 4 * FIRST_AWAY]
    assert max(found) == RETRY_LAST


@pytest.mark.parametrize("kind", [Fault.KEY, Fault.MODEL, Fault.QUOTA, Fault.SDK])
def test_what_a_person_must_mend_is_tried_again_in_an_hour(kind: Fault) -> None:
    assert away(kind, None, 1) == LONG_AWAY


def test_what_the_service_asks_for_is_given_within_reason() -> None:
    assert away(Fault.RATE, 7200.0, 1) == 7200
    assert away(Fault.RATE, 1.0, 1) == FIRST_AWAY
    assert away(Fault.RATE, 1e9, 1) == LONGEST_AWAY


def test_a_refusal_concerns_the_one_who_asked() -> None:
    assert is_of_the_request(Fault.REQUEST)
    assert not is_of_the_request(Fault.QUOTA)
    assert away(Fault.REQUEST, None, 1) == REFUSED_AWAY
