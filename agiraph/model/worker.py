"""A worker: who it is and what it is doing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from agiraph.model.usage import Spend


class WorkerState(Enum):
    """What a worker is doing, as its `_status.md` says it."""

    IDLE = "idle"
    BUSY = "busy"
    WAITING_FOR_HUMAN = "waiting_for_human"
    STOPPED = "stopped"


class WorkerType(Enum):
    """How a worker works."""

    HARNESSED = "harnessed"
    AUTONOMOUS = "autonomous"


class AgentMemory(Enum):
    """What a worker may do with the agent's own memory."""

    NONE = "none"
    READ = "read"
    WRITE = "write"

    @property
    def readable(self) -> bool:
        """Whether the worker may read there."""
        return self in (AgentMemory.READ, AgentMemory.WRITE)


@dataclass(frozen=True, slots=True)
class Identity:
    """A good identity.md.

    Attributes:
        model: a fallback chain; empty is the agent's `worker_model`.
        command: the command-line agent of an autonomous worker.
        tools: names of the tools that it may call; None is all.
        text: the body: who the worker is, in its own words.
    """

    name: str
    role: str = ""
    type: WorkerType = WorkerType.HARNESSED
    model: tuple[str, ...] = ()
    command: str = ""
    tools: tuple[str, ...] | None = None
    agent_memory: AgentMemory = AgentMemory.NONE
    retired: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """One line of a worker's history.json."""

    node: str
    task: str
    summary: str


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """What a worker's `_status.md` shows; all but the state where it applies.

    Attributes:
        since: when this state began, ISO 8601.
        node: the node that it has in hand.
        spend: of the run.
    """

    state: WorkerState = WorkerState.IDLE
    since: str = ""
    run: str = ""
    node: str = ""
    spend: Spend = Spend()
    waiting_for: str = ""
    error: str = ""
