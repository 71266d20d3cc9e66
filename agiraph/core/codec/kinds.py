"""The kinds of values that settings have, each with the words for what it must be."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, TypeVar

from agiraph.core.codec.fields import Parse, Place
from agiraph.core.codec.marked import Group, Listing, Scalar, Value
from agiraph.model.names import name_problem

if TYPE_CHECKING:
    from enum import Enum

    from agiraph.model.json import Json, JsonObject

T = TypeVar("T")
E = TypeVar("E", bound="Enum")

_TRUE = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}
_FALSE = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9_]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]+")
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,40})?)([a-z]+)")
EVER = "forever"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "y": 365.0 * 86400}
_LONGEST = 100 * _SECONDS["y"]
DURATION = "a time with its unit, such as 90s, 30m, 2h or 1d"


def text(place: Place) -> str:
    """Any words, as they were written."""
    if isinstance(place.value, Scalar):
        return "" if place.empty else place.value.text
    raise place.unfit("text")


def line(place: Place) -> str:
    """Words on one line."""
    found = text(place)
    if "\n" in found.strip():
        raise place.unfit("text on one line")
    return found.strip()


def flag(place: Place) -> bool:
    """True or false."""
    word = _plain(place)
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    if isinstance(place.value, Scalar) and place.value.text in _TRUE | _FALSE:
        raise place.unfit("true or false, without quotes")
    raise place.unfit("true or false")


def whole(least: int, most: int = 10**12) -> Parse[int]:
    """A whole number within bounds, both included."""
    allowed = f"a whole number, {least} or more"

    def read(place: Place) -> int:
        word = _plain(place)
        if word is None or not _WHOLE.fullmatch(word):
            raise place.unfit(allowed + _number_advice(word))
        number = int(word) if len(word) < 20 else most + 1
        if number > most:
            raise place.unfit(f"a whole number, {most} at most")
        if number < least:
            raise place.unfit(allowed)
        return number

    return read


def number(least: float, most: float = 1e12, *, what: str = "a number") -> Parse[float]:
    """A number within bounds, both included."""
    upper = f", {most:g} at most" if most < 1e12 else ""
    allowed = f"{what}, {least:g} or more{upper}"

    def read(place: Place) -> float:
        word = _plain(place)
        if word is None or not _NUMBER.fullmatch(word):
            raise place.unfit(allowed + _number_advice(word))
        found = float(word)
        if not least <= found <= most:
            raise place.unfit(allowed)
        return found

    return read


def duration(place: Place) -> float:
    """Seconds, from `90s`, `30m`, `2h` or `1d`; more than none."""
    return _duration(place, DURATION, "smhd")


def long_duration(place: Place) -> float:
    """Seconds; years may be used too."""
    return _duration(place, DURATION + " or 1y", "smhdy")


def long_or_ever(place: Place) -> float:
    """The same, or `forever`."""
    if isinstance(place.value, Scalar) and place.value.text == EVER:
        return math.inf
    return _duration(place, f"{DURATION}, 1y or {EVER}", "smhdy")


def _duration(place: Place, allowed: str, units: str) -> float:
    word = place.value.text if isinstance(place.value, Scalar) else None
    if word is None:
        raise place.unfit(allowed)
    match = _DURATION.fullmatch(word.strip())
    if match is None or match[2] not in units:
        if _NUMBER.fullmatch(word):
            raise place.unfit(allowed, f"'{word[:40]}', a number without a unit")
        raise place.unfit(allowed)
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds <= _LONGEST:
        raise place.unfit("a time longer than none and shorter than 100 years")
    return seconds


def choice(kind: type[E]) -> Parse[E]:
    """One of the words of an Enum."""
    return _word({str(each.value): each for each in kind})


def one_of(*words: str) -> Parse[str]:
    """One of some words."""
    return _word({word: word for word in words})


def _word(words: dict[str, T]) -> Parse[T]:
    names = list(words)
    allowed = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

    def read(place: Place) -> T:
        word = place.value.text if isinstance(place.value, Scalar) else ""
        if word not in words:
            raise place.unfit(allowed)
        return words[word]

    return read


def many(parse: Parse[T]) -> Parse[tuple[T, ...]]:
    """A list."""

    def read(place: Place) -> tuple[T, ...]:
        if not isinstance(place.value, Listing):
            raise place.unfit("a list, such as [one, two]")
        found = [each.read(parse) for each in items(place)]
        return tuple(each for each in found if each is not None)

    return read


def one_or_many(parse: Parse[T]) -> Parse[tuple[T, ...]]:
    """One value, or a list of them."""
    listed = many(parse)

    def read(place: Place) -> tuple[T, ...]:
        if isinstance(place.value, Listing):
            return listed(place)
        return (parse(place),)

    return read


def items(place: Place) -> list[Place]:
    """The places of a list's values."""
    values = place.value.items if isinstance(place.value, Listing) else ()
    return [
        Place(value, f"{place.key}[{number}]", place.findings)
        for number, value in enumerate(values, 1)
    ]


def name(place: Place) -> str:
    """The name of a node or worker."""
    found = text(place)
    problem = name_problem(found)
    if problem is not None:
        raise place.unfit(f"a name that can stand: {problem}")
    return found


def model(place: Place) -> str:
    """A model's name; words that YAML reads as a number or truth are none."""
    allowed = "a model's name, such as anthropic/claude-sonnet-4-5"
    word = _plain(place)
    if word is not None and (word in _TRUE | _FALSE or _NUMBER.fullmatch(word)):
        raise place.unfit(allowed, f"'{word[:40]}', which YAML reads as no text")
    found = line(place)
    if not found or any(each.isspace() for each in found):
        raise place.unfit(allowed + ", without spaces")
    return found


def inner_path(place: Place) -> str:
    """A relative path, or glob, that does not lead out of where it starts."""
    found = line(place)
    parts = found.split("/")
    if not found or found.startswith(("/", "~")) or ".." in parts or "\0" in found:
        raise place.unfit("a relative path without `..`")
    return found


def json(place: Place) -> Json:
    """Any value, as JSON can say it."""
    return plain_json(place.value)


def json_object(place: Place) -> JsonObject:
    """A group of keys with any values."""
    if isinstance(place.value, Group):
        return {key.text: plain_json(each) for key, each in place.value.entries}
    raise place.unfit("a group of keys, such as {key: value}")


def plain_json(value: Value) -> Json:
    """A value without its places; `yes`, `on` and dates stay text."""
    match value:
        case Scalar():
            return _json_scalar(value)
        case Listing():
            return [plain_json(each) for each in value.items]
        case Group():
            return {key.text: plain_json(each) for key, each in value.entries}


def _json_scalar(value: Scalar) -> Json:
    word = value.text
    if not value.plain:
        return word
    if value.empty:
        return None
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if _WHOLE.fullmatch(word) and len(word) < 20:
        return int(word)
    if _NUMBER.fullmatch(word) and math.isfinite(float(word)):
        return float(word)
    return word


def _plain(place: Place) -> str | None:
    value = place.value
    return value.text if isinstance(value, Scalar) and value.plain else None


def _number_advice(word: str | None) -> str:
    if word is None:
        return ", without quotes"
    if _LEADING_ZERO.fullmatch(word):
        return ", without a leading zero (YAML reads those as octal)"
    return ""
