"""Tools that models can call: their definition, a call and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


class Effect(Enum):
    """What a tool does to the world, and so what a restart does with a cut-off call."""

    READS = "reads"  # run again
    OWN = "own"  # our own effect: found again by its id, or done now
    OUTSIDE = "outside"  # reaches outside: never repeated, answered as unknown


class Who(Enum):
    """Who may call a tool."""

    ALL = "all"
    COORDINATOR = "coordinator"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What goes over the wire for one tool.

    Attributes:
        name: the fixed name of the tool.
        description: one or two sentences.
        parameters: a JSON Schema of type object.
    """

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asked for.

    Attributes:
        id: the provider's own id; used on the wire only, never as our identity.
        name: the tool's name as the model wrote it.
        arguments: the arguments as an object, or None where they were no JSON object.
        broken: what the model sent instead, when it was no JSON object.
    """

    id: str
    name: str
    arguments: JsonObject | None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers to the model.

    Attributes:
        content: text for the model.
        error: whether the call failed.
        ends: why the loop ends after this result; empty when it goes on.
        ids: ids of the messages or notices that are hereby delivered.
    """

    content: str
    error: bool = False
    ends: str = ""
    ids: tuple[str, ...] = ()
