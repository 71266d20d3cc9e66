"""The definitions of the tools on triggers.yaml."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import (
    choice,
    define,
    either,
    record,
    text,
    texts,
    whole,
)

_CONFIG: Final = {
    **record(
        optional={
            "id": text("The trigger's name. Default: from its type."),
            "cron": text('scheduled: five fields of cron, such as "0 9 * * 1".'),
            "at": text("at_time: a date with its time, such as 2026-11-23T09:00."),
            "timezone": text("scheduled, at_time: such as Europe/Berlin."),
            "delay_seconds": whole("delayed: from now."),
            "interval_seconds": whole("heartbeat: between two beats."),
            "when": choice("heartbeat. Default: changed.", "changed", "always"),
            "watch": texts('heartbeat: files that count, such as "inputs/**".'),
            "idle_seconds": whole("on_idle: without anything happening."),
            "event": text("on_event: a type of event, such as node.completed."),
            "filter": {
                "type": "object",
                "description": 'on_event: what it must say, such as {"node": "a"}.',
            },
        }
    ),
    "description": "When. Give what the type needs.",
}
_ACTION: Final = either(
    "What to do: the task that you are woken with, or an object.",
    {"type": "string"},
    record(
        {
            "type": choice(
                "What to do.",
                "wake_agent",
                "run_node",
                "send_message",
                "run_command",
            )
        },
        {
            "task": text("wake_agent: what to do then."),
            "node": text("run_node: its id."),
            "to": text("send_message: to whom."),
            "content": text("send_message: the words."),
            "command": text("run_command: the command."),
        },
    ),
)

SCHEDULE: Final = define(
    "schedule",
    "Arrange for something to happen later by itself: a trigger in triggers.yaml.",
    Who.ALL,
    Effect.OWN,
    record(
        {
            "type": choice(
                "What makes it happen.",
                "scheduled",
                "delayed",
                "at_time",
                "heartbeat",
                "on_event",
                "on_idle",
            ),
            "config": _CONFIG,
            "action": _ACTION,
        }
    ),
)
LIST_TRIGGERS: Final = define(
    "list_triggers",
    "List the triggers, what each does and when it is due next.",
    Who.ALL,
    Effect.READS,
    record(),
)
CANCEL_TRIGGER: Final = define(
    "cancel_trigger",
    "Take a trigger out of triggers.yaml.",
    Who.ALL,
    Effect.OWN,
    record({"trigger_id": text("The trigger's id.")}),
)
