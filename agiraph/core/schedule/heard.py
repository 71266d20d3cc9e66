"""What a trigger makes of events: whether one is meant, and what ends an idle spell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agiraph.model.event import EventType
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject
    from agiraph.model.trigger import Trigger

OURS: Final = "trigger:"  # how the ids of what triggers send begin
_FAMILIES: Final = ("trigger.", "tool.", "memory.", "budget.", "message.received")
_BROUGHT: Final = frozenset(
    {
        EventType.FILE_CHANGED.value,
        EventType.FILE_ERROR.value,
        EventType.FILE_MENDED.value,
        EventType.HUMAN_RESPONSE.value,
        EventType.NODE_COMPLETED.value,
        EventType.NODE_FAILED.value,
    }
)
_STATES: Final = frozenset(
    {
        EventType.AGENT_WAITING.value,
        EventType.AGENT_HELD.value,
        EventType.AGENT_RESUMED.value,
        EventType.AGENT_PAUSED.value,
    }
)


def is_meant(trigger: Trigger, event: JsonObject) -> bool:
    """Whether a line of events.jsonl is what an `on_event` trigger waits for.

    What triggers themselves send is never meant: two could call each other for ever.
    """
    if event.get("type") != trigger.event or _is_ours(event):
        return False
    if event.get("type") == EventType.TRIGGER_FIRED.value:
        data = event.get("data")
        if isinstance(data, dict) and data.get("trigger") == trigger.id:
            return False
    return all(_fits(event, key, wanted) for key, wanted in trigger.filter.items())


def is_brought(event: JsonObject) -> bool:
    """Whether others brought an event: it is no doing of the coordinator's own.

    What an agent does while a trigger has it awake must not make the same trigger wake
    it again; it would do so for ever.
    """
    data = event.get("data")
    sender = data.get("from") if isinstance(data, dict) else None
    kind = event.get("type")
    return kind in _BROUGHT or (
        kind == EventType.MESSAGE_SENT.value and sender == HUMAN
    )


def _is_ours(event: JsonObject) -> bool:
    data = event.get("data")
    ident = data.get("id") if isinstance(data, dict) else None
    return isinstance(ident, str) and ident.startswith(OURS)


def _fits(event: JsonObject, key: str, wanted: Json) -> bool:
    """Whether a key of an event, or of its data, is as wanted; a list: any of it."""
    data = event.get("data")
    found = event.get(key)
    if found is None and isinstance(data, dict):
        found = data.get(key)
    if key == "path":
        agent = event.get("agent")
        found = str(found or "").removeprefix(f"{agent}/")
    options = wanted if isinstance(wanted, list) else [wanted]
    return any(_same(found, each, globs=key == "path") for each in options)


def _same(found: Json, wanted: Json, *, globs: bool) -> bool:
    if found is None or wanted is None:
        return found is wanted
    if globs:
        return glob(str(wanted)).fullmatch(str(found)) is not None
    return str(found) == str(wanted)


@lru_cache(maxsize=256)
def glob(pattern: str) -> re.Pattern[str]:
    """A glob: `*` and `?` stay within a folder, `**` is any folders and files."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))


@dataclass(frozen=True, slots=True)
class Stretch:
    """How long nothing has happened, and what people have done so far.

    Attributes:
        since: when something last happened, ISO 8601; empty where nothing did.
        reacting: whether all since then was an answer to a trigger.
        people: how many messages and answers of people there were.
    """

    since: str = ""
    reacting: bool = False
    people: int = 0


def after(stretch: Stretch, event: JsonObject) -> Stretch:
    """What an event makes of a stretch of idleness.

    What an agent does because a trigger woke it does not end the stretch, as long as
    no work comes of it; or a watchdog would call itself for ever.
    """
    kind, when = str(event.get("type")), str(event.get("ts", ""))
    data = event.get("data")
    sender = data.get("from") if isinstance(data, dict) else None
    people = stretch.people + (
        kind == EventType.HUMAN_RESPONSE.value
        or (kind == EventType.MESSAGE_SENT.value and sender == HUMAN)
    )
    if kind == EventType.MESSAGE_SENT.value and _is_ours(event):
        return Stretch(stretch.since, reacting=True, people=people)
    quiet = kind in _STATES or kind.startswith("trigger.")
    if quiet or (stretch.reacting and kind.startswith(_FAMILIES)):
        return Stretch(stretch.since, stretch.reacting, people)
    if stretch.reacting and kind == EventType.MESSAGE_SENT.value and sender != HUMAN:
        return Stretch(stretch.since, reacting=True, people=people)
    return Stretch(when or stretch.since, reacting=False, people=people)
