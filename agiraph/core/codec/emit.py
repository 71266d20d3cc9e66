"""YAML as the daemon writes it: short, in order, read back as the same values.

Double-quoted YAML takes every escape of JSON, so whatever is not plainly harmless is
written as a JSON string (YAML 1.2.2, section 5.7).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject

_HARMLESS = re.compile(
    r"[^\W\d_][\w./@+-]*( [\w./@+-]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2}\S+"
)
_DURATION = re.compile(r"[0-9]+(\.[0-9]+)?[smhd]")
_SPECIAL = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
_HIDDEN = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_BLOCK = re.compile(
    "[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+"
)
_UNITS = (("d", 86400.0), ("h", 3600.0), ("m", 60.0))
_LONG = 88


def page(keys: JsonObject, body: str) -> str:
    """A Markdown file with frontmatter; without any where there are no keys."""
    text = body.strip()
    ending = text + "\n" if text else ""
    if not keys and not text.startswith("---"):
        return ending
    return f"---\n{settings(keys)}---\n{ending}"


def settings(keys: JsonObject) -> str:
    """`key: value` lines; a text of several lines becomes a block."""
    return "".join(_entry(scalar(key), value) for key, value in keys.items())


def one_or_list(values: Sequence[str]) -> Json:
    """A single value by itself, else the list."""
    return values[0] if len(values) == 1 else list(values)


def duration(seconds: float) -> str:
    """Seconds in the largest unit that shows them exactly."""
    for unit, size in _UNITS:
        if seconds % size == 0 and seconds > 0:
            return f"{seconds / size:.0f}{unit}"
    plain = f"{seconds:.0f}" if seconds == int(seconds) else _fixed(seconds)
    return f"{plain}s"


def scalar(value: bool | float | str | None) -> str:  # noqa: FBT001 - a value is a value
    """One value on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _fixed(value)
    return _text(value)


def _entry(key: str, value: Json) -> str:
    if isinstance(value, str):
        return (
            f"{key}: {_block(value)}\n" if "\n" in value else f"{key}: {_text(value)}\n"
        )
    line = f"{key}: {flow(value)}\n"
    if len(line) > _LONG and isinstance(value, Sequence) and value:
        return f"{key}:\n" + "".join(f"  - {flow(each)}\n" for each in value)
    if len(line) > _LONG and isinstance(value, Mapping) and value:
        inner = (f"  {scalar(name)}: {flow(each)}\n" for name, each in value.items())
        return f"{key}:\n" + "".join(inner)
    return line


def flow(value: Json) -> str:
    """Any value on one line, with brackets and braces."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{scalar(key)}: {flow(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(flow(each) for each in value)}]"
    return scalar(value)


def _text(value: str) -> str:
    if _DURATION.fullmatch(value):
        return value
    if _HARMLESS.fullmatch(value) and value.lower() not in _SPECIAL:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _block(value: str) -> str:
    """A text of several lines as a literal block, where that shows it exactly."""
    lines = value.split("\n")
    blank = any(line != "" and not line.strip() for line in lines)
    if blank or not lines[0] or not lines[-1] or not _BLOCK.fullmatch(value):
        return _text(value)
    return "|2-\n" + "\n".join(f"  {line}" if line else "" for line in lines)


def _fixed(value: float) -> str:
    """A float without an exponent, so that every reader takes it as a number."""
    return format(Decimal(repr(value)), "f")
