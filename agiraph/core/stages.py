"""Stages: when a stage's contract is met or used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.board import state
from agiraph.model.node import Node, NodeState
from agiraph.model.run import Policy, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping


def nodes_of(stage: Stage, nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes of a stage; one that names no stage belongs to the first."""
    return tuple(n for n in nodes.values() if (n.spec.stage or 1) == stage.number)


def verdict(stage: Stage, nodes: Mapping[str, Node], *, age: float) -> str:
    """Words on why the coordinator is due; empty while the stage goes on.

    Args:
        age: seconds since the stage opened, pauses not counted.
    """
    contract = stage.contract
    if contract.timeout is not None and age >= contract.timeout:
        return f"its time is up ({contract.timeout:g} s)"
    mine = nodes_of(stage, nodes)
    if not mine:
        return ""
    turns = sum(node.status.spend.turns for node in mine)
    if contract.max_turns is not None and turns >= contract.max_turns:
        return f"its turns are used up ({turns} of {contract.max_turns})"
    return _met(contract.policy, [state(node, nodes) for node in mine])


def _met(policy: Policy, states: list[NodeState]) -> str:
    done = sum(stands is NodeState.COMPLETED for stands in states)
    ended = sum(stands.ended for stands in states)
    total = len(states)
    if _enough(policy, done=done, total=total):
        return f"its contract {policy.value} is met ({done} of {total} completed)"
    if ended == total:
        return f"all its nodes have ended, {done} of {total} completed"
    return ""


def _enough(policy: Policy, *, done: int, total: int) -> bool:
    match policy:
        case Policy.ANY:
            return done >= 1
        case Policy.MAJORITY:
            return done * 2 > total
        case Policy.ALL_MUST_COMPLETE:
            return done == total
