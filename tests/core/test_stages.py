"""Stages: when the coordinator is due because of a contract."""

from __future__ import annotations

import pytest

from agiraph.core.stages import nodes_of, verdict
from agiraph.model.node import Node, NodeSpec, NodeState
from agiraph.model.run import Contract, Policy, Stage
from agiraph.model.usage import Spend
from tests.support.board import board_of, changed, done, node

S = NodeState
ALL, MAJORITY, ANY = Policy.ALL_MUST_COMPLETE, Policy.MAJORITY, Policy.ANY
OF = {
    "c": S.COMPLETED,
    "f": S.FAILED,
    "x": S.CANCELLED,
    "k": S.CHECKPOINTED,
    "r": S.RUNNING,
    "p": S.PENDING,
    "h": S.HELD,
}


def stage(
    policy: Policy = ALL,
    *,
    number: int = 1,
    turns: int | None = None,
    timeout: float | None = None,
) -> Stage:
    return Stage(number, "", Contract(turns, timeout, policy), opened="t")


def nodes_in(letters: str) -> dict[str, Node]:
    """A node for each letter: its state's."""
    return dict(board_of(*(node(f"n{i}", state=OF[s]) for i, s in enumerate(letters))))


@pytest.mark.parametrize(
    ("policy", "letters"),
    [
        (ALL, "c"),
        (ALL, "ccc"),
        (MAJORITY, "ccp"),
        (MAJORITY, "ccf"),
        (MAJORITY, "c"),
        (MAJORITY, "cccrr"),
        (ANY, "cpp"),
        (ANY, "fcr"),
    ],
)
def test_a_contract_is_met(policy: Policy, letters: str) -> None:
    words = verdict(stage(policy), nodes_in(letters), age=0)

    assert f"its contract {policy.value} is met" in words
    assert f"{letters.count('c')} of {len(letters)} completed" in words


@pytest.mark.parametrize(
    ("policy", "letters"),
    [
        (ALL, "p"),
        (ALL, "ccr"),
        (ALL, "cfr"),
        (ALL, "cch"),
        (MAJORITY, "cp"),
        (MAJORITY, "ccrr"),
        (MAJORITY, "cfr"),
        (ANY, "ffr"),
        (ANY, "kr"),
        (ANY, "pp"),
    ],
)
def test_a_stage_goes_on(policy: Policy, letters: str) -> None:
    assert verdict(stage(policy), nodes_in(letters), age=0) == ""


@pytest.mark.parametrize(
    ("policy", "letters"),
    [
        (ALL, "cf"),
        (ALL, "cx"),
        (ALL, "ck"),
        (MAJORITY, "cff"),
        (MAJORITY, "cf"),
        (ANY, "fx"),
        (ANY, "k"),
    ],
)
def test_a_contract_that_cannot_be_met_any_more_is_not_called_met(
    policy: Policy, letters: str
) -> None:
    words = verdict(stage(policy), nodes_in(letters), age=0)

    assert "met" not in words
    assert words.startswith("all its nodes have ended")


def test_a_stale_node_has_ended_but_is_not_complete() -> None:
    nodes = board_of(changed(done("a")), done("b"))

    assert (
        verdict(stage(ALL), nodes, age=0)
        == "all its nodes have ended, 1 of 2 completed"
    )


@pytest.mark.parametrize("policy", Policy)
def test_a_contract_with_zero_nodes_is_not_met(policy: Policy) -> None:
    assert verdict(stage(policy, turns=1), {}, age=1e9) == ""
    assert verdict(stage(policy, number=2), nodes_in("ccc"), age=1e9) == ""


def test_time_is_up_with_or_without_nodes() -> None:
    timed = stage(timeout=60)

    assert verdict(timed, {}, age=59.9) == ""
    assert verdict(timed, {}, age=60) == "its time is up (60 s)"
    assert "time" in verdict(timed, nodes_in("r"), age=61)


def test_turns_of_all_its_nodes_are_counted_together() -> None:
    nodes = board_of(*(node(i, state=S.RUNNING, spend=Spend(5)) for i in "ab"))

    assert verdict(stage(turns=11), nodes, age=0) == ""
    assert verdict(stage(turns=10), nodes, age=0) == "its turns are used up (10 of 10)"


def test_turns_of_another_stage_do_not_count() -> None:
    other = node("b", spec=NodeSpec("x", stage=2), spend=Spend(50))
    nodes = board_of(node("a", spend=Spend(1)), other)

    assert verdict(stage(turns=10), nodes, age=0) == ""


def test_a_node_that_names_no_stage_belongs_to_the_first() -> None:
    nodes = board_of(node("a"), node("b", spec=NodeSpec("x", stage=2)))

    assert [n.id for n in nodes_of(stage(), nodes)] == ["a"]
    assert [n.id for n in nodes_of(stage(number=2), nodes)] == ["b"]
