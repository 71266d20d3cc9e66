"""What can still go on by itself, and what waits for somebody for ever."""

from __future__ import annotations

from agiraph.core.board import Hand
from agiraph.core.moves import any_moves, may_move
from agiraph.model.node import Node, NodeSpec, NodeState, NodeStatus
from tests.support.board import board_of


def node(name: str, state: NodeState, *needs: str, **more: object) -> Node:
    status = NodeStatus(state=state, worker=str(more.pop("by", "")) or None)
    return Node(name, NodeSpec("Do it.", depends_on=needs, **more), "", status)


def test_a_node_that_is_at_work_or_could_be_moves() -> None:
    nodes = board_of(node("a", NodeState.RUNNING), node("b", NodeState.PENDING))

    assert may_move("a", nodes)
    assert may_move("b", nodes)


def test_a_node_moves_as_long_as_all_that_it_lacks_moves() -> None:
    nodes = board_of(
        node("a", NodeState.RUNNING),
        node("b", NodeState.PENDING, "a"),
        node("c", NodeState.PENDING, "b"),
    )

    assert may_move("c", nodes)


def test_what_waits_for_a_failed_node_does_not_move() -> None:
    nodes = board_of(
        node("a", NodeState.FAILED),
        node("b", NodeState.PENDING, "a"),
        node("c", NodeState.PENDING, "b"),
    )

    assert not may_move("b", nodes)
    assert not may_move("c", nodes)
    assert not any_moves(nodes)


def test_what_is_on_hold_or_needs_a_ghost_does_not_move() -> None:
    nodes = board_of(
        node("a", NodeState.PENDING, hold=True), node("b", NodeState.PENDING, "ghost")
    )

    assert not any(may_move(each, nodes) for each in nodes)


def test_a_node_given_to_a_worker_that_is_retired_does_not_move() -> None:
    nodes = board_of(node("a", NodeState.ASSIGNED, by="Alice"))
    retired = Hand("Alice", busy=False, retired=True)

    assert may_move("a", nodes, [Hand("Alice", busy=True, retired=False)])
    assert not may_move("a", nodes, [retired])
    assert not any_moves(nodes, [retired])
