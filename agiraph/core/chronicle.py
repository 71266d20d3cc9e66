"""What happened to an agent, and who decided what and why, out of its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agiraph.core.narration import narrate
from agiraph.model.event import Event, EventType
from agiraph.model.names import COORDINATOR, EVERYONE, HUMAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agiraph.model.json import JsonObject

PERSON = "a person"
PLAN, SOUL = "_plan.md", "SOUL.md"
STOPPED = "the file STOP"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing.

    Attributes:
        ts: ISO 8601; who: decided it, empty where it just happened.
        why: the reason that was given; path: where to look, relative to the agent.
    """

    ts: str
    what: str
    who: str = ""
    why: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Letter:
    """What a person wrote; path relative to the agent."""

    text: str
    path: str


@dataclass(slots=True)
class Chronicle:
    """What happened, and what was decided, each in its order."""

    happened: list[Item] = field(default_factory=list)
    decided: list[Item] = field(default_factory=list)


def chronicle(
    events: Iterable[JsonObject], letters: Mapping[str, Letter] | None = None
) -> Chronicle:
    """The chronicle of one agent's events, small ones left out.

    Args:
        events: as events.jsonl has them.
        letters: what people wrote, by the ids of the messages.
    """
    found = Chronicle()
    made: dict[tuple[str, str], list[str]] = {}
    is_new = False
    for each in events:
        event = _event(each)
        if event is None:
            continue
        ts = str(each.get("ts", ""))
        is_new = is_new or event.type is EventType.AGENT_CREATED
        if is_new and event.data.get("path") == f"{event.agent}/{SOUL}":
            is_new = False  # it came with the home, from a template
        elif event.type is EventType.MESSAGE_SENT:
            _add_letter(found, event, ts, letters or {})
        elif event.type is EventType.NODE_CREATED:
            _add_node(found, made, event, ts)
        elif event.type in _DECIDED:
            item = _DECIDED[event.type](event, ts)
            if item is not None:
                found.decided.append(item)
        if event.type in _HAPPENED:
            path = _path(event)
            found.happened.append(Item(ts, narrate(event), path=path))
    return found


def _event(found: JsonObject) -> Event | None:
    """A line of events.jsonl; None for a type that this version does not know."""
    try:
        kind = EventType(str(found.get("type")))
    except ValueError:
        return None
    data = found.get("data")
    said = {key: found.get(key) for key in ("run", "node", "worker")}
    run, node, worker = (v if isinstance(v, str) else None for v in said.values())
    agent = str(found.get("agent", ""))
    data = data if isinstance(data, dict) else {}
    return Event(kind, agent, run, node, worker, data)


def _path(event: Event) -> str:
    """Where what an event tells of can be read, relative to the agent's home."""
    run = f"runs/{event.run}"
    if event.type is EventType.NODE_COMPLETED:
        return f"{run}/nodes/{event.node}/published/"
    if event.type is EventType.HUMAN_QUESTION:
        return f"_questions/{event.data.get('id')}.md"
    if event.node is not None and event.run is not None:
        return f"{run}/nodes/{event.node}/_status.md"
    if event.type is EventType.AGENT_COMPLETED:
        return f"{run}/_output.md"
    if event.type in (EventType.STAGE_RECONVENED, EventType.STAGE_STARTED):
        return f"{run}/_run.yaml"
    return str(event.data.get("path", "")).removeprefix(f"{event.agent}/")


def _add_letter(
    found: Chronicle, event: Event, ts: str, letters: Mapping[str, Letter]
) -> None:
    """What a person wrote may be a decision; what the others write is work."""
    if event.data.get("from") != HUMAN:
        return
    letter = letters.get(str(event.data.get("id")), Letter("", ""))
    to = "everyone" if event.data.get("to") == EVERYONE else event.data.get("to")
    what = f"wrote to {to}" + (f": {letter.text}" if letter.text else "")
    found.decided.append(Item(ts, what, PERSON, path=letter.path))


def _add_node(
    found: Chronicle, made: dict[tuple[str, str], list[str]], event: Event, ts: str
) -> None:
    """All nodes that one made in a run are one decision."""
    who = _name(str(event.data.get("by", "")))
    names = made.setdefault((who, event.run or ""), [])
    names.append(event.node or "?")
    what = f"made {len(names)} nodes: {', '.join(names)}"
    if len(names) == 1:
        what = f"made the node {names[0]}"
    else:
        found.decided = [each for each in found.decided if not _same(each, who, event)]
    found.decided.append(Item(ts, what, who, path=f"runs/{event.run}/nodes/"))


def _same(item: Item, who: str, event: Event) -> bool:
    path = f"runs/{event.run}/nodes/"
    return item.who == who and item.path == path and item.what.startswith("made ")


def _name(by: str) -> str:
    return PERSON if by == HUMAN else by or COORDINATOR


def _cancelled(event: Event, ts: str) -> Item:
    why = str(event.data.get("error", ""))
    by_hand = why.startswith(STOPPED) or why == "the run was stopped"
    who = PERSON if by_hand else COORDINATOR
    return Item(ts, f"cancelled the node {event.node}", who, why, _path(event))


def _closed(event: Event, ts: str) -> Item | None:
    why = str(event.data.get("assessment", "")).strip()
    return Item(ts, "closed the stage", COORDINATOR, why, _path(event)) if why else None


def _opened(event: Event, ts: str) -> Item:
    title, number = event.data.get("title"), event.data.get("number")
    what = f"opened stage {number}" + (f": {title}" if title else "")
    return Item(ts, what, COORDINATOR, path=_path(event))


def _planned(event: Event, ts: str) -> Item | None:
    writes = event.data.get("tool") in ("write_file", "edit_file")
    if not writes or event.data.get("about") != PLAN or event.worker:
        return None
    return Item(ts, "changed the plan", COORDINATOR, path=f"runs/{event.run}/{PLAN}")


def _finished(event: Event, ts: str) -> Item:
    why = str(event.data.get("reason", ""))
    return Item(ts, "ended the run as done", COORDINATOR, why, _path(event))


def _stopped(event: Event, ts: str) -> Item:
    return Item(ts, "stopped the run", PERSON, str(event.data.get("reason", "")))


def _answered(event: Event, ts: str) -> Item:
    ident, text = event.data.get("id"), event.data.get("text")
    return Item(ts, f"answered {ident}: {text}", PERSON, path=f"_questions/{ident}.md")


def _changed(event: Event, ts: str) -> Item | None:
    path = str(event.data.get("path", "")).removeprefix(f"{event.agent}/")
    return Item(ts, f"wrote {path}", PERSON, path=path) if path else None


def _hurried(event: Event, ts: str) -> Item:
    return Item(ts, "wrote, urgently", PERSON)


def _spawned(event: Event, ts: str) -> Item:
    role = event.data.get("role")
    what = f"took on {event.worker}" + (f", {role}" if role else "")
    path = f"runs/{event.run}/workers/{event.worker}/identity.md"
    return Item(ts, what, COORDINATOR, path=path)


_DECIDED: dict[EventType, Callable[[Event, str], Item | None]] = {
    EventType.NODE_CANCELLED: _cancelled,
    EventType.STAGE_RECONVENED: _closed,
    EventType.STAGE_STARTED: _opened,
    EventType.TOOL_CALLED: _planned,
    EventType.AGENT_COMPLETED: _finished,
    EventType.AGENT_STOPPED: _stopped,
    EventType.HUMAN_RESPONSE: _answered,
    EventType.HUMAN_NUDGE: _hurried,
    EventType.FILE_CHANGED: _changed,
    EventType.WORKER_SPAWNED: _spawned,
}

_HAPPENED = frozenset(
    {
        EventType.AGENT_CREATED,
        EventType.AGENT_STARTED,
        EventType.AGENT_HELD,
        EventType.AGENT_COMPLETED,
        EventType.AGENT_FAILED,
        EventType.AGENT_STOPPED,
        EventType.NODE_COMPLETED,
        EventType.NODE_CHECKPOINTED,
        EventType.NODE_FAILED,
        EventType.NODE_HELD,
        EventType.NODE_STALE,
        EventType.HUMAN_QUESTION,
        EventType.BUDGET_REACHED,
        EventType.FILE_ERROR,
        EventType.MEMORY_COMPACTED,
    }
)
