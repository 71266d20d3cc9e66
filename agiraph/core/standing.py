"""How an agent stands: one state out of everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.agent import AgentState
from agiraph.model.run import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an agent.

    Attributes:
        broken: words on a bad file or a bug that keeps it from starting.
        failed: what the service or the disk refused the coordinator, and would again.
        run: the newest run's state; None where there is none.
        active: loops that are at work now.
        held: who is held, and why.
        questions: ids of the questions that are open.
        queued: whether it waits for a place among the runs at work.
        startable: whether some node could start, or is just being started.
        resting: whether an infinite agent waits for its next cycle.
        aimless: whether GOAL.md was deleted.
        settling: whether somebody in the ended run is still to come to its end: to
            look back, or to get the result that a crash cut off.
    """

    broken: str
    paused: bool
    run: RunState | None
    active: int
    held: Mapping[str, str]
    questions: tuple[str, ...]
    queued: bool
    startable: bool
    resting: bool = False
    failed: str = ""
    aimless: bool = False
    settling: bool = False


def standing(facts: Facts) -> tuple[AgentState, str]:
    """The agent's state, and what it waits for."""
    if facts.broken or facts.failed:
        stands = AgentState.BROKEN if facts.broken else AgentState.FAILED
        return stands, facts.broken
    if facts.paused:
        return AgentState.PAUSED, "the file PAUSE to be deleted"
    if facts.aimless and facts.run is not None and facts.run.open:
        return AgentState.HELD, "GOAL.md, which was deleted; put it back to go on"
    if facts.active:
        return AgentState.WORKING, ""
    if facts.queued:
        return AgentState.HELD, "queued: a place among the runs at work (max_agents)"
    if facts.held:
        words = "; ".join(dict.fromkeys(facts.held.values()))
        return AgentState.HELD, words
    if facts.run is not None and facts.run.open:
        return _parked(facts)
    return AgentState.WORKING if facts.settling else _ended(facts.run), ""


def _parked(facts: Facts) -> tuple[AgentState, str]:
    if facts.startable:
        return AgentState.WORKING, ""
    if facts.questions:
        asked = ", ".join(facts.questions)
        return AgentState.WAITING_FOR_HUMAN, f"an answer to {asked}"
    if facts.resting:
        return AgentState.IDLE, "the next cycle"
    return AgentState.WORKING, ""


def _ended(run: RunState | None) -> AgentState:
    match run:
        case RunState.COMPLETED:
            return AgentState.COMPLETED
        case RunState.FAILED:
            return AgentState.FAILED
        case RunState.STOPPED:
            return AgentState.STOPPED
        case RunState.FORKED:
            return AgentState.FORKED
        case None | RunState.OPEN | RunState.REOPENED:
            return AgentState.IDLE
