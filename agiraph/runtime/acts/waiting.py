"""The act of waiting: parked, without a model call, until nodes end or mail comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core import board, moves
from agiraph.core.brief import ended_line
from agiraph.core.durations import seconds
from agiraph.core.given import texts_of
from agiraph.core.limits import GATHER_SECONDS
from agiraph.errors import ToolRefused
from agiraph.model.node import NodeState
from agiraph.model.tool import ToolResult
from agiraph.runtime.acts.act import Act
from agiraph.runtime.news import end_id
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.ports import Intent, Seat


class Wait(Act):
    """`wait`."""

    name = "wait"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Decide which nodes, and until when."""
        desk = self._desk
        asked = texts_of(arguments, "nodes")
        found = [desk.find_node(name) for name in asked]
        wanted = [
            node.id if node else name for node, name in zip(found, asked, strict=True)
        ]
        if not wanted:
            wanted = self._mine(seat)
        wrong = board.wait_fault(seat.node, wanted, desk.nodes, desk.waits)
        if wrong:
            raise ToolRefused(wrong)
        limit = arguments.get("timeout")
        jobs = seat.node is None and desk.jobs.any
        if not wanted and limit is None and not jobs:
            raise ToolRefused(
                "there is nothing to wait for: you have no open children; name nodes, "
                "or a timeout"
            )
        until = None
        if limit is not None:
            until = desk.world.clock.now().timestamp() + seconds(limit)
        return {"wanted": wanted, "until": until}

    def _mine(self, seat: Seat) -> list[str]:
        desk = self._desk
        if seat.node is None:
            return [
                node.id
                for node in board.open_nodes(desk.recorded)
                if board.is_top(node, desk.recorded)
            ]
        return [child.id for child in board.children(seat.node, desk.nodes)]

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Sleep until it is over; what it was about is worked out from the tree."""
        desk = self._desk
        wanted = texts_of(intent, "wanted")
        deadline = None
        until = intent.get("until")
        if isinstance(until, int | float):
            left = until - desk.world.clock.now().timestamp()
            deadline = desk.working() + left

        def ended() -> bool:
            return bool(wanted) and all(self._ended(name) for name in wanted)

        def over() -> bool:
            if ended() or self._mail(seat) or self._news(seat):
                return True
            jobs = seat.node is None and desk.jobs.any
            return deadline is None and not (jobs or self._may_end(wanted))

        if not over():
            words = f"waits for {', '.join(wanted)}" if wanted else "waits"
            if seat.node is not None:
                desk.waits[seat.node] = wanted
            try:
                async with self._loop.parked(NodeState.WAITING, words):
                    if await desk.until(over, deadline=deadline):
                        await desk.world.clock.sleep(GATHER_SECONDS)
            finally:
                desk.waits.pop(str(seat.node), None)
        return self._told(wanted, done=ended(), seat=seat)

    def _mail(self, seat: Seat) -> bool:
        """Whether somebody wrote to the caller, or answered it."""
        desk = self._desk
        return desk.mail.has(seat.who) or bool(questions.untold(desk, seat.who))

    def _may_end(self, wanted: tuple[str, ...]) -> bool:
        """Whether one of them at least can come to its end without the caller."""
        desk, hands = self._desk, self._desk.hands()
        return any(
            moves.may_move(name, desk.recorded, hands)
            for name in wanted
            if not self._ended(name)
        )

    def _ended(self, name: str) -> bool:
        nodes = self._desk.recorded
        node = nodes.get(name)
        return node is None or board.state(node, nodes).ended

    def _news(self, seat: Seat) -> bool:
        """A changed goal or own spec wakes too."""
        desk = self._desk
        if seat.node is not None:
            node = desk.nodes[seat.node]
            shown = node.status.shown
            return bool(shown) and shown != node.digest
        if desk.jobs.reports():
            return True
        return bool(
            desk.run_open and desk.run and desk.run.goal_hash != desk.goal_digest
        )

    def _told(self, wanted: tuple[str, ...], *, done: bool, seat: Seat) -> ToolResult:
        desk, nodes, lines, ids = self._desk, self._desk.recorded, [], []
        for name in wanted:
            node = nodes.get(name)
            if node is None:
                lines.append(f"[node {name} is gone]")
            elif self._ended(name):
                stands = board.state(node, nodes)
                lines.append(ended_line(node, stands, node.status.worker))
                ids.append(end_id(str(seat.run), node))
            else:
                why = board.why_not(node, nodes, desk.hands())
                stands = board.state(node, nodes)
                lines.append(f"[node {name} is {stands.value}] {why}".rstrip())
        if not done and self._mail(seat):
            lines.append("mail came; it follows.")
        elif not done:
            lines.append("the wait is over before all of them ended.")
        # Only the coordinator is told of ends by itself; a worker's ids are its own.
        return ToolResult("\n".join(lines), ids=tuple(ids))
