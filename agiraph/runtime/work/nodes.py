"""What happens to a node: it is made, assigned, started, and it ends."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.brief import shortened
from agiraph.core.codec import spec_hash, write_spec
from agiraph.errors import ToolRefused
from agiraph.model.event import EventType
from agiraph.model.node import Node, NodeSpec, NodeState, NodeStatus
from agiraph.model.usage import Spend
from agiraph.runtime.material import Material
from agiraph.runtime.people import approvals, questions
from agiraph.runtime.people.intake import keep_copy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from agiraph.runtime.desk import Desk

DONE = (NodeState.COMPLETED, NodeState.CANCELLED)
ENDS = {
    NodeState.COMPLETED: EventType.NODE_COMPLETED,
    NodeState.FAILED: EventType.NODE_FAILED,
    NodeState.CANCELLED: EventType.NODE_CANCELLED,
    NodeState.CHECKPOINTED: EventType.NODE_CHECKPOINTED,
}


async def create(desk: Desk, node: str, spec: NodeSpec, *, by: str) -> Node:
    """Write a new node's spec and put it on the board; the same again is harmless.

    Raises:
        ToolRefused: something else stands under that id.
    """
    text = write_spec(spec)
    path = desk.node_folder(node).spec
    known = desk.nodes.get(node)
    if known is not None and known.text == text:
        return known
    made = await desk.world.pen.create(path, text.encode())
    if not made and desk.world.reader.read(path, limit=len(text) * 4) != text.encode():
        raise ToolRefused(f"the id {node!r} is taken; choose another")
    await keep_copy(desk, path, text)
    return await put(desk, node, spec, text, by=by)


async def put(desk: Desk, node: str, spec: NodeSpec, text: str, *, by: str) -> Node:
    """Put an accepted spec on the board, or change the one that is there."""
    old = desk.nodes.get(node)
    digest = spec_hash(spec)
    if old is None:
        new = Node(node, spec, digest, NodeStatus(since=desk.world.stamp()), text)
        desk.unannounced.add(node)
        try:
            await desk.put_node(new)
            await desk.records.event(
                EventType.NODE_CREATED, desk.where(node), title=new.title, by=by
            )
        finally:
            desk.unannounced.discard(node)
        desk.bell.ring()
        return new
    new = replace(old, spec=spec, digest=digest, text=text)
    async with _telling_stale(desk):
        desk.place(new)
    if spec != old.spec and old.status.state in (
        NodeState.FAILED,
        NodeState.CANCELLED,
    ):
        await back_to_pending(desk, node)
    desk.changed()  # a node that is held may have a larger budget now
    return desk.nodes[node]


@asynccontextmanager
async def _telling_stale(desk: Desk) -> AsyncIterator[None]:
    """Say of each node that what it published has become out of date inside."""
    before = _stale(desk)
    yield
    for node in _stale(desk):
        if node not in before:
            await desk.records.event(EventType.NODE_STALE, desk.where(node))


def _stale(desk: Desk) -> list[str]:
    nodes = desk.nodes
    return [node.id for node in nodes.values() if board.why_stale(node, nodes)]


async def back_to_pending(desk: Desk, node: str) -> None:
    """A node that had ended waits for a worker again."""
    status = desk.nodes[node].status
    await desk.set_node(
        node,
        replace(
            status,
            state=NodeState.PENDING,
            summary=_so_far(status),
            waiting_for="",
            error="",
            worker=None,
        ),
    )


async def assign(desk: Desk, node: str, worker: str, attempt: int) -> None:
    """Give a node to a worker; done once for each attempt."""
    status = desk.nodes[node].status
    if status.attempt >= attempt:
        return
    stale = board.state(desk.nodes[node], desk.nodes) is NodeState.STALE
    new = replace(
        status,
        state=NodeState.ASSIGNED,
        worker=worker,
        attempt=attempt,
        turns=0,
        active_s=0.0,
        summary=_so_far(status),
        error="",
        waiting_for="",
        partial=False,
        released=True,
        shown="" if stale else status.shown,
    )
    async with _telling_stale(desk):
        await desk.set_node(node, new)
    await desk.records.event(EventType.NODE_ASSIGNED, desk.where(node, worker))


def _so_far(status: NodeStatus) -> str:
    """What whoever takes the node next should know of its past."""
    failed = ""
    if status.state is NodeState.FAILED:
        failed = f"It failed: {status.error}"
    return "\n\n".join(part for part in (status.summary, failed) if part)


async def start(desk: Desk, node: str, worker: str) -> Node:
    """A worker takes a node in hand: refs are resolved, the status says so."""
    status = desk.nodes[node].status
    if status.state is NodeState.PENDING:
        status = replace(
            status, attempt=status.attempt + 1, turns=0, active_s=0.0, partial=False
        )
        await desk.records.event(EventType.NODE_ASSIGNED, desk.where(node, worker))
    consumed = await _resolve_refs(desk, node)
    new = await desk.set_node(
        node,
        replace(
            status,
            state=NodeState.RUNNING,
            worker=worker,
            consumed=consumed,
            waiting_for="",
            error="",
        ),
    )
    await desk.world.durably(
        lambda: desk.world.pen.folder(desk.node_folder(node).scratch)
    )
    await desk.records.event(EventType.NODE_STARTED, desk.where(node, worker))
    return new


async def _resolve_refs(desk: Desk, node: str) -> tuple[tuple[str, str], ...]:
    """Write `_refs.json`; the hashes of what the needed nodes have published."""
    spec = desk.nodes[node].spec
    material = Material(desk.world.reader, desk.home)
    refs = material.refs(spec, desk.run_folder())
    found = {
        name: [{"path": f.path, "size": f.size, "sha256": f.sha} for f in files]
        for name, files in refs
    }
    if spec.refs:
        data = json.dumps(found, ensure_ascii=False, indent=2).encode() + b"\n"
        path = desk.node_folder(node).refs
        await desk.world.write(path, data)
    needed = board.dependencies(desk.nodes[node], desk.nodes)
    return tuple(
        (other, desk.nodes[other].status.published)
        for other in needed
        if other in desk.nodes
    )


async def end(
    desk: Desk, node: str, state: NodeState, *, summary: str = "", error: str = ""
) -> None:
    """A node has ended; the summary or the error is on record before anyone is told."""
    status = desk.nodes[node].status
    ended = await desk.set_node(
        node,
        replace(
            status,
            state=state,
            summary=summary or status.summary,
            error=error,
            waiting_for="",
        ),
    )
    await approvals.withdraw_of(desk, node, f"node {node} has ended")
    await questions.withdraw_about_circles(desk, node)
    # A person may have had it run again while its end was written.
    await tell_end(desk, ended)


async def fail(desk: Desk, node: str, error: str) -> None:
    """A node has failed, unless it has ended already."""
    if not desk.nodes[node].status.state.ended:
        await end(desk, node, NodeState.FAILED, error=error)


async def cancel(desk: Desk, names: Iterable[str], *, error: str) -> list[str]:
    """Cancel those nodes that are neither completed nor cancelled; which these were."""
    found = []
    for name in names:
        node = desk.nodes.get(name)
        if node is not None and node.status.state not in DONE:
            await end(desk, name, NodeState.CANCELLED, error=error)
            found.append(name)
    return found


async def tell_end(desk: Desk, node: Node) -> None:
    """The event of a node's end, as its status has it."""
    status = node.status
    said = {"error": status.error}
    if not status.error:
        said = {"summary": shortened(status.summary, 500)}
    where = desk.where(node.id, status.worker)
    await desk.records.event(ENDS[status.state], where, **said)


async def note_faults(desk: Desk) -> None:
    """Let each node that can never start as things stand say why, as its error."""
    version = desk.version
    if desk.faults_of == version:
        return
    for name in list(desk.nodes):
        status = desk.nodes[name].status
        if status.state is NodeState.PENDING:
            wrong = board.fault(desk.nodes[name], desk.nodes)
            if wrong != status.error:
                await desk.set_node(name, replace(status, error=wrong))
    desk.faults_of = version


async def rerun(desk: Desk, node: str) -> None:
    """A person wants a node to run again, from the start."""
    status = desk.nodes[node].status
    new = replace(
        status,
        state=NodeState.PENDING,
        worker=status.worker,
        shown="",
        summary="",
        error="",
        waiting_for="",
        released=True,
        spend=Spend(),
    )
    async with _telling_stale(desk):
        await desk.set_node(node, new)
