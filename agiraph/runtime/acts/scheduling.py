"""Acts on triggers.yaml: schedule, list_triggers, cancel_trigger.

The file is shared with people: one entry is put in or taken out, everything else of it
stays byte for byte, and where a person has changed it meanwhile nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agiraph.core.approval import Need, permitted, shown
from agiraph.core.codec import read_triggers
from agiraph.core.codec.entries import with_entry, without_entry
from agiraph.core.codec.report import Rejected
from agiraph.core.given import text_of
from agiraph.core.limits import GOAL_BYTES
from agiraph.core.schedule.slots import next_slots
from agiraph.errors import NotThere, ToolRefused
from agiraph.model.agent import Permission
from agiraph.model.tool import ToolResult
from agiraph.model.trigger import Deed, Kind
from agiraph.runtime.acts.act import Act

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject
    from agiraph.model.trigger import Trigger
    from agiraph.ports import Intent, Seat

_CONFIG: Final = {
    "delay_seconds": "delay",
    "interval_seconds": "every",
    "idle_seconds": "idle",
}


class OnTriggers(Act):
    """What the acts on triggers.yaml share."""

    def _text(self) -> str:
        """The file as it stands; empty where there is none."""
        desk = self._desk
        try:
            return desk.world.reader.read(desk.home.triggers, limit=GOAL_BYTES).decode()
        except NotThere:
            return ""
        except UnicodeDecodeError:
            raise ToolRefused("triggers.yaml is no UTF-8 text") from None

    def _triggers(self, text: str) -> tuple[Trigger, ...]:
        found = read_triggers(text)
        if isinstance(found, Rejected):
            first = found.problems[0]
            raise ToolRefused(
                f"triggers.yaml cannot be read, line {first.line}: {first.key} "
                f"{first.found}; a person has to mend it first"
            )
        return found.value

    async def _write(self, old: str, new: str) -> None:
        """Write the file, unless it has changed since it was read.

        Raises:
            ToolRefused: it has.
        """
        desk = self._desk
        if self._text() != old:
            raise ToolRefused(
                "triggers.yaml was changed by a person meanwhile; look at it with "
                "list_triggers and try again"
            )
        await desk.world.pen.write(desk.home.triggers, new.encode())
        desk.world.look(desk.agent)

    def _permitted(self, seat: Seat, what: str, about: Mapping[str, str]) -> JsonObject:
        need = Need("schedule", (what,), shown(what, what, about))
        return permitted(seat.permissions.schedule, need)


class Schedule(OnTriggers):
    """`schedule`."""

    name = "schedule"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Write the entry as it will stand, and see that it is a good one."""
        text = self._text()
        taken = {trigger.id for trigger in self._triggers(text)}
        entry = _entry(arguments, taken)
        if entry["id"] in taken:
            raise ToolRefused(f"there is a trigger {entry['id']!r} already")
        trigger = self._judged(text, entry)
        self._check(trigger, seat)
        asked = self._permitted(
            seat, f"schedule {trigger.kind.value}", {"trigger": json.dumps(entry)}
        )
        return {"entry": entry, **asked}

    def _judged(self, text: str, entry: JsonObject) -> Trigger:
        found = read_triggers(with_entry(text, entry))
        if isinstance(found, Rejected):
            words = [f"{p.key.partition('.')[2]}: {p.found}" for p in found.problems]
            allowed = found.problems[0].allowed
            raise ToolRefused(f"{'; '.join(words)}; expected {allowed}")
        return found.value[-1]

    def _check(self, trigger: Trigger, seat: Seat) -> None:
        bash = seat.permissions.bash
        if trigger.action.deed is Deed.COMMAND and bash is Permission.DENY:
            raise ToolRefused("commands are not allowed here (permissions: bash: deny)")
        if trigger.kind in (Kind.AT_TIME, Kind.SCHEDULED) and not self._next(trigger):
            raise ToolRefused(f"{trigger.at} is past; give a time that is ahead")

    def _next(self, trigger: Trigger) -> list[str]:
        world = self._desk.world
        now, zone = world.now(), world.clock.zone()
        found = next_slots(trigger, 3, since=now, after=now, tree=zone)
        return [slot.isoformat(timespec="seconds") for slot in found]

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Put it at the end of the file; it is there already after a crash."""
        given, text = intent["entry"], self._text()
        entry = given if isinstance(given, Mapping) else {}
        wanted = self._judged("", entry)
        known = {trigger.id: trigger for trigger in self._triggers(text)}
        if wanted.id not in known:
            await self._write(text, with_entry(text, entry))
        elif known[wanted.id].digest != wanted.digest:
            raise ToolRefused(f"there is a trigger {wanted.id!r} already")
        due = ", ".join(self._next(wanted)) or f"by {wanted.kind.value}"
        return ToolResult(f"scheduled as {wanted.id}; due next: {due}")


class ListTriggers(OnTriggers):
    """`list_triggers`."""

    name = "list_triggers"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """There is nothing to decide."""
        return {}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """One line for each trigger."""
        due = dict(self._desk.planned)
        lines = [
            f"- {each.id} ({each.kind.value}): {_does(each)}; "
            f"next: {', '.join(due.get(each.id, ('in a moment',)))}"
            for each in self._triggers(self._text())
        ]
        return ToolResult("\n".join(lines) or "There are no triggers.")


class CancelTrigger(OnTriggers):
    """`cancel_trigger`."""

    name = "cancel_trigger"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """See that it is there."""
        name = text_of(arguments, "trigger_id")
        without_entry(self._text(), name)
        return self._permitted(seat, f"cancel the trigger {name}", {})

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Take it out; it is out already after a crash."""
        name, text = text_of(intent, "trigger_id"), self._text()
        if name in {trigger.id for trigger in self._triggers(text)}:
            await self._write(text, without_entry(text, name))
        return ToolResult(f"the trigger {name} is cancelled.")


def _entry(arguments: JsonObject, taken: set[str]) -> JsonObject:
    """The entry of triggers.yaml that a call describes."""
    given = arguments.get("config")
    config = dict(given) if isinstance(given, Mapping) else {}
    kind, action = text_of(arguments, "type"), arguments.get("action")
    name = config.pop("id", None) or _free(kind, taken)
    entry: dict[str, Json] = {"id": str(name), "type": kind}
    for key, value in config.items():
        spelled = _CONFIG.get(key)
        entry[spelled or key] = f"{value}s" if spelled else value
    wake: JsonObject = {"type": "wake_agent", "task": action}
    entry["action"] = wake if isinstance(action, str) else action
    return entry


def _free(kind: str, taken: set[str]) -> str:
    names = [kind, *(f"{kind}-{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _does(trigger: Trigger) -> str:
    action = trigger.action
    about = action.task or action.node or action.command or action.content
    return f"{action.deed.value} {' '.join(about.split())[:200]}"
