"""Acts on nodes: create, assign, cancel, look at the board, suggest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import approval, board
from agiraph.core.board_page import board_page
from agiraph.core.codec import read_spec
from agiraph.core.codec.emit import page
from agiraph.core.codec.report import Rejected
from agiraph.core.given import text_of
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permission
from agiraph.model.message import Message
from agiraph.model.names import COORDINATOR, folded, name_problem, slug
from agiraph.model.node import NodeState
from agiraph.model.tool import ToolResult
from agiraph.model.worker import Identity, WorkerType
from agiraph.runtime.acts.act import Act, spelled
from agiraph.runtime.news import end_id
from agiraph.runtime.work import nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.json import Json, JsonObject
    from agiraph.model.node import Node, NodeSpec
    from agiraph.ports import Intent, Seat

_ASSIGNABLE = (
    NodeState.PENDING,
    NodeState.ASSIGNED,
    NodeState.HELD,
    NodeState.CHECKPOINTED,
    NodeState.FAILED,
    NodeState.STALE,
)


class CreateWorkNode(Act):
    """`create_work_node`."""

    name = "create_work_node"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Decide the id and the spec; both are recorded before the file is made."""
        desk = self._desk
        spec = self._spec(arguments, seat)
        self._check_room(seat)
        asked = self._check_worker(spec, seat)
        node = self._id(arguments)
        desk.reserved.add(folded(node))
        return {"node": node, "parent": seat.node, "stage": spec.stage, **asked}

    def _spec(self, arguments: JsonObject, seat: Seat) -> NodeSpec:
        keys: dict[str, Json] = {
            key: arguments[key]
            for key in ("title", "depends_on", "refs", "worker", "max_turns")
            if key in arguments
        }
        keys |= {
            key: arguments[key]
            for key in ("accept", "stage", "share", "hold")
            if key in arguments
        }
        if "timeout" in arguments:
            keys["timeout"] = spelled(arguments["timeout"])
        found = read_spec(page(keys, text_of(arguments, "task")))
        if isinstance(found, Rejected):
            wrong = [f"{p.key}: found {p.found}; {p.allowed}" for p in found.problems]
            raise ToolRefused("the node cannot be made: " + "; ".join(wrong))
        stage = found.value.stage or self._desk.stage
        return replace(found.value, parent=seat.node, stage=stage)

    def _check_room(self, seat: Seat) -> None:
        desk, limits = self._desk, self._desk.settings.limits
        if len(desk.nodes) >= limits.nodes:
            raise ToolRefused(
                f"the run has {len(desk.nodes)} nodes, the most that limits.nodes "
                "allows; use those that are there, or ask the person to raise it in "
                "GOAL.md"
            )
        if board.depth(seat.node, desk.nodes) + 1 > limits.depth:
            raise ToolRefused(
                f"this node lies {limits.depth} deep, the most that limits.depth in "
                "GOAL.md allows; do the work here instead of making a child"
            )

    def _check_worker(self, spec: NodeSpec, seat: Seat) -> JsonObject:
        """Refuse a worker that could never take it; whether the person is asked."""
        name, desk = spec.worker_name, self._desk
        line = board.ancestors(seat.node, desk.nodes) if seat.node else ()
        names = (seat.worker, *(desk.nodes[up].status.worker for up in line))
        busy = frozenset(folded(worker) for worker in names if worker)
        if name is None:
            if board.takers(desk.hands(), busy) or self._one_is_coming():
                return {}
            new = board.next_worker(desk.hands())
            return may_spawn(seat, new, {"for the task": spec.body})
        asked: JsonObject = {}
        if isinstance(spec.worker, Identity):
            must_be_harnessed(spec.worker.type)
        if desk.find_staff(name) is None:
            asked = may_spawn(seat, name, {"for the task": spec.body})
        if folded(name) in busy:
            raise ToolRefused(
                f"{name} is busy with a node above this one and could never take it; "
                "name another worker, or none"
            )
        return asked

    def _one_is_coming(self) -> bool:
        """Whether the first worker is about to be made, for another node."""
        desk = self._desk
        return not board.takers(desk.hands(), frozenset()) and any(
            node.spec.worker_name is None and node.status.state is NodeState.PENDING
            for node in desk.nodes.values()
        )

    def _id(self, arguments: JsonObject) -> str:
        desk = self._desk
        taken = frozenset({folded(node) for node in desk.nodes} | desk.reserved)
        wanted = text_of(arguments, "id")
        if not wanted:
            base = text_of(arguments, "title") or text_of(arguments, "task")
            return slug(base, taken)
        problem = name_problem(wanted)
        if problem:
            raise ToolRefused(f"id: {problem}")
        if folded(wanted) in taken:
            raise ToolRefused(f"the id {wanted!r} is taken; choose another")
        return wanted

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write the spec; the daemon starts it when it can."""
        node = text_of(intent, "node")
        stage = intent.get("stage")
        spec = replace(
            self._spec(intent, seat), stage=stage if isinstance(stage, int) else None
        )
        new = await nodes.create(self._desk, node, spec, by=seat.who)
        self._desk.reserved.discard(folded(node))
        wrong = board.fault(new, self._desk.nodes)
        note = f" It cannot start yet: {wrong}." if wrong else ""
        return ToolResult(f"created node {node}.{note}")


def may_spawn(seat: Seat, name: str, texts: Mapping[str, str]) -> JsonObject:
    """What an intent says of the permission to make a worker.

    Args:
        name: of the worker.
        texts: what else the person is shown of it.

    Raises:
        ToolRefused: no new worker may be made.
    """
    if seat.permissions.spawn is Permission.ALLOW:
        return {}
    shown = approval.shown("a new worker", f"{seat.agent}, workers/{name}", texts)
    need = approval.Need("spawn", (name,), shown)
    return approval.permitted(seat.permissions.spawn, need)


def must_be_harnessed(kind: WorkerType) -> None:
    """Refuse a worker that is a command-line agent."""
    if kind is WorkerType.AUTONOMOUS:
        raise ToolRefused(
            "command-line agents cannot be run as workers yet; take a harnessed one"
        )


class AssignWorker(Act):
    """`assign_worker`."""

    name = "assign_worker"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check that the node can be given away now."""
        desk = self._desk
        node = _node(self._desk.find_node(text_of(arguments, "node_id")), arguments)
        stands = board.state(node, desk.nodes)
        if stands not in _ASSIGNABLE:
            raise ToolRefused(
                f"node {node.id} is {stands.value}; it is not to be assigned"
            )
        released = replace(node, status=replace(node.status, released=True))
        unmet = board.unmet(released, {**desk.nodes, node.id: released})
        if unmet:
            raise ToolRefused(f"node {node.id} cannot start: {'; '.join(unmet)}")
        worker = text_of(arguments, "worker_id")
        asked: JsonObject = {}
        staff = desk.find_staff(worker)
        if staff is None:
            problem = name_problem(worker)
            if problem:
                raise ToolRefused(f"worker_id: {problem}")
            asked = may_spawn(seat, worker, {"for the node": node.id})
        elif staff.identity.retired:
            raise ToolRefused(f"{staff.name} is retired; choose another worker")
        self._not_above(node.id, worker)
        return {"node": node.id, "attempt": node.status.attempt + 1, **asked}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Record the assignment; the worker starts when it is free."""
        node, worker = text_of(intent, "node"), text_of(intent, "worker_id")
        attempt = intent.get("attempt")
        await nodes.assign(
            self._desk, node, worker, attempt if isinstance(attempt, int) else 1
        )
        staff = self._desk.find_staff(worker)
        busy = staff is not None and staff.node is not None
        when = f"when {worker} is free" if busy else "now"
        return ToolResult(f"node {node} goes to {worker}, {when}.")

    def _not_above(self, node: str, worker: str) -> None:
        """Refuse a worker that is busy with a node above this one."""
        nodes_now = self._desk.nodes
        for up in board.ancestors(node, nodes_now):
            status = nodes_now[up].status
            if status.state.at_work and folded(status.worker or "") == folded(worker):
                raise ToolRefused(
                    f"{worker} is busy with {up}, which waits for this node; choose "
                    "another worker"
                )


class CancelNode(Act):
    """`cancel_node`."""

    name = "cancel_node"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Name the node and everything below it."""
        node = _node(self._desk.find_node(text_of(arguments, "node_id")), arguments)
        below = board.descendants(node.id, self._desk.nodes)
        return {"nodes": [node.id, *(child.id for child in below)]}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Mark them cancelled; the supervisor ends their loops at once."""
        listed = intent.get("nodes")
        names = [str(name) for name in listed] if isinstance(listed, list) else []
        told = await nodes.cancel(self._desk, names, error=text_of(intent, "reason"))
        ids = tuple(end_id(str(seat.run), self._desk.nodes[name]) for name in told)
        words = (
            f"cancelled: {', '.join(told)}" if told else "nothing was left to cancel"
        )
        return ToolResult(words, ids=ids)


class CheckBoard(Act):
    """`check_board`."""

    name = "check_board"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Nothing to decide."""
        return {}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """The board as the page has it, with the workers and the spend."""
        desk = self._desk
        if desk.run is None:
            return ToolResult("no run has been opened; there is no board yet")
        spend = desk.spend
        cost = "cost unknown" if spend.cost_usd is None else f"${spend.cost_usd:.4f}"
        workers = [
            f"- {s.name} ({s.identity.role or 'no role'}): "
            + ("retired" if s.identity.retired else s.node or s.state.value)
            for s in desk.staff.values()
        ]
        jobs = [f"- {line}" for line in desk.jobs.running()]
        parts = [
            board_page(desk.run, desk.recorded, picture=False).strip(),
            "Workers:\n" + ("\n".join(workers) or "none yet"),
            *(["In the background:\n" + "\n".join(jobs)] if jobs else []),
            f"Spent: {spend.turns} turns, {spend.usage.total:,} tokens, {cost}",
        ]
        return ToolResult("\n\n".join(parts))


class SuggestNext(Act):
    """`suggest_next`."""

    name = "suggest_next"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """The step is the message's id."""
        return {}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Send it to the coordinator."""
        text = f"[suggestion] {text_of(intent, 'suggestion')}"
        stamp = self._desk.world.stamp()
        await self._desk.mail.post(
            Message(seat.step, seat.who, COORDINATOR, stamp, text)
        )
        return ToolResult("the coordinator has the suggestion and decides on it.")


def _node(node: Node | None, arguments: JsonObject) -> Node:
    if node is None:
        raise ToolRefused(f"there is no node {text_of(arguments, 'node_id')!r}")
    return node
