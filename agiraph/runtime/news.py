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
from agiraph.model.names import AGIRAPH, COORDINATOR
from agiraph.model.node import NodeState
from agiraph.runtime.people import questions

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


def end_id(run: str, node: Node) -> str:
    """The id under which a node's end is told: each end has a moment of its own."""
    return f"end:{run}:{node.id}:{node.status.since}:{node.status.state.value}"


def goal_id(run: str, number: int, digest: str) -> str:
    """The id under which a version of the goal is told; the brief's has number 0."""
    return f"goal:{run}:{number}:{digest}"


class News:
    """What the coordinator has not been told yet."""

    def __init__(self, desk: Desk, talk: Conversation) -> None:
        """For the coordinator whose conversation is `talk`."""
        self._desk = desk
        self._talk = talk
        self._worked_out: tuple[int, list[Piece | None]] = (-1, [])

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
        for piece in pieces:
            if piece.id.startswith("stage:"):
                await desk.records.event(
                    EventType.STAGE_COMPLETED, desk.where(), words=piece.words
                )
        text = notice(*(piece.words for piece in pieces))
        ids = tuple(piece.id for piece in pieces)
        return [UserLine(desk.world.stamp(), text, Kind.NOTICE, AGIRAPH, ids)]

    async def told(self) -> None:
        """What was told is recorded: answers are done with, the goal is the run's."""
        desk = self._desk
        await questions.told(desk, self._talk.delivered)
        await desk.jobs.told(self._talk.delivered)
        if desk.run is None or desk.goal is None or self._goal() is not None:
            return
        if desk.run_open and desk.run.goal_hash != desk.goal_digest:
            await desk.set_run(
                replace(desk.run, goal=desk.goal.body, goal_hash=desk.goal_digest)
            )

    def _pieces(self) -> list[Piece]:
        known = self._talk.delivered
        found = [
            self._goal(),
            *self._of_the_board(),
            self._stage(),
            *self._answers(),
            *(Piece(*each) for each in self._desk.jobs.reports().items()),
            *self._memory(),
        ]
        return [piece for piece in found if piece and piece.id not in known]

    @property
    def _run(self) -> str:
        return self._desk.run.name if self._desk.run else ""

    def _of_the_board(self) -> list[Piece | None]:
        """Ends and faults, worked out once for each version of the board."""
        desk = self._desk
        if self._worked_out[0] != desk.version:
            self._worked_out = (desk.version, [*self._ends(), *self._faults()])
        return self._worked_out[1]

    def _ends(self) -> list[Piece | None]:
        nodes, run = self._desk.recorded, self._run
        return [
            Piece(
                end_id(run, node),
                ended_line(node, node.status.state, node.status.worker),
            )
            for node in nodes.values()
            if node.status.state in _TOLD and board.is_top(node, nodes)
        ]

    def _faults(self) -> list[Piece | None]:
        nodes, run = self._desk.recorded, self._run
        found: list[Piece | None] = []
        for node in nodes.values():
            if node.status.state is not NodeState.PENDING:
                continue
            wrong = board.fault(node, nodes)
            if wrong:
                words = f"[node {node.id} cannot start] {wrong}"
                found.append(Piece(f"fault:{run}:{node.id}:{wrong}", words))
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
                    found.append(Piece(f"stays:{node.id}:{end_id(run, other)}", words))
        return found

    def _stage(self) -> Piece | None:
        desk = self._desk
        run = desk.run
        if run is None or not run.stages or run.stages[-1].closed:
            return None
        stage = run.stages[-1]
        words = stages.verdict(stage, desk.recorded, age=desk.stage_age())
        if not words:
            return None
        return Piece(
            f"stage:{run.name}:{stage.number}", f"[stage {stage.number}] {words}"
        )

    def _answers(self) -> list[Piece | None]:
        return [
            Piece(questions.answer_id(each), questions.answer_words(each))
            for each in questions.untold(self._desk, COORDINATOR)
        ]

    def _memory(self) -> list[Piece | None]:
        """What people made of the memory, told while a run is open."""
        if not self._desk.run_open:
            return []
        return [
            Piece(
                f"memory:{each.path}:{each.becomes[:12]}",
                f"[{each.path} was edited by a person; read it]"
                if each.becomes
                else f"[{each.path} was taken away by a person]",
            )
            for each in self._desk.memory.edits()
        ]

    def _goal(self) -> Piece | None:
        desk, run = self._desk, self._desk.run
        if run is None or not desk.run_open or desk.goal is None:
            return None
        if run.goal_hash == desk.goal_digest:
            return None
        number, digest = self._last_goal(run.name)
        if digest == desk.goal_digest:
            return None  # told, and a crash came before the run's record
        diff = diff_text("GOAL.md", run.goal, desk.goal.body)
        ident = goal_id(run.name, number + 1, desk.goal_digest)
        return Piece(ident, f"[the goal was changed by a person]\n{diff}")

    def _last_goal(self, run: str) -> tuple[int, str]:
        """Number and hash of the last version of the goal that was told."""
        beginning = f"goal:{run}:"
        told = [
            ident.removeprefix(beginning).split(":")
            for ident in self._talk.delivered
            if ident.startswith(beginning)
        ]
        number, digest = max(((int(n), d) for n, d in told), default=(0, ""))
        return number, digest
