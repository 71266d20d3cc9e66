"""triggers.yaml: whether every trigger says when to fire and what to do."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.core.codec import kinds
from agiraph.core.codec.fields import Place, Section
from agiraph.core.codec.marked import Group, Listing, Scalar, parse
from agiraph.core.codec.page import plain_lines
from agiraph.core.codec.report import Findings, Good, Problem, Rejected
from agiraph.core.codec.settings import zone
from agiraph.core.schedule.cron import cron_problem
from agiraph.model.event import EventType
from agiraph.model.names import folded
from agiraph.model.trigger import Action, Deed, Kind, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTEST = 1.0  # seconds between two beats, or of idleness
_EVENTS = frozenset(each.value for each in EventType)


def read_triggers(text: str) -> Good[tuple[Trigger, ...]] | Rejected:
    """The triggers in the order of the file; without any, none."""
    findings = Findings.none_yet()
    value = parse(plain_lines(text), findings)
    found: tuple[Trigger, ...] = ()
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


def _read(place: Place) -> Trigger | None:
    return place.read(_trigger)


def _trigger(place: Place) -> Trigger:
    keys = Section.at(place)
    name = keys.need("id", kinds.name, "a name for the trigger") or ""
    enabled = keys.get("enabled", kinds.flag, default=True)
    kind = keys.need("type", kinds.choice(Kind), _one_of(Kind))
    trigger = Trigger(name, kind or Kind.SCHEDULED, Action(Deed.WAKE), _digest(place))
    if kind is not None:
        trigger = _KINDS[kind](keys, trigger)
    action = keys.need("action", _action, "what to do: {type: wake_agent, task: …}")
    if kind is not None:
        keys.close()
    return replace(trigger, action=action or trigger.action, enabled=enabled)


def _digest(place: Place) -> str:
    """What stands for all that a trigger says; whether it is enabled is no part."""
    said = {k: v for k, v in kinds.json_object(place).items() if k != "enabled"}
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _scheduled(keys: Section, trigger: Trigger) -> Trigger:
    allowed = 'five fields in quotes, such as "0 9 * * 1"'
    return replace(
        trigger,
        cron=keys.need("cron", _cron, allowed) or "",
        timezone=keys.get("timezone", zone, None),
    )


def _delayed(keys: Section, trigger: Trigger) -> Trigger:
    delay = keys.need("delay", kinds.duration, kinds.DURATION)
    return replace(trigger, seconds=delay or 0.0)


def _at_time(keys: Section, trigger: Trigger) -> Trigger:
    allowed = 'a date with its time, such as "2026-11-23T09:00"'
    return replace(
        trigger,
        at=keys.need("at", _moment, allowed) or "",
        timezone=keys.get("timezone", zone, None),
    )


def _heartbeat(keys: Section, trigger: Trigger) -> Trigger:
    return replace(
        trigger,
        seconds=keys.need("every", _pause, kinds.DURATION) or 0.0,
        always=keys.get("when", kinds.one_of("changed", "always"), "") == "always",
        watch=keys.get("watch", kinds.one_or_many(kinds.inner_path), ()),
        probe=keys.get("probe", kinds.text, ""),
    )


def _on_event(keys: Section, trigger: Trigger) -> Trigger:
    event = keys.need("event", _event, "a type of event, such as node.completed")
    wanted = keys.get("filter", kinds.json_object, trigger.filter)
    return replace(trigger, event=event or "", filter=wanted)


def _on_idle(keys: Section, trigger: Trigger) -> Trigger:
    idle = keys.need("idle", _pause, kinds.DURATION)
    return replace(trigger, seconds=idle or 0.0)


_KINDS: dict[Kind, Callable[[Section, Trigger], Trigger]] = {
    Kind.SCHEDULED: _scheduled,
    Kind.DELAYED: _delayed,
    Kind.AT_TIME: _at_time,
    Kind.HEARTBEAT: _heartbeat,
    Kind.ON_EVENT: _on_event,
    Kind.ON_IDLE: _on_idle,
}
_NEEDS: dict[Deed, tuple[str, ...]] = {
    Deed.WAKE: ("task",),
    Deed.RUN: ("node",),
    Deed.SEND: ("to", "content"),
    Deed.COMMAND: ("command",),
}


def _action(place: Place) -> Action:
    keys = Section.at(place)
    deed = keys.need("type", kinds.choice(Deed), _one_of(Deed))
    if deed is None:
        return Action(Deed.WAKE)
    given = {
        key: keys.need(key, _words, f"words: {deed.value} needs it") or ""
        for key in _NEEDS[deed]
    }
    keys.close()
    return Action(deed, **given)


def _words(place: Place) -> str:
    found = kinds.text(place)
    if not found.strip():
        raise place.unfit("words")
    return found


def _one_of(words: type[Kind] | type[Deed]) -> str:
    return "one of " + ", ".join(each.value for each in words)


def _cron(place: Place) -> str:
    found = kinds.line(place)
    wrong = cron_problem(found)
    if wrong is not None:
        allowed = 'five fields, such as "0 9 * * 1", or @daily'
        raise place.unfit(allowed, f"{place.found}: {wrong}")
    return found


def _moment(place: Place) -> str:
    found = kinds.line(place)
    try:
        datetime.fromisoformat(found)
    except ValueError as error:
        allowed = 'a date with its time, such as "2026-11-23T09:00"'
        plain = str(error).startswith("Invalid isoformat")  # else: the day is none
        why = place.found if plain else f"{place.found}: {error}"
        raise place.unfit(allowed, why) from None
    return found


def _pause(place: Place) -> float:
    """A duration at whose pace the daemon can well look."""
    seconds = kinds.duration(place)
    if seconds < SHORTEST:
        raise place.unfit("a second or more")
    return seconds


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
