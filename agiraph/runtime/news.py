"""News for the coordinator, worked out from the tree: what ended, what changed.

Each piece has an id that the conversation records, so it is told once however often
it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core import board, stages
from agiraph.core.brief import diff_text, ended_line, notice
from agiraph.model.conversation import Kind, UserLine
from agiraph.model.event import EventType
from agiraph.model.node import NodeState

if TYPE_CHECKING:
    from agiraph.model.node import Node
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk

_TOLD = (
    NodeState.COMPLETED,
    NodeState.FAILED,
    NodeState.CANCELLED,
    NodeState.CHECKPOINTED,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of news."""

    id: str
    words: str


def end_id(node: Node) -> str:
    """The id under which a node's end is told."""
    return f"end:{node.id}:{node.status.attempt}:{node.status.state.value}"


class News:
    """What the coordinator has not been told yet."""

    def __init__(self, desk: Desk, talk: Conversation) -> None:
        """For the coordinator whose conversation is `talk`."""
        self._desk = desk
        self._talk = talk

    def any(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._pieces())

    def urgent(self) -> bool:
        """Whether a changed goal is to go ahead of the calls left."""
        return self._goal() is not None

    async def lines(self) -> list[UserLine]:
        """Everything new, as one notice; the goal's change as its own."""
        desk = self._desk
        pieces = self._pieces()
        if not pieces:
            return []
        goal = self._goal()
        if goal is not None:
            await self._note_goal()
        if any(piece.id.startswith("stage:") for piece in pieces):
            await desk.records.event(EventType.STAGE_COMPLETED, desk.where())
        desk.memory_changed = ""
        text = notice(*(piece.words for piece in pieces))
        ids = tuple(piece.id for piece in pieces)
        return [UserLine(desk.world.stamp(), text, Kind.NOTICE, "agiraph", ids)]

    def _pieces(self) -> list[Piece]:
        known = self._talk.delivered
        found = [
            self._goal(),
            *self._ends(),
            self._stage(),
            *self._faults(),
            *self._answers(),
            self._memory(),
        ]
        return [piece for piece in found if piece and piece.id not in known]

    def _ends(self) -> list[Piece | None]:
        nodes = self._desk.nodes
        return [
            Piece(end_id(node), ended_line(node, node.status.state, node.status.worker))
            for node in nodes.values()
            if node.status.state in _TOLD and self._is_mine(node)
        ]

    def _is_mine(self, node: Node) -> bool:
        """A child's end is its parent's to hear, while the parent is at work."""
        parent = self._desk.nodes.get(node.spec.parent or "")
        return parent is None or parent.status.state.ended

    def _faults(self) -> list[Piece | None]:
        nodes = self._desk.nodes
        found: list[Piece | None] = []
        for node in nodes.values():
            if node.status.state is not NodeState.PENDING:
                continue
            wrong = board.fault(node, nodes)
            if wrong:
                words = f"[node {node.id} cannot start] {wrong}"
                found.append(Piece(f"fault:{node.id}:{wrong}", words))
            for needed in board.dependencies(node, nodes):
                other = nodes.get(needed)
                if other and other.status.state in (
                    NodeState.FAILED,
                    NodeState.CANCELLED,
                ):
                    words = (
                        f"[node {node.id} stays pending] it waits for {needed}, "
                        f"which is {other.status.state.value}"
                    )
                    found.append(Piece(f"stays:{node.id}:{end_id(other)}", words))
        return found

    def _stage(self) -> Piece | None:
        desk = self._desk
        run = desk.run
        if run is None or not run.stages or run.stages[-1].closed:
            return None
        stage = run.stages[-1]
        words = stages.verdict(stage, desk.nodes, age=desk.stage_age())
        if not words:
            return None
        return Piece(
            f"stage:{run.name}:{stage.number}", f"[stage {stage.number}] {words}"
        )

    def _answers(self) -> list[Piece | None]:
        return [
            Piece(f"answer:{q.id}", f"[answer to {q.id}] {q.answer}\n(asked: {q.text})")
            for q in self._desk.answered.values()
            if q.node is None
        ]

    def _memory(self) -> Piece | None:
        changed = self._desk.memory_changed
        if not changed:
            return None
        return Piece(f"memory:{changed}", "[MEMORY.md was edited by a person; read it]")

    def _goal(self) -> Piece | None:
        desk = self._desk
        if desk.run is None or not desk.run_open or desk.goal is None:
            return None
        ident = f"goal:{desk.goal_digest}"
        if desk.run.goal_hash == desk.goal_digest or ident in self._talk.delivered:
            return None
        diff = diff_text("GOAL.md", desk.run.goal, desk.goal.body)
        return Piece(ident, f"[the goal was changed by a person]\n{diff}")

    async def _note_goal(self) -> None:
        desk = self._desk
        if desk.run is not None and desk.goal is not None:
            await desk.set_run(
                replace(desk.run, goal=desk.goal.body, goal_hash=desk.goal_digest)
            )
