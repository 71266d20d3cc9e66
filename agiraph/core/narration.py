"""Events in words: one readable line for each thing that happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.brief import shortened
from agiraph.model.event import Event, EventType
from agiraph.model.names import COORDINATOR

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

_SAID = {
    EventType.AGENT_CREATED: "created",
    EventType.AGENT_STARTED: "run {run} opened",
    EventType.AGENT_PAUSED: "paused",
    EventType.AGENT_RESUMED: "goes on",
    EventType.AGENT_WAITING: "waits for a person",
    EventType.AGENT_HELD: "held: {words}",
    EventType.AGENT_COMPLETED: "run {run} completed: {reason}",
    EventType.AGENT_FAILED: "failed: {words}{reason}",
    EventType.AGENT_STOPPED: "run {run} stopped: {reason}",
    EventType.NODE_CREATED: "node {node} created by {by}: {title}",
    EventType.NODE_ASSIGNED: "node {node} assigned to {worker}",
    EventType.NODE_STARTED: "node {node} started by {worker}",
    EventType.NODE_WAITING: "node {node} waits: {words}",
    EventType.NODE_HELD: "node {node} held: {words}",
    EventType.NODE_RESUMED: "node {node} goes on",
    EventType.NODE_CHECKPOINTED: "node {node} checkpointed: {summary}",
    EventType.NODE_COMPLETED: "node {node} completed by {worker}: {summary}",
    EventType.NODE_CANCELLED: "node {node} cancelled: {error}",
    EventType.NODE_FAILED: "node {node} failed: {error}",
    EventType.NODE_STALE: "node {node} is stale",
    EventType.WORKER_SPAWNED: "worker {worker} joined {role}",
    EventType.WORKER_IDLE: "worker {worker} is idle",
    EventType.WORKER_BUSY: "worker {worker} works on {node}",
    EventType.WORKER_WAITING: "worker {worker} waits",
    EventType.WORKER_STOPPED: "worker {worker} retired",
    EventType.MESSAGE_SENT: "message from {from} to {to}",
    EventType.MESSAGE_RECEIVED: "message read by {by}",
    EventType.TOOL_CALLED: "{who} calls {tool} {about}",
    EventType.TOOL_RESULT: "{who} has the result of {tool}{failed}",
    EventType.TOOL_ENDED: "job {job} of {who} ended{failed}: {about}",
    EventType.HUMAN_QUESTION: "{who} asks {id}: {text}",
    EventType.HUMAN_RESPONSE: "{id} is answered: {text}",
    EventType.HUMAN_NUDGE: "a person wrote, urgently",
    EventType.STAGE_STARTED: "stage {number} started {title}",
    EventType.STAGE_RECONVENED: "stage closed: {assessment}",
    EventType.STAGE_COMPLETED: "{words}",
    EventType.MODEL_CHANGED: "{who}: {words}",
    EventType.MEMORY_WRITTEN: "{who} wrote {path}",
    EventType.MEMORY_COMPACTED: "{who} compacted its conversation",
    EventType.TRIGGER_FIRED: "trigger {trigger} fired {reason}",
    EventType.TRIGGER_SKIPPED: "trigger {trigger} was skipped: {reason}",
    EventType.BUDGET_REACHED: "{words}",
    EventType.FILE_CHANGED: "{path} accepted",
    EventType.FILE_ERROR: "{words}",
    EventType.FILE_MENDED: "{path} is good again",
}

QUIET = frozenset(
    {
        EventType.TOOL_RESULT,
        EventType.MESSAGE_RECEIVED,
        EventType.NODE_ASSIGNED,
        EventType.WORKER_BUSY,
        EventType.WORKER_IDLE,
    }
)


# Why work stands still, and what to do about it, is said whole.
_WHOLE = frozenset(
    {
        EventType.AGENT_HELD,
        EventType.AGENT_FAILED,
        EventType.NODE_HELD,
        EventType.NODE_FAILED,
        EventType.BUDGET_REACHED,
        EventType.MODEL_CHANGED,
        EventType.FILE_ERROR,
        EventType.HUMAN_QUESTION,
    }
)
_LINE = 200
_MOST = 2000

# What a call is about, for most tools in one word: the first of these it was given.
_ABOUT = (
    "path",
    "command",
    "ref_name",
    "query",
    "node_id",
    "worker_id",
    "id",
    "title",
    "name",
    "to",
    "question",
)
_ABOUT_SIZE = 60


class _Known(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


def narrate(event: Event) -> str:
    """One line of words for an event, without its time and agent."""
    known = _Known({k: str(v) for k, v in event.data.items()})
    known["run"] = event.run or ""
    known["node"] = event.node or ""
    known["worker"] = event.worker or ""
    known["who"] = event.worker or COORDINATOR
    known["failed"] = " (an error)" if _failed(event.data) else ""
    for key in ("path", "words"):
        known[key] = known[key].removeprefix(f"{event.agent}/")
    if known["title"] == known["node"]:
        known["title"] = ""
    words = _SAID[event.type].format_map(known)
    size = _MOST if event.type in _WHOLE else _LINE
    return shortened(" ".join(words.split()).rstrip(": "), size)


def about(arguments: JsonObject) -> str:
    """What a tool was called about, short: its path, its command, its node.

    Args:
        arguments: of the call, as the model gave them; anything may be missing.
    """
    for key in _ABOUT:
        said = arguments.get(key)
        if isinstance(said, str) and said.strip():
            return shortened(" ".join(said.split()), _ABOUT_SIZE)
    return ""


def _failed(data: JsonObject) -> bool:
    return data.get("error") is True
