"""triggers.yaml: whether every trigger says when to fire and what to do."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.core.codec import kinds
from agiraph.core.codec.fields import Place, Section
from agiraph.core.codec.marked import Group, Listing, Scalar, parse
from agiraph.core.codec.page import plain_lines
from agiraph.core.codec.report import Findings, Good, Problem, Rejected
from agiraph.core.codec.settings import zone
from agiraph.model.event import EventType
from agiraph.model.names import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.json import JsonObject

_CRON_FIELD = re.compile(r"[0-9A-Za-z*/,#?-]+")
_CRON_NAME = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly)")
_EVENTS = frozenset({*(each.value for each in EventType), "trigger.fired"})


def read_triggers(text: str) -> Good[tuple[JsonObject, ...]] | Rejected:
    """The triggers, each as the person wrote it; without any, none."""
    findings = Findings.none_yet()
    value = parse(plain_lines(text), findings)
    found: tuple[JsonObject, ...] = ()
    if isinstance(value, Listing):
        top = Place(value, "", findings)
        found = tuple(each for each in map(_read, kinds.items(top)) if each is not None)
        _check_ids(kinds.items(top), findings)
    elif value is not None and not Place(value, "", findings).empty:
        problem = Problem(value.line, 1, "", "no list", "a list: `- id: …` for each")
        findings.problems.append(problem)
    if findings.problems:
        return findings.rejected()
    return Good(found, tuple(findings.remarks))


def _read(place: Place) -> JsonObject | None:
    return place.read(_trigger)


def _trigger(place: Place) -> JsonObject:
    keys = Section.at(place)
    keys.need("id", kinds.name, "a name for the trigger")
    keys.get("enabled", kinds.flag, default=True)
    kind = keys.need("type", kinds.one_of(*_KINDS), "one of " + ", ".join(_KINDS))
    if kind is not None:
        _KINDS[kind](keys)
    keys.need("action", _action, "what to do, such as {type: wake_agent, task: …}")
    if kind is not None:
        keys.close()
    return kinds.json_object(place)


def _scheduled(keys: Section) -> None:
    keys.need("cron", _cron, 'five fields in quotes, such as "0 9 * * 1"')
    keys.get("timezone", zone, "")


def _delayed(keys: Section) -> None:
    keys.need("delay", kinds.duration, kinds.DURATION)


def _at_time(keys: Section) -> None:
    keys.need("at", _moment, 'a date with its time, such as "2026-11-23T09:00"')
    keys.get("timezone", zone, "")


def _heartbeat(keys: Section) -> None:
    keys.need("every", kinds.duration, kinds.DURATION)
    keys.get("when", kinds.one_of("changed", "always"), "changed")
    keys.get("watch", kinds.one_or_many(kinds.line), None)
    keys.get("probe", kinds.text, "")


def _on_event(keys: Section) -> None:
    keys.need("event", _event, "a type of event, such as node.completed")
    keys.get("filter", kinds.json_object, None)


def _on_idle(keys: Section) -> None:
    keys.need("idle", kinds.duration, kinds.DURATION)


_KINDS: dict[str, Callable[[Section], None]] = {
    "scheduled": _scheduled,
    "delayed": _delayed,
    "at_time": _at_time,
    "heartbeat": _heartbeat,
    "on_event": _on_event,
    "on_idle": _on_idle,
}
_ACTIONS = {
    "wake_agent": ("task",),
    "run_node": ("node",),
    "send_message": ("to", "content"),
    "run_command": ("command",),
}


def _action(place: Place) -> JsonObject:
    keys = Section.at(place)
    kind = keys.need("type", kinds.one_of(*_ACTIONS), "one of " + ", ".join(_ACTIONS))
    if kind is not None:
        for key in _ACTIONS[kind]:
            keys.need(key, kinds.text, f"words: {kind} needs it")
        keys.close()
    return kinds.json_object(place)


def _cron(place: Place) -> str:
    found = kinds.line(place)
    fields = found.split()
    named = _CRON_NAME.fullmatch(found)
    counted = len(fields) in (5, 6) and all(map(_CRON_FIELD.fullmatch, fields))
    if not named and not counted:
        raise place.unfit('five or six fields, such as "0 9 * * 1", or @daily')
    return found


def _moment(place: Place) -> str:
    found = kinds.line(place)
    try:
        datetime.fromisoformat(found)
    except ValueError:
        raise place.unfit('a date with its time, such as "2026-11-23T09:00"') from None
    return found


def _event(place: Place) -> str:
    found = kinds.line(place)
    if found not in _EVENTS:
        raise place.unfit("one of " + ", ".join(sorted(_EVENTS)))
    return found


def _check_ids(places: list[Place], findings: Findings) -> None:
    seen: dict[str, int] = {}
    for place in places:
        if not isinstance(place.value, Group):
            continue
        entries = {key.text: value for key, value in place.value.entries}
        named = entries.get("id")
        if not isinstance(named, Scalar) or named.empty:
            continue
        first = seen.setdefault(folded(named.text), named.line)
        if first != named.line:
            found = f"'{named.text}' a second time (first in line {first})"
            problem = Problem(named.line, named.column, "id", found, "each id once")
            findings.problems.append(problem)
