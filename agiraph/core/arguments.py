"""Checks a tool call's arguments against its schema, and mends what is harmless.

The subset of JSON Schema that our tools use: type, properties, required,
additionalProperties, items, enum, minimum and anyOf. What has only one sensible
meaning is taken as meant ("3" for an integer, one string for a list of strings);
everything else is a fault, in words that a model can act on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject

_TRUE = frozenset({"true", "yes"})
_FALSE = frozenset({"false", "no"})
_NUMBER = {"integer": "a whole number", "number": "a number"}


@dataclass(frozen=True, slots=True)
class Checked:
    """The value as it is to be used, and what is wrong with it."""

    value: Json
    faults: tuple[str, ...] = ()


def checked(shape: JsonObject, value: Json, name: str = "") -> Checked:
    """A value held against a schema.

    Args:
        shape: the schema.
        value: what the model sent.
        name: the parameter's name as faults should call it; empty at the top.
    """
    if "anyOf" in shape:
        return _any_of(shape, value, name)
    match shape.get("type"):
        case "object":
            return _object(shape, value, name)
        case "array":
            return _array(shape, value, name)
        case "string":
            return _string(shape, value, name)
        case "boolean":
            return _boolean(value, name)
        case _:
            return _number(shape, value, name)


def nearest(
    name: str, names: Sequence[str], count: int = 1, closeness: float = 0.55
) -> tuple[str, ...]:
    """The names most like this one, best first; without regard to case."""
    folded = {known.casefold(): known for known in names}
    found = get_close_matches(name.casefold(), list(folded), n=count, cutoff=closeness)
    return tuple(folded[one] for one in found)


def broken(text: str) -> str:
    """Where and why a text is no JSON object."""
    try:
        value = json.loads(text)
    except ValueError as fault:
        if not isinstance(fault, json.JSONDecodeError):
            return f"the arguments are no valid JSON ({fault})"
        return _place(text, fault)
    return f"the arguments must be one JSON object; found {_said(value)}"


def _place(text: str, fault: json.JSONDecodeError) -> str:
    if fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated string"):
        return (
            f"the arguments are cut off after {len(text)} characters ({fault.msg} at "
            f"line {fault.lineno}, column {fault.colno}); if the answer was too long, "
            "send less at a time"
        )
    near = text[max(0, fault.pos - 30) : fault.pos + 10]
    return (
        f"the arguments are no valid JSON: {fault.msg} at line {fault.lineno}, "
        f"column {fault.colno}, near {near!r}"
    )


def _any_of(shape: JsonObject, value: Json, name: str) -> Checked:
    shapes = [one for one in _list(shape["anyOf"]) if isinstance(one, Mapping)]
    tried = [checked(one, value, name) for one in shapes]
    for one in tried:
        if not one.faults and one.value == value and type(one.value) is type(value):
            return one
    for one in tried:
        if not one.faults:
            return one
    for inner, result in zip(shapes, tried, strict=True):
        if inner.get("type") == _kind(value):
            return result
    wanted = " or ".join(_wanted(inner) for inner in shapes)
    return Checked(value, (f"{_called(name)} must be {wanted}; found {_said(value)}",))


def _object(shape: JsonObject, value: Json, name: str) -> Checked:
    value = _unpacked(value, Mapping)
    if not isinstance(value, Mapping):
        return Checked(value, (_must(name, "an object", value),))
    known = shape.get("properties", {})
    properties = known if isinstance(known, Mapping) else {}
    required = [str(one) for one in _list(shape.get("required", []))]
    others = shape.get("additionalProperties", True)
    kept: dict[str, Json] = {}
    faults: list[str] = []
    for key, item in value.items():
        inner = properties.get(key, others)
        if inner is False:
            faults.append(_unknown(name, key, tuple(properties)))
        elif not isinstance(inner, Mapping):
            kept[key] = item
        elif not _left_out(inner, item, needed=key in required):
            result = checked(inner, item, f"{name}.{key}" if name else key)
            kept[key] = result.value
            faults.extend(result.faults)
    faults.extend(
        _missing(name, key, properties[key]) for key in required if key not in value
    )
    return Checked(kept, tuple(faults))


def _left_out(shape: JsonObject, item: Json, *, needed: bool) -> bool:
    """Whether a model wrote an optional parameter only to say that it is not used."""
    return not needed and (item is None or (item == "" and "enum" in shape))


def _array(shape: JsonObject, value: Json, name: str) -> Checked:
    value = _unpacked(value, Sequence)
    inner = shape.get("items", {})
    items = inner if isinstance(inner, Mapping) else {}
    if isinstance(value, str | Mapping) and items.get("type") == _kind(value):
        value = [value]
    if isinstance(value, str) or not isinstance(value, Sequence):
        return Checked(value, (_must(name, _wanted(shape), value),))
    results = [
        checked(items, item, f"{name}[{index}]") for index, item in enumerate(value)
    ]
    faults = tuple(fault for result in results for fault in result.faults)
    return Checked([result.value for result in results], faults)


def _string(shape: JsonObject, value: Json, name: str) -> Checked:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return Checked(value, (_must(name, _wanted(shape), value),))
    if "enum" not in shape:
        return Checked(value)
    allowed = [str(one) for one in _list(shape["enum"])]
    meant = {one.casefold(): one for one in allowed}.get(value.strip().casefold())
    if meant is None:
        words = f"{_called(name)} must be one of {', '.join(allowed)}; found {value!r}"
        return Checked(value, (words,))
    return Checked(meant)


def _boolean(value: Json, name: str) -> Checked:
    if isinstance(value, bool):
        return Checked(value)
    word = value.strip().casefold() if isinstance(value, str) else ""
    if word in _TRUE or word in _FALSE:
        return Checked(word in _TRUE)
    return Checked(value, (_must(name, "true or false", value),))


def _number(shape: JsonObject, value: Json, name: str) -> Checked:
    integer = shape.get("type") == "integer"
    number = _as_number(value)
    if number is None or (integer and not float(number).is_integer()):
        return Checked(value, (_must(name, _wanted(shape), value),))
    if integer:
        number = int(number)
    least = shape.get("minimum")
    if isinstance(least, int | float) and number < least:
        return Checked(value, (f"{_called(name)} must be at least {least}",))
    return Checked(number)


def _as_number(value: Json) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
        value = int(value) if value.is_integer() else value
    return value if isinstance(value, int | float) and _finite(value) else None


def _finite(value: float) -> bool:
    return abs(value) < 1e300  # false for nan and infinities too


def _unpacked(value: Json, wanted: type) -> Json:
    """A list or an object that a model sent as a text of JSON."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        inner: Json = json.loads(value)
    except ValueError:
        return value
    return inner if isinstance(inner, wanted) else value


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case Mapping():
            return "object"
        case _:
            return "array"


def _wanted(shape: JsonObject) -> str:
    match shape.get("type"):
        case "object":
            return "an object"
        case "array":
            inner = shape.get("items", {})
            plain = isinstance(inner, Mapping) and inner.get("type") == "string"
            return "a list of texts" if plain else "a list"
        case "string":
            return "a text"
        case kind:
            return _NUMBER.get(str(kind), "true or false")


def _said(value: Json) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else f"{words[:57]}..."


def _called(name: str) -> str:
    return f"`{name}`" if name else "the arguments"


def _must(name: str, wanted: str, value: Json) -> str:
    return f"{_called(name)} must be {wanted}; found {_said(value)}"


def _missing(name: str, key: str, shape: Json) -> str:
    whole = f"{name}.{key}" if name else key
    about = shape.get("description", "") if isinstance(shape, Mapping) else ""
    return f"`{whole}` is missing ({about})" if about else f"`{whole}` is missing"


def _unknown(name: str, key: str, known: tuple[str, ...]) -> str:
    whole = f"{name}.{key}" if name else key
    close = nearest(key, known)
    if close:
        return f"`{whole}` is unknown; did you mean `{close[0]}`?"
    if not known:
        return f"`{whole}` is unknown; there are no parameters"
    return f"`{whole}` is unknown; known are {', '.join(known)}"
