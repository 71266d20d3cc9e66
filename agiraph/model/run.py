"""A run: one execution of a goal, in stages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class RunState(Enum):
    """How a run stands, as `_run.yaml` says it."""

    OPEN = "open"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    FORKED = "forked"
    REOPENED = "reopened"

    @property
    def open(self) -> bool:
        """Whether its work goes on."""
        return self in (RunState.OPEN, RunState.REOPENED)


class Policy(Enum):
    """When a stage's contract is met."""

    ALL_MUST_COMPLETE = "all_must_complete"
    MAJORITY = "majority"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Contract:
    """What a stage is bound by; when it is met or used up the coordinator wakes.

    Attributes:
        max_turns: model calls of all its nodes together; None is no limit.
        timeout: seconds since the stage opened; None is no limit.
    """

    max_turns: int | None = None
    timeout: float | None = None
    policy: Policy = Policy.ALL_MUST_COMPLETE


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a run.

    Attributes:
        told: whether the coordinator has been woken by its contract.
        paused: seconds of pauses since it opened, which no contract counts.
    """

    number: int
    title: str
    contract: Contract
    opened: str
    closed: str = ""
    assessment: str = ""
    told: bool = False
    paused: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """What `_run.yaml` says.

    Attributes:
        goal: the goal's text when the run opened; goal_hash: of the body in force.
        key: GOAL.md's `run:` number then.
    """

    name: str
    state: RunState
    opened: str
    goal: str
    goal_hash: str
    key: str
    ended: str = ""
    reason: str = ""
    summary: str = ""
    stages: tuple[Stage, ...] = ()
