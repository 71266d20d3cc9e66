"""The board: what nodes wait for, what may start, what is stale, who takes what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.names import folded
from agiraph.model.node import Node, NodeState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def ref_node(path: str) -> str | None:
    """The node that a ref's path leads to; None for `inputs/`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or parts[0] == "inputs":
        return None
    if parts[0] == "nodes":
        return parts[1] if len(parts) > 1 else None
    return parts[0]


def found(name: str, nodes: Mapping[str, Node]) -> str:
    """The id that a name means, without regard to case; the name itself for a ghost."""
    if not name or name in nodes:
        return name
    wanted = folded(name)
    return next((known for known in nodes if folded(known) == wanted), name)


def dependencies(
    node: Node, nodes: Mapping[str, Node] | None = None
) -> tuple[str, ...]:
    """Ids of the nodes that a node needs: those it names, and those its refs imply.

    Args:
        nodes: the board; given, names in another case become the ids that they mean.
    """
    named = list(node.spec.depends_on)
    for _, paths in node.spec.refs:
        named.extend(needed for path in paths if (needed := ref_node(path)))
    return tuple(dict.fromkeys(found(name, nodes or {}) for name in named))


def state(node: Node, nodes: Mapping[str, Node]) -> NodeState:
    """How a node stands; a completed one may have become stale."""
    return NodeState.STALE if why_stale(node, nodes) else node.status.state


def why_stale(node: Node, nodes: Mapping[str, Node]) -> str:
    """Why what a completed node published is out of date; empty when it is not.

    A source that is being done again counts: nothing new may start on what was made
    from its old result, or it would be stale as soon as the source is published.
    """
    if node.status.state is not NodeState.COMPLETED:
        return ""
    line, seen = [node], {node.id}
    for at in line:
        if at.status.shown and at.status.shown != at.digest:
            whose = "its" if at is node else f"{at.id}'s"
            return f"{whose} spec was changed after the work was done"
        for source, taken in at.status.consumed:
            other = nodes.get(source)
            if other is None:
                continue
            if other.status.state is not NodeState.COMPLETED:
                return f"{source} is {other.status.state.value} again"
            if other.status.published != taken:
                return f"{source} was published anew"
            if source not in seen:
                seen.add(source)
                line.append(other)
    return ""


def fault(node: Node, nodes: Mapping[str, Node]) -> str:
    """What keeps a node from ever starting: a ghost, a circle; else empty."""
    for needed in dependencies(node, nodes):
        if needed == node.id:
            return "it depends on itself"
        if needed not in nodes:
            return f"it depends on {needed!r}, which does not exist"
    circle = _circle(node, nodes)
    if circle:
        return "it depends on itself in a circle: " + " -> ".join(circle)
    if _is_own_ancestor(node, nodes):
        return "its parents lead back to itself; take `parent` out"
    must = _must_have(node)
    if must is not None and folded(must) in _busy_above(node.id, nodes):
        return (
            f"{must} is busy with a node above this one and could never take it; "
            "name another worker, or none"
        )
    return ""


def _open_children(nodes: Mapping[str, Node]) -> dict[str, list[str]]:
    """Open parent -> its open children: it cannot end before they do."""
    below: dict[str, list[str]] = {}
    for node in nodes.values():
        parent = nodes.get(_parent(node, nodes) or "")
        if parent and not (parent.status.state.ended or node.status.state.ended):
            below.setdefault(parent.id, []).append(node.id)
    return below


def _circle(node: Node, nodes: Mapping[str, Node]) -> list[str]:
    """The shortest way from a node's dependencies back to it; empty without one."""
    below = _open_children(nodes)
    came: dict[str, str] = {}
    line = [node.id]
    for at in line:
        ways = list(dependencies(nodes[at], nodes)) if at in nodes else []
        if at != node.id:
            ways += below.get(at, [])
        for needed in ways:
            if needed == node.id:
                return _way_back(at, node.id, came)
            if needed not in came:
                came[needed] = at
                line.append(needed)
    return []


def _way_back(last: str, start: str, came: Mapping[str, str]) -> list[str]:
    trail = [start, last]
    while trail[-1] != start:
        trail.append(came[trail[-1]])
    return trail[::-1]


def unmet(
    node: Node, nodes: Mapping[str, Node], hands: Iterable[Hand] = ()
) -> tuple[str, ...]:
    """Why a node cannot start yet, a line for each reason; empty when it can.

    Args:
        hands: the workers; given, a retired one that the node asks for is a reason.
    """
    wrong = fault(node, nodes)
    if wrong:
        return (wrong,)
    reasons = []
    for needed in dependencies(node, nodes):
        other = nodes[needed]
        stands = state(other, nodes)
        if stands is NodeState.STALE:
            reasons.append(f"{needed} is stale")
        elif stands is not NodeState.COMPLETED:
            reasons.append(f"waits for {needed}, which is {stands.value}")
        elif other.status.partial and not node.status.released:
            reasons.append(f"{needed} is partial; assign this node to go on with it")
    must = folded(_must_have(node) or "")
    if any(hand.retired and folded(hand.name) == must for hand in hands):
        reasons.append(f"its worker {_must_have(node)} is retired; name another")
    return tuple(reasons)


def held_back(node: Node) -> bool:
    """Whether a node waits for an assignment by hand."""
    return node.spec.hold and not node.status.released


def startable(
    nodes: Mapping[str, Node], hands: Iterable[Hand] = ()
) -> tuple[Node, ...]:
    """The nodes that could start now, in the order they were made."""
    known = tuple(hands)
    return tuple(
        node
        for node in nodes.values()
        if node.status.state in (NodeState.PENDING, NodeState.ASSIGNED)
        and not held_back(node)
        and _has_all(node, nodes)
        and not unmet(node, nodes, known)
    )


def _has_all(node: Node, nodes: Mapping[str, Node]) -> bool:
    """A quick look before the thorough one: has everything needed been completed."""
    needed = (nodes.get(name) for name in dependencies(node, nodes))
    return all(n and n.status.state is NodeState.COMPLETED for n in needed)


def open_nodes(nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes that have not ended."""
    return tuple(node for node in nodes.values() if not state(node, nodes).ended)


def children(parent: str, nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """The nodes that a node's worker made."""
    return tuple(
        node
        for node in nodes.values()
        if node.id != parent and _parent(node, nodes) == parent
    )


def _parent(node: Node, nodes: Mapping[str, Node]) -> str | None:
    parent = node.spec.parent
    return None if parent is None else found(parent, nodes)


def is_top(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Whether a node's end is the coordinator's to hear.

    A child's end is its parent's, as long as that has not ended itself.
    """
    parent = nodes.get(_parent(node, nodes) or "")
    return parent is None or parent.status.state.ended


def ancestors(node: str, nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Ids of the parent, its parent and so on; never the node itself."""
    line: list[str] = []
    at = _parent(nodes[node], nodes) if node in nodes else None
    while at is not None and at != node and at not in line:
        line.append(at)
        at = _parent(nodes[at], nodes) if at in nodes else None
    return tuple(line)


def _is_own_ancestor(node: Node, nodes: Mapping[str, Node]) -> bool:
    top = (node.id, *ancestors(node.id, nodes))[-1]
    return top in nodes and _parent(nodes[top], nodes) == node.id


def depth(node: str | None, nodes: Mapping[str, Node]) -> int:
    """How deep a node lies; the coordinator's nodes lie at 1."""
    return 0 if node is None else 1 + len(ancestors(node, nodes))


def descendants(parent: str, nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    """Children, their children and so on, each before its own."""
    below: list[Node] = []
    line, seen = [parent], {parent}
    while line:
        new = [c for c in children(line.pop(), nodes) if c.id not in seen]
        seen.update(child.id for child in new)
        below.extend(new)
        line.extend(child.id for child in new)
    return tuple(below)


def why_not(node: Node, nodes: Mapping[str, Node], hands: Iterable[Hand] = ()) -> str:
    """Why an open node does not go on; empty while its worker is on it."""
    if node.status.waiting_for:
        return node.status.waiting_for
    if node.status.state not in (NodeState.PENDING, NodeState.ASSIGNED):
        return ""
    if held_back(node):
        return "it is on hold: assign it, or set hold: false"
    who = _must_have(node) or "a free worker"
    return "; ".join(unmet(node, nodes, hands)) or f"it waits for {who}"


def wait_fault(
    waiter: str | None,
    wanted: Iterable[str],
    nodes: Mapping[str, Node],
    waits: Mapping[str, Iterable[str]] | None = None,
) -> str:
    """Why somebody may not wait for these nodes; empty when they may.

    Args:
        waiter: the waiting worker's node; None for the coordinator.
        waits: node -> nodes that its worker waits for now.
    """
    for name in wanted:
        node = found(name, nodes)
        if node not in nodes:
            return f"there is no node {name!r}"
        if waiter is None:
            continue
        if node == waiter:
            return "a node cannot wait for itself"
        if nodes[node].status.state.ended:
            continue
        if node in ancestors(waiter, nodes):
            return f"{node} waits for this node already; it is an ancestor"
        if _leads_to(node, waiter, nodes, waits or {}):
            return f"{node} itself waits for this node: that would be a circle"
    return ""


def _leads_to(
    start: str,
    goal: str,
    nodes: Mapping[str, Node],
    waits: Mapping[str, Iterable[str]],
) -> bool:
    below = _open_children(nodes)
    line, seen = [start], {start}
    for at in line:
        needs = dependencies(nodes[at], nodes) if at in nodes else ()
        for needed in (*needs, *below.get(at, ()), *waits.get(at, ())):
            if needed == goal:
                return True
            if needed not in seen:
                seen.add(needed)
                line.append(needed)
    return False


@dataclass(frozen=True, slots=True)
class Hand:
    """A worker, as far as assigning looks: is it free, may it get work."""

    name: str
    busy: bool
    retired: bool


def choose_worker(
    node: Node, nodes: Mapping[str, Node], hands: Iterable[Hand], *, freely: bool = True
) -> str | None:
    """Who takes a node that can start: a name, a new `worker-N`, or None for later.

    Whoever had the node before is the first choice. A worker that another node was
    assigned to is left to it.

    Args:
        freely: whether a new worker is made because the others are busy; else only
            where there is none that could take the node at another time.
    """
    known = {folded(hand.name): hand for hand in hands}
    above = _busy_above(node.id, nodes)
    must = _must_have(node)
    if must is not None:
        hand = known.get(folded(must), Hand(must, busy=False, retired=False))
        later = hand.busy or hand.retired or folded(must) in above
        return None if later else hand.name
    not_free = above | _promised(node, nodes)
    free = {
        key: hand.name
        for key, hand in known.items()
        if not (hand.busy or hand.retired or key in not_free)
    }
    earlier = folded(node.status.worker or "")
    if free:
        return free.get(earlier) or next(iter(free.values()))
    if not freely and takers(known.values(), above):
        return None
    return next_worker(known.values())


def takers(hands: Iterable[Hand], above: frozenset[str]) -> tuple[str, ...]:
    """Who could take a node, now or later.

    Args:
        above: workers, folded, that wait for this very node.
    """
    return tuple(
        hand.name
        for hand in hands
        if not hand.retired and folded(hand.name) not in above
    )


def next_worker(hands: Iterable[Hand]) -> str:
    """The name of a new worker that nobody has named."""
    known = {folded(hand.name) for hand in hands}
    number = 1
    while f"worker-{number}" in known:
        number += 1
    return f"worker-{number}"


def _must_have(node: Node) -> str | None:
    """The worker that a node was assigned to, else the one that its spec names."""
    assigned = node.status.state is NodeState.ASSIGNED
    return (node.status.worker if assigned else None) or node.spec.worker_name


def _busy_above(node: str, nodes: Mapping[str, Node]) -> frozenset[str]:
    """The workers, folded, that cannot end their own node before this one ends."""
    line = [nodes[up].status for up in ancestors(node, nodes) if up in nodes]
    return frozenset(
        folded(status.worker)
        for status in line
        if status.worker and (status.state.at_work or status.state is NodeState.HELD)
    )


def _promised(node: Node, nodes: Mapping[str, Node]) -> frozenset[str]:
    return frozenset(
        folded(other.status.worker)
        for other in nodes.values()
        if other.status.worker
        and other.id != node.id
        and other.status.state is NodeState.ASSIGNED
    )
