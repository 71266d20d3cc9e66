"""What a checked call was given, or its intent has decided: arguments by their types.

The schema has made sure of the types (`core/arguments.py`), and intents are our own. So
nothing is said here about a value of another type: it counts as not given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


def text_of(values: JsonObject, key: str, default: str = "") -> str:
    """A text, or the default where none is given."""
    value = values.get(key)
    return value if isinstance(value, str) else default


def texts_of(values: JsonObject, key: str) -> tuple[str, ...]:
    """A list of texts; one text by itself is a list of one."""
    value = values.get(key)
    if isinstance(value, str):
        return (value,)
    listed = value if isinstance(value, list | tuple) else ()
    return tuple(each for each in listed if isinstance(each, str))


def flag_of(values: JsonObject, key: str) -> bool:
    """Whether it says yes; what is not given does not."""
    return values.get(key) is True


def number_of(values: JsonObject, key: str) -> int | None:
    """A whole number, or None where it is not given."""
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
