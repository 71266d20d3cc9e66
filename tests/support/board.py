"""Nodes for tests of the board, made in a line each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.model.node import Node, NodeSpec, NodeState, NodeStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

Refs = tuple[tuple[str, tuple[str, ...]], ...]


def node(
    ident: str,
    *needs: str,
    state: NodeState = NodeState.PENDING,
    spec: NodeSpec | None = None,
    refs: Refs = (),
    parent: str | None = None,
    worker: str | None = None,
    **status: object,
) -> Node:
    """A node; `needs` are its `depends_on`, `worker` the one that its spec names."""
    spec = spec or NodeSpec("Do it.", parent=parent, worker=worker)
    spec = replace(spec, depends_on=needs or spec.depends_on, refs=refs or spec.refs)
    return Node(ident, spec, "d1", NodeStatus(state=state, **status))  # type: ignore[arg-type]  # by keyword, as given


def done(ident: str, *needs: str, of: str = "1", **more: object) -> Node:
    """A completed node; it published `<id>@<of>` and took in `<needed>@1`."""
    given: dict[str, object] = {
        "shown": "d1",
        "published": f"{ident}@{of}",
        "consumed": tuple((needed, f"{needed}@1") for needed in needs),
        "attempt": 1,
        **more,
    }
    return node(ident, *needs, state=NodeState.COMPLETED, **given)  # type: ignore[arg-type]  # by keyword, as given


def board_of(*nodes: Node) -> Mapping[str, Node]:
    """The board with these nodes, in this order."""
    return {each.id: each for each in nodes}


def changed(old: Node) -> Node:
    """The node after its spec was changed."""
    return replace(old, digest="d2")


def with_status(old: Node, **status: object) -> Node:
    """The node with some of its status replaced."""
    return replace(old, status=replace(old.status, **status))  # type: ignore[arg-type]  # by keyword, as given
