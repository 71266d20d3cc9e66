"""A node: one workpiece, what it needs and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agiraph.model.agent import Budget
from agiraph.model.usage import Spend
from agiraph.model.worker import Identity


class NodeState(Enum):
    """How a node stands, as its `_status.md` says it; `stale` is derived."""

    PENDING = "pending"
    ASSIGNED = "assigned"
    RUNNING = "running"
    WAITING = "waiting"
    WAITING_FOR_HUMAN = "waiting_for_human"
    CHECKPOINTED = "checkpointed"
    HELD = "held"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    STALE = "stale"

    @property
    def ended(self) -> bool:
        """Whether it counts as ended for `wait`, for the stage and for `finish`."""
        return self in _ENDED

    @property
    def at_work(self) -> bool:
        """Whether a worker has it in hand."""
        return self in _AT_WORK


_ENDED = frozenset(
    {
        NodeState.COMPLETED,
        NodeState.FAILED,
        NodeState.CANCELLED,
        NodeState.CHECKPOINTED,
        NodeState.STALE,
    }
)
_AT_WORK = frozenset(
    {
        NodeState.ASSIGNED,
        NodeState.RUNNING,
        NodeState.WAITING,
        NodeState.WAITING_FOR_HUMAN,
    }
)


@dataclass(frozen=True, slots=True)
class Accept:
    """One check at publish: a file that must be there, or a command that must pass."""

    file: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A good _spec.md.

    Attributes:
        body: what to do.
        depends_on: ids of nodes; those that refs imply are not listed here.
        refs: name -> paths or globs under `nodes/` or `inputs/`.
        worker: a name, or the identity to spawn, or None for whoever is free.
        timeout: seconds of work, parked time not counted.
        hold: whether it waits for an assignment by hand.
    """

    body: str
    title: str = ""
    depends_on: tuple[str, ...] = ()
    refs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    worker: Identity | str | None = None
    parent: str | None = None
    stage: int | None = None
    max_turns: int | None = None
    timeout: float | None = None
    budget: Budget = Budget()
    share: bool = False
    hold: bool = False
    accept: tuple[Accept, ...] = ()

    @property
    def worker_name(self) -> str | None:
        """The name that the spec asks for, if it asks for one."""
        return self.worker.name if isinstance(self.worker, Identity) else self.worker


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """What the daemon has recorded of a node, in its `_status.md`.

    Attributes:
        since: when this state began, ISO 8601.
        attempt: how many times it was assigned; 0 before the first.
        turns: model calls of this assignment.
        active_s: seconds of work of this assignment, parked time not counted.
        shown: hash of the spec that its worker was last shown.
        consumed: node -> hash of what was published there when it was taken in.
        summary: the worker's own words at its end.
        waiting_for: why it does not go on, for people.
        partial: published without its check; dependants wait for the coordinator.
        released: assigned by hand, so `hold` and a dependency's `partial` are lifted.
    """

    state: NodeState = NodeState.PENDING
    since: str = ""
    worker: str | None = None
    attempt: int = 0
    turns: int = 0
    active_s: float = 0.0
    spend: Spend = Spend()
    shown: str = ""
    consumed: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    waiting_for: str = ""
    error: str = ""
    partial: bool = False
    released: bool = False
    published: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A node on the board.

    Attributes:
        text: the accepted _spec.md; digest: hash of what counts in it.
    """

    id: str
    spec: NodeSpec
    digest: str
    status: NodeStatus
    text: str = ""

    @property
    def title(self) -> str:
        return self.spec.title or self.id
