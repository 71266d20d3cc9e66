"""Limits: what fits under every budget, and what a person is told where it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.budget import Allowed, Purse, Refused, allowance, dollars, over_limits
from agiraph.core.limits import BYTES_PER_TOKEN, SMALLEST_ANSWER
from agiraph.model.agent import Budget, Limits
from agiraph.model.usage import FREE, Price

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)


def ask(
    *purses: Purse, size: int = 3000, answer: int = 8192, price: Price | None = PRICE
) -> Allowed | Refused:
    return allowance(
        purses, request_bytes=size, answer=answer, model="lab/big", price=price
    )


def allowed(
    *purses: Purse, size: int = 3000, answer: int = 8192, price: Price | None = PRICE
) -> Allowed:
    found = ask(*purses, size=size, answer=answer, price=price)
    assert isinstance(found, Allowed), found
    return found


def refused(
    *purses: Purse, size: int = 3000, answer: int = 8192, price: Price | None = PRICE
) -> str:
    found = ask(*purses, size=size, answer=answer, price=price)
    assert isinstance(found, Refused), found
    return found.words


def purse(budget: Budget, **spent: float) -> Purse:
    return Purse("agent's budget", budget, **spent)  # type: ignore[arg-type]  # int or float as the field has it


def test_without_a_cap_everything_is_allowed_and_still_reserved() -> None:
    found = allowed(purse(Budget()))

    assert found.max_tokens == 8192
    assert found.tokens == 3000 // BYTES_PER_TOKEN + 1 + 8192
    assert found.usd == pytest.approx((1001 * 3.75 + 8192 * 15) / 1e6)


def test_a_request_is_reserved_at_the_dearest_price_it_may_have() -> None:
    dear_input = Price(input=10.0, output=1.0, cache_read=0.1, cache_write=5.0)

    assert allowed(price=dear_input).usd == pytest.approx((1001 * 10 + 8192) / 1e6)


def test_the_answer_is_lowered_to_the_money_that_is_left() -> None:
    found = allowed(purse(Budget(usd=1.0), usd=0.98))

    assert SMALLEST_ANSWER <= found.max_tokens < 8192
    assert found.usd <= 0.02 + 1e-9


def test_the_answer_is_lowered_to_the_tokens_that_are_left() -> None:
    found = allowed(purse(Budget(tokens=5000), tokens=2000))

    assert found.max_tokens == 3000 - 1001
    assert found.tokens == 3000


def test_below_the_smallest_answer_the_call_is_refused() -> None:
    just = Budget(tokens=1001 + SMALLEST_ANSWER)

    assert allowed(purse(just)).max_tokens == SMALLEST_ANSWER
    assert "does not allow another call" in refused(purse(just, tokens=1))


def test_a_small_answer_that_was_asked_for_is_not_too_small() -> None:
    assert allowed(purse(Budget()), answer=100).max_tokens == 100
    assert allowed(purse(Budget(usd=1.0)), answer=100).max_tokens == 100
    assert "budget" in refused(purse(Budget(tokens=1050)), answer=100)


@pytest.mark.parametrize(
    "budget",
    [
        Budget(usd=1),
        Budget(tokens=10_000),
        Budget(usd_per_day=1),
        Budget(tokens_per_day=10_000),
    ],
)
def test_each_cap_alone_stops_the_work(budget: Budget) -> None:
    used_up = purse(budget, usd=1, tokens=10_000, usd_day=1, tokens_day=10_000)

    assert "raise the number in the file to go on" in refused(used_up)


def test_the_tightest_of_all_budgets_counts() -> None:
    wide = Purse("agent's budget", Budget(usd=100, tokens=10**9))
    narrow = Purse("tree's budget", Budget(usd_per_day=1), usd_day=1)

    assert refused(wide, narrow).startswith("the tree's budget")
    assert refused(narrow, wide).startswith("the tree's budget")


def test_a_refusal_names_what_was_spent_of_what() -> None:
    words = refused(purse(Budget(usd=5, tokens=2_000_000), usd=5.0, tokens=1_234_567))

    assert "$5.00 of $5.00" in words
    assert "1,234,567 of 2,000,000 tokens" in words


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (0, "$0.00"),
        (5, "$5.00"),
        (0.5, "$0.50"),
        (0.0123, "$0.0123"),
        (0.002, "$0.002"),
    ],
)
def test_a_small_amount_is_not_shown_as_nothing(usd: float, shown: str) -> None:
    assert dollars(usd) == shown


def test_an_unknown_price_under_a_money_cap_makes_no_call() -> None:
    words = refused(purse(Budget(usd=5)), price=None)

    assert "the price of lab/big is unknown" in words
    assert "prices:" in words
    assert "tokens" in words


def test_an_unknown_price_under_a_token_cap_does() -> None:
    found = allowed(purse(Budget(tokens=100_000)), price=None)

    assert found.usd == 0
    assert found.max_tokens == 8192


def test_a_free_model_goes_on_when_the_money_is_used_up_to_the_cent() -> None:
    assert allowed(purse(Budget(usd=1), usd=1.0), price=FREE).usd == 0


def test_a_free_model_stops_when_a_cap_was_lowered_below_what_is_spent() -> None:
    assert "budget" in refused(purse(Budget(usd=1), usd=2.0), price=FREE)


def test_a_budget_of_nothing_allows_nothing() -> None:
    assert isinstance(ask(purse(Budget(usd=0))), Refused)
    assert isinstance(ask(purse(Budget(tokens=0))), Refused)


@given(
    usd=st.floats(0, 100),
    spent=st.floats(0, 100),
    tokens=st.integers(0, 10**6),
    taken=st.integers(0, 10**6),
    size=st.integers(0, 10**6),
    answer=st.integers(1, 100_000),
)
def test_what_is_allowed_never_costs_more_than_is_left(
    usd: float, spent: float, tokens: int, taken: int, size: int, answer: int
) -> None:
    one = purse(Budget(usd=usd, tokens=tokens), usd=spent, tokens=taken)
    found = ask(one, size=size, answer=answer)

    if isinstance(found, Allowed):
        assert found.usd <= usd - spent + 1e-9
        assert found.tokens <= tokens - taken
        assert min(answer, SMALLEST_ANSWER) <= found.max_tokens <= answer


def test_a_refusal_names_the_file_to_raise_the_number_in() -> None:
    used_up = Purse("agent's budget", Budget(usd=1), usd=1.0, where="news/GOAL.md")

    assert refused(used_up).endswith("`budget` in news/GOAL.md")


@pytest.mark.parametrize("endless", [False, True])
def test_a_run_has_an_end_to_its_calls(endless: bool) -> None:
    limits = Limits(run_turns=3)

    def words(calls: int) -> str:
        found = over_limits(
            limits, calls=calls, seconds=0.0, endless=endless, where="a/GOAL.md"
        )
        return found.words if found else ""

    assert words(2) == ""
    assert "run_turns" in words(3)
    assert "`limits` in a/GOAL.md" in words(3)
    assert ("today" in words(3)) is endless


def test_a_run_has_an_end_to_its_time_unless_it_is_endless() -> None:
    limits = Limits(run_time=86_400.0)

    def refuses(seconds: float, *, endless: bool) -> bool:
        found = over_limits(
            limits, calls=0, seconds=seconds, endless=endless, where="a/GOAL.md"
        )
        return found is not None

    assert not refuses(86_399, endless=False)
    assert refuses(86_400, endless=False)
    assert not refuses(10**9, endless=True)
