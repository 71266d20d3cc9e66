"""Triggers: when an agent is to do something by itself, and what."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


class Kind(Enum):
    """What makes a trigger fire."""

    SCHEDULED = "scheduled"
    DELAYED = "delayed"
    AT_TIME = "at_time"
    HEARTBEAT = "heartbeat"
    ON_EVENT = "on_event"
    ON_IDLE = "on_idle"

    @property
    def once(self) -> bool:
        return self in (Kind.DELAYED, Kind.AT_TIME)


class Deed(Enum):
    """What a trigger does when it fires."""

    WAKE = "wake_agent"
    RUN = "run_node"
    SEND = "send_message"
    COMMAND = "run_command"


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done; of the texts those apply that the deed needs."""

    deed: Deed
    task: str = ""
    node: str = ""
    to: str = ""
    content: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """One entry of triggers.yaml.

    Attributes:
        cron: five fields, or a name such as `@daily`.
        timezone: None is the tree's.
        at: a date with its time, as it was written.
        seconds: of the delay, between two beats, or of idleness.
        always: whether a heartbeat calls even if nothing has changed.
        watch: globs in the agent's home; probe: a command whose output counts.
        event, filter: which events are meant.
        digest: of all that it says but `enabled`: another one is another trigger.
    """

    id: str
    kind: Kind
    action: Action
    digest: str
    enabled: bool = True
    cron: str = ""
    timezone: str | None = None
    at: str = ""
    seconds: float = 0.0
    always: bool = False
    watch: tuple[str, ...] = ()
    probe: str = ""
    event: str = ""
    filter: JsonObject = field(default_factory=dict)
