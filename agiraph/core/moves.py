"""Whether work on the board can still go on by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.board import dependencies, held_back, startable, state, unmet
from agiraph.model.node import Node, NodeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agiraph.core.board import Hand


def may_move(name: str, nodes: Mapping[str, Node], hands: Iterable[Hand] = ()) -> bool:
    """Whether an open node can come to its end as things stand.

    It can when somebody has it in hand (or money or a person is waited for), when it
    can start, and when all that it lacks are nodes of which the same is true.
    """
    known = tuple(hands)
    could = {node.id for node in startable(nodes, known)}
    line, seen = [name], {name}
    for at in line:
        node = nodes.get(at)
        if node is None or node.id in could or _in_hand(node):
            continue
        if node.status.state not in (NodeState.PENDING, NodeState.ASSIGNED):
            return False
        needed = [each for each in dependencies(node, nodes) if each in nodes]
        lacks = [each for each in needed if not state(nodes[each], nodes).ended]
        if held_back(node) or len(lacks) != len(unmet(node, nodes, known)):
            return False
        line += [each for each in lacks if each not in seen]
        seen.update(lacks)
    return True


def _in_hand(node: Node) -> bool:
    stands = node.status.state
    at_work = stands.at_work and stands is not NodeState.ASSIGNED
    return at_work or stands is NodeState.HELD


def any_moves(nodes: Mapping[str, Node], hands: Iterable[Hand] = ()) -> bool:
    """Whether some node is in somebody's hands, or could be at once."""
    return any(map(_in_hand, nodes.values())) or bool(startable(nodes, hands))
