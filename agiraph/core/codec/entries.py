"""One entry more or less in triggers.yaml; every other byte of it stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from agiraph.core.codec.marked import Group, Listing, Scalar, parse
from agiraph.core.codec.page import plain_lines
from agiraph.core.codec.report import Findings
from agiraph.errors import ToolRefused
from agiraph.model.names import folded

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


def with_entry(text: str, entry: JsonObject) -> str:
    """The file with an entry at its end.

    Raises:
        ToolRefused: it is no list of lines with dashes.
    """
    lines = _lines(text)
    found = _listing(lines)
    if found is None or not found.items:
        if found is not None:  # `[]`, as the templates have it
            at = found.line - 1
            lines[at] = lines[at].replace("[]", "", 1).rstrip()
            lines = lines if lines[at] else lines[:at] + lines[at + 1 :]
        return "\n".join([*lines, *_written(entry, "")]) + "\n"
    indent = " " * _dash(lines, found.items[-1].line)[1]
    return "\n".join([*lines, *_written(entry, indent)]) + "\n"


def without_entry(text: str, name: str) -> str:
    """The file without the entry of an id, and without what it said about itself.

    Raises:
        ToolRefused: it has none, or is no list of lines with dashes.
    """
    lines = _lines(text)
    found = _listing(lines)
    items = found.items if found is not None else ()
    for number, item in enumerate(items):
        if not isinstance(item, Group) or folded(_id(item)) != folded(name):
            continue
        begin = _dash(lines, item.line)[0]
        later = items[number + 1 :]
        end = _dash(lines, later[0].line)[0] if later else len(lines)
        depth = _dash(lines, item.line)[1]
        while end > begin + 1 and not _belongs(lines[end - 1], depth):
            end -= 1
        rest = lines[:begin] + lines[end:]
        return "\n".join(rest if len(items) > 1 else [*rest, "[]"]) + "\n"
    raise ToolRefused(f"there is no trigger {name!r}; list_triggers shows them")


def _lines(text: str) -> list[str]:
    """The lines as an editor shows them; U+2028 and the like end none."""
    plain = plain_lines(text)
    return plain.removesuffix("\n").split("\n") if plain else []


def _listing(lines: list[str]) -> Listing | None:
    findings = Findings.none_yet()
    value = parse("\n".join(lines), findings)
    if value is None and not findings.problems:
        return None
    if findings.problems or not isinstance(value, Listing):
        if isinstance(value, Scalar) and value.empty:
            return None
        raise ToolRefused("triggers.yaml is no list; a person has to mend it first")
    at = value.column - 1
    if value.items and lines[value.line - 1].startswith("[", at):
        raise ToolRefused(
            "triggers.yaml is written as one list in brackets, which is not taken "
            "apart here; a person has to write it with a `- ` for each entry"
        )
    return value


def _dash(lines: list[str], line: int) -> tuple[int, int]:
    """Which line, from 0, holds the dash of an entry, and how far it is indented."""
    at = line - 1
    while at > 0 and not lines[at].lstrip(" ").startswith("-"):
        at -= 1
    return at, len(lines[at]) - len(lines[at].lstrip(" "))


def _belongs(line: str, depth: int) -> bool:
    """Whether a line is part of an entry whose dash is so far indented."""
    inner = len(line) - len(line.lstrip(" "))
    return bool(line.strip()) and (inner > depth or line.lstrip(" ").startswith("-"))


def _id(item: Group) -> str:
    values = {key.text: value for key, value in item.entries}
    found = values.get("id")
    return found.text if isinstance(found, Scalar) else ""


def _written(entry: JsonObject, indent: str) -> list[str]:
    text = yaml.safe_dump(
        [dict(entry)], sort_keys=False, allow_unicode=True, width=10_000
    )
    return [indent + line for line in text.splitlines()]
