"""The few shapes of JSON Schema that our tools use, and what one definition holds.

Only plain types, enums, lists, objects and `anyOf` below the top are used: every
provider takes these as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.tool import ToolSpec

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject
    from agiraph.model.tool import Effect, Who


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool as it is fixed: its spec, who may call it, what it does to the world."""

    spec: ToolSpec
    who: Who
    effect: Effect

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name


def define(
    name: str,
    description: str,
    who: Who,
    effect: Effect,
    parameters: JsonObject,
) -> Definition:
    """One definition; `parameters` is what `record` gives."""
    return Definition(ToolSpec(name, description, parameters), who, effect)


def record(
    required: JsonObject | None = None, optional: JsonObject | None = None
) -> dict[str, Json]:
    """An object with these properties and no others."""
    must = dict(required or {})
    shape: dict[str, Json] = {
        "type": "object",
        "properties": {**must, **(optional or {})},
        "required": list(must),
        "additionalProperties": False,
    }
    return shape


def text(description: str) -> dict[str, Json]:
    """A string."""
    return {"type": "string", "description": description}


def choice(description: str, *values: str) -> dict[str, Json]:
    """One of these strings."""
    return {"type": "string", "enum": list(values), "description": description}


def whole(description: str, *, least: int = 1) -> dict[str, Json]:
    """An integer."""
    return {"type": "integer", "minimum": least, "description": description}


def flag(description: str) -> dict[str, Json]:
    """True or false."""
    return {"type": "boolean", "description": description}


def texts(description: str) -> dict[str, Json]:
    """A list of strings."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def either(description: str, *shapes: JsonObject) -> dict[str, Json]:
    """A value of any of these shapes."""
    return {"anyOf": list(shapes), "description": description}


def duration(description: str) -> dict[str, Json]:
    """Seconds as a number, or words such as 90s, 30m, 2h."""
    return either(
        f"{description} Seconds, or a duration such as 90s, 30m or 2h.",
        {"type": "number"},
        {"type": "string"},
    )
