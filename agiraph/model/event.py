"""The types of events, as `events.jsonl` names them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


class EventType(Enum):
    """Everything that can happen."""

    AGENT_CREATED = "agent.created"
    AGENT_STARTED = "agent.started"
    AGENT_PAUSED = "agent.paused"
    AGENT_RESUMED = "agent.resumed"
    AGENT_WAITING = "agent.waiting"
    AGENT_HELD = "agent.held"
    AGENT_COMPLETED = "agent.completed"
    AGENT_FAILED = "agent.failed"
    AGENT_STOPPED = "agent.stopped"
    NODE_CREATED = "node.created"
    NODE_ASSIGNED = "node.assigned"
    NODE_STARTED = "node.started"
    NODE_WAITING = "node.waiting"
    NODE_HELD = "node.held"
    NODE_RESUMED = "node.resumed"
    NODE_CHECKPOINTED = "node.checkpointed"
    NODE_COMPLETED = "node.completed"
    NODE_CANCELLED = "node.cancelled"
    NODE_FAILED = "node.failed"
    NODE_STALE = "node.stale"
    WORKER_SPAWNED = "worker.spawned"
    WORKER_IDLE = "worker.idle"
    WORKER_BUSY = "worker.busy"
    WORKER_WAITING = "worker.waiting"
    WORKER_STOPPED = "worker.stopped"
    MESSAGE_SENT = "message.sent"
    MESSAGE_RECEIVED = "message.received"
    TOOL_CALLED = "tool.called"
    TOOL_RESULT = "tool.result"
    TOOL_ENDED = "tool.ended"  # a command that went on behind its result
    HUMAN_QUESTION = "human.question"
    HUMAN_RESPONSE = "human.response"
    HUMAN_NUDGE = "human.nudge"
    STAGE_STARTED = "stage.started"
    STAGE_RECONVENED = "stage.reconvened"
    STAGE_COMPLETED = "stage.completed"
    MODEL_CHANGED = "model.changed"
    MEMORY_WRITTEN = "memory.written"
    MEMORY_COMPACTED = "memory.compacted"
    TRIGGER_FIRED = "trigger.fired"
    TRIGGER_SKIPPED = "trigger.skipped"
    BUDGET_REACHED = "budget.reached"
    FILE_CHANGED = "file.changed"
    FILE_ERROR = "file.error"
    FILE_MENDED = "file.mended"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of `events.jsonl`."""

    type: EventType
    agent: str
    run: str | None = None
    node: str | None = None
    worker: str | None = None
    data: JsonObject = field(default_factory=dict)
