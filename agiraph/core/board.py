"""The board: what nodes wait for, what may start, what is stale, who takes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.names import folded, free_name
from agiraph.model.node import Node, NodeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Nodes = "Mapping[str, Node]"


def ref_node(path: str) -> str | None:
    """The node that a ref's path leads to; None for `inputs/`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or parts[0] == "inputs":
        return None
    if parts[0] == "nodes":
        return parts[1] if len(parts) > 1 else None
    return parts[0]


def dependencies(node: Node) -> tuple[str, ...]:
    """Ids of the nodes that a node needs: those it names, and those its refs imply."""
    named = list(node.spec.depends_on)
    for _, paths in node.spec.refs:
        named.extend(found for path in paths if (found := ref_node(path)))
    return tuple(dict.fromkeys(named))


def state(node: Node, nodes: Mapping[str, Node]) -> NodeState:
    """How a node stands; a completed one may have become stale."""
    if node.status.state is NodeState.COMPLETED and _is_stale(node, nodes, set()):
        return NodeState.STALE
    return node.status.state


def _is_stale(node: Node, nodes: Mapping[str, Node], seen: set[str]) -> bool:
    if node.status.shown and node.status.shown != node.digest:
        return True
    seen.add(node.id)
    for source, published in node.status.consumed:
        other = nodes.get(source)
        if other is None or source in seen:
            continue
        if other.status.state is not NodeState.COMPLETED:
            continue
        if other.status.published != published or _is_stale(other, nodes, seen):
            return True
    return False


def fault(node: Node, nodes: Mapping[str, Node]) -> str:
    """What is wrong with a node's dependencies: a ghost or a circle; else empty."""
    for needed in dependencies(node):
        if needed == node.id:
            return "it depends on itself"
        if needed not in nodes:
            return f"it depends on {needed!r}, which does not exist"
    circle = _circle(node, nodes)
    if circle:
        return "it depends on itself in a circle: " + " -> ".join(circle)
    return ""


def _circle(node: Node, nodes: Mapping[str, Node]) -> list[str]:
    trail: list[str] = []
    done: set[str] = set()

    def walk(at: str) -> bool:
        if at == node.id and trail:
            trail.append(at)
            return True
        if at in done or at not in nodes:
            return False
        done.add(at)
        trail.append(at)
        if any(walk(needed) for needed in dependencies(nodes[at])):
            return True
        trail.pop()
        return False

    return trail if walk(node.id) else []


def unmet(node: Node, nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Why a node cannot start yet, a line for each reason; empty when it can."""
    wrong = fault(node, nodes)
    if wrong:
        return (wrong,)
    reasons = []
    for needed in dependencies(node):
        other = nodes[needed]
        stands = state(other, nodes)
        if stands is NodeState.STALE:
            reasons.append(f"{needed} is stale")
        elif stands is not NodeState.COMPLETED:
            reasons.append(f"waits for {needed}, which is {stands.value}")
        elif other.status.partial and not node.status.released:
            reasons.append(f"{needed} is partial; assign this node to go on with it")
    return tuple(reasons)


def held_back(node: Node) -> bool:
    """Whether a node waits for an assignment by hand."""
    return node.spec.hold and not node.status.released


def startable(nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes that could start now, in the order they were made."""
    return tuple(
        node
        for node in nodes.values()
        if node.status.state in (NodeState.PENDING, NodeState.ASSIGNED)
        and not held_back(node)
        and not unmet(node, nodes)
    )


def open_nodes(nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes that have not ended."""
    return tuple(node for node in nodes.values() if not state(node, nodes).ended)


def children(parent: str, nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes that a node's worker made."""
    return tuple(node for node in nodes.values() if node.spec.parent == parent)


def ancestors(node: str, nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Ids of the parent, its parent and so on."""
    line: list[str] = []
    at = nodes[node].spec.parent if node in nodes else None
    while at is not None and at not in line:
        line.append(at)
        at = nodes[at].spec.parent if at in nodes else None
    return tuple(line)


def depth(node: str | None, nodes: Mapping[str, Node]) -> int:
    """How deep a node lies; the coordinator's nodes lie at 1."""
    return 0 if node is None else 1 + len(ancestors(node, nodes))


def descendants(parent: str, nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """Children, their children and so on."""
    found: list[Node] = []
    for child in children(parent, nodes):
        found.extend((child, *descendants(child.id, nodes)))
    return tuple(found)


def why_not(node: Node, nodes: Mapping[str, Node]) -> str:
    """Why an open node does not go on, for people and for the coordinator."""
    if node.status.waiting_for:
        return node.status.waiting_for
    if held_back(node):
        return "it is on hold: assign it, or set hold: false"
    return "; ".join(unmet(node, nodes)) or "it waits for a free worker"


def wait_fault(
    waiter: str | None, wanted: Iterable[str], nodes: Mapping[str, Node]
) -> str:
    """Why somebody may not wait for these nodes; empty when they may.

    Args:
        waiter: the waiting worker's node; None for the coordinator.
    """
    for node in wanted:
        if node not in nodes:
            return f"there is no node {node!r}"
        if waiter is None:
            continue
        if node == waiter:
            return "a node cannot wait for itself"
        if node in ancestors(waiter, nodes):
            return f"{node} waits for this node already; it is an ancestor"
        if _leads_to(node, waiter, nodes, set()):
            return f"{node} itself waits for this node: that would be a circle"
    return ""


def _leads_to(start: str, goal: str, nodes: Mapping[str, Node], seen: set[str]) -> bool:
    if start == goal:
        return True
    if start in seen or start not in nodes:
        return False
    seen.add(start)
    return any(_leads_to(n, goal, nodes, seen) for n in dependencies(nodes[start]))


@dataclass(frozen=True, slots=True)
class Hand:
    """A worker, as far as assigning looks: is it free, may it get work."""

    name: str
    busy: bool
    retired: bool


def choose_worker(
    node: Node, nodes: Mapping[str, Node], hands: Iterable[Hand]
) -> str | None:
    """Who takes a node that can start: a name, a new `worker-N`, or None for later."""
    known = {folded(hand.name): hand for hand in hands}
    asked = node.status.worker or node.spec.worker_name
    if asked is not None:
        hand = known.get(folded(asked))
        if hand is None:
            return asked
        return None if hand.busy or hand.retired else hand.name
    line = {nodes[up].status.worker for up in ancestors(node.id, nodes) if up in nodes}
    for hand in known.values():
        if not hand.busy and not hand.retired and hand.name not in line:
            return hand.name
    number = 1
    while folded(f"worker-{number}") in known:
        number += 1
    return free_name(f"worker-{number}", frozenset(known))
