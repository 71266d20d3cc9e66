"""The ledger: what many loops may spend together."""

from __future__ import annotations

from agiraph.core.budget import Allowed, Purse, Refused
from agiraph.model.agent import Budget
from agiraph.model.usage import Price
from agiraph.runtime.ledger import Ledger

PRICE = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
SIZE, ANSWER = 30_000, 8192
ONE_CALL = ((SIZE // 3 + 1) * 3.75 + ANSWER * 15.0) / 1e6
RUN, DAY = "run:a:r", "day:a:2026-11-21"


def reserve(ledger: Ledger, budget: Budget) -> Allowed | Refused:
    return ledger.reserve(
        [ledger.purse(Purse("agent's budget", budget), RUN, DAY)],
        [RUN, DAY],
        request_bytes=SIZE,
        answer=ANSWER,
        model="lab/big",
        price=PRICE,
    )


def granted(ledger: Ledger, budget: Budget, workers: int = 20) -> list[Allowed]:
    """What twenty workers that all ask at once are given."""
    asked = [reserve(ledger, budget) for _ in range(workers)]
    return [each for each in asked if isinstance(each, Allowed)]


def test_twenty_workers_with_the_money_for_one_call_make_one_call() -> None:
    assert len(granted(Ledger(), Budget(usd=ONE_CALL + 1e-9))) == 1


def test_twenty_workers_with_the_days_money_for_one_call_make_one_call() -> None:
    assert len(granted(Ledger(), Budget(usd_per_day=ONE_CALL + 1e-9))) == 1


def test_twenty_workers_with_the_tokens_for_one_call_make_one_call() -> None:
    assert len(granted(Ledger(), Budget(tokens=SIZE // 3 + 1 + ANSWER))) == 1


def test_twenty_workers_never_reserve_more_than_there_is() -> None:
    for calls in (2.5, 7.0, 19.9):
        cap = calls * ONE_CALL
        found = granted(Ledger(), Budget(usd=cap))

        assert sum(each.usd for each in found) <= cap + 1e-9
        assert int(calls) <= len(found) <= int(calls) + 1  # the last one is cut short


def test_a_call_that_cost_all_of_it_leaves_nothing_for_the_others() -> None:
    ledger, budget = Ledger(), Budget(usd=ONE_CALL + 1e-9)
    (one,) = granted(ledger, budget)

    ledger.settle(one, [RUN, DAY], usd=one.usd, tokens=one.tokens)

    assert granted(ledger, budget) == []


def test_what_a_call_did_not_use_is_there_for_the_next() -> None:
    ledger, budget = Ledger(), Budget(usd=ONE_CALL + 1e-9)
    (one,) = granted(ledger, budget)

    ledger.settle(one, [RUN, DAY], usd=0.001, tokens=100)

    assert len(granted(ledger, budget)) == 1


def test_a_call_that_failed_gives_everything_back() -> None:
    ledger = Ledger()
    one = reserve(ledger, Budget(usd=1))
    assert isinstance(one, Allowed)

    ledger.settle(one, [RUN, DAY], usd=0.0, tokens=0)

    assert ledger.account(RUN).usd_taken == 0
    assert ledger.account(DAY).tokens_taken == 0


def test_an_unknown_price_books_the_tokens() -> None:
    ledger = Ledger()

    ledger.account(RUN).book(None, 500)

    assert (ledger.account(RUN).usd, ledger.account(RUN).tokens) == (0.0, 500)


def test_a_refused_call_reserves_nothing() -> None:
    ledger = Ledger()

    assert isinstance(reserve(ledger, Budget(usd=0)), Refused)
    assert ledger.account(RUN).usd_taken == 0
