"""What was spent on what: sums that lose nothing and never call the unknown nothing."""

from __future__ import annotations

import json

from agiraph.core.costs import (
    Spot,
    Sum,
    Tally,
    cost_words,
    distinct,
    from_row,
    spent_on,
    sum_of,
    to_row,
)
from agiraph.model.usage import ModelCall, Usage

USED = Usage(input=100, output=10, cache_read=800, cache_write=100)


def made(cost: float | None = 0.5, **where: object) -> ModelCall:
    ts = str(where.pop("ts", "2026-11-21T10:00:00+00:00"))
    return ModelCall(ts, "x/big", USED, cost, **where)  # type: ignore[arg-type]  # places


def tally(*calls: ModelCall) -> Tally:
    found = Tally()
    for call in calls:
        found.add(call)
    return found


def test_calls_of_one_spot_are_one_sum() -> None:
    found = dict(tally(made(node="a"), made(node="a"), made(node="b")).items())

    assert [each.calls for each in found.values()] == [2, 1]


def test_sums_go_by_any_part_of_the_spot() -> None:
    calls = tally(
        made(node="a", stage=1),
        made(node="b", stage=1, ts="2026-11-22T00:00:01+00:00"),
        made(node="b", stage=2),
    )

    assert {k: s.calls for k, s in calls.by(lambda spot: (spot.node,)).items()} == {
        ("a",): 1,
        ("b",): 2,
    }
    assert calls.total(lambda spot: spot.stage == "1").known_usd == 1.0
    assert calls.total(lambda spot: spot.day == "2026-11-22").calls == 1


def test_an_unknown_cost_makes_the_whole_unknown_and_keeps_what_is_known() -> None:
    found = tally(made(), made(None)).total()

    assert found.cost_usd is None
    assert (found.known_usd, found.unknown) == (0.5, 1)
    assert cost_words(found) == "$0.50 and unknown for 1 calls"
    assert cost_words(sum_of(USED, None)) == "unknown"
    assert cost_words(sum_of(USED, 0.0)) == "$0.00"


def test_the_share_of_the_cache_is_of_what_was_sent() -> None:
    assert sum_of(USED, 0.0).cached == 0.8
    assert Sum().cached == 0.0


def test_a_sum_survives_its_cache() -> None:
    spot = Spot("2026-11-21", "x/big", "r", "2", "a", "Ada")
    row = json.loads(json.dumps(to_row(spot, sum_of(USED, None))))

    assert from_row(row) == (spot, sum_of(USED, None))


def test_the_dearest_stands_first_and_the_many_small_ones_together() -> None:
    calls = [made(cost=number / 10, node=f"n{number}") for number in range(12)]
    lines = spent_on(tally(*calls), lambda _: True, most=3).splitlines()

    assert lines[2] == "| n11 | x/big | 1 | 1,010 | $1.10 |"
    assert lines[-1].startswith("| 9 others |")
    assert spent_on(Tally(), lambda _: True) == ""


def test_what_a_copy_of_an_agent_brought_along_counts_once() -> None:
    past = [made(agent="news"), made(agent="news"), made(agent="news", node="n")]
    copy = [*past, made(agent="copy")]

    for logs in ([past, copy], [copy, past], [copy, past, copy]):
        assert len(list(distinct(logs))) == 4


def test_what_two_agents_did_alike_counts_twice() -> None:
    assert len(list(distinct([[made(agent="a")], [made(agent="b")]]))) == 2


def test_calls_that_do_not_say_who_made_them_count_wherever_they_stand() -> None:
    assert len(list(distinct([[made()], [made()]]))) == 2
