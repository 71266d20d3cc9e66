"""YAML as a tree of values that know their line and column.

PyYAML's events are used instead of its constructors: scalars keep the words that the
person wrote (`01`, `on`), nothing can be built but text, lists and groups, and depth
and size have limits, those of aliases that stand for aliases included.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import yaml

from agiraph.core.codec.report import Findings, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from yaml._yaml import Mark as CMark
    from yaml.error import Mark
    from yaml.events import Event

DEEPEST = 50
MOST_VALUES = 50_000
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff"
)
_PLAIN_TAGS = {
    None,
    "!",
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:seq",
    "tag:yaml.org,2002:map",
}
_NULLS = {"", "~", "null", "Null", "NULL"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """One word or text; `plain` where it stands without quotes."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def empty(self) -> bool:
        """Whether it is YAML's null."""
        return self.plain and self.text in _NULLS


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple[Value, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Group:
    """Keys with their values, in the order of the file; keys are unique."""

    entries: tuple[tuple[Scalar, Value], ...]
    line: int
    column: int


Value: TypeAlias = Scalar | Listing | Group


class _Stop(Exception):
    """Reading cannot go on after the problem that was just recorded."""


def parse(text: str, findings: Findings, *, first_line: int = 1) -> Value | None:
    r"""The tree of one YAML document; None where there is nothing or nothing sound.

    Args:
        text: the YAML, with `\\n` line ends.
        findings: takes the problems.
        first_line: the line of the file at which the text begins.
    """
    if not _printable(text, findings, first_line):
        return None
    lines = _Lines(text, first_line)
    builder = _Tree(findings, lines)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return builder.build(yaml.parse(text, Loader=loader))
    except _Stop:
        return None
    except yaml.MarkedYAMLError as error:
        line, column = lines.place(error.problem_mark or error.context_mark)
        found = _found(error.problem or error.context or "broken YAML")
        opened, _ = lines.place(error.context_mark)
        if error.context and error.context_mark and opened < line:
            found += f" ({error.context} from line {opened})"
        advice = _advice(text, line - first_line, found)
        findings.problems.append(Problem(line, column, "", found, advice))
    except (yaml.YAMLError, ValueError) as error:
        found = _found(str(error))
        findings.problems.append(Problem(first_line, 1, "", found, "YAML"))
    return None


def _printable(text: str, findings: Findings, first_line: int) -> bool:
    match = _UNPRINTABLE.search(text)
    if match is None:
        return True
    before = text[: match.start()]
    findings.problems.append(
        Problem(
            first_line + before.count("\n"),
            match.start() - (before.rfind("\n") + 1) + 1,
            "",
            f"the character U+{ord(match.group()):04X}, which cannot be seen",
            "text without control characters",
        )
    )
    return False


def _found(words: str) -> str:
    return "broken YAML: " + " ".join(words.split())[:200]


def _advice(text: str, line: int, found: str) -> str:
    lines = text.split("\n")
    here = lines[line] if line < len(lines) else ""
    if here.lstrip(" ").startswith("\t") or "'\\t'" in found or "tab" in found:
        return "spaces before a key; YAML does not take tabs there"
    if "mapping values" in found:
        return "one `key: value` a line; put a value that holds `: ` in quotes"
    return (
        "YAML: `key: value` lines; quotes around a value that holds one of : # { } [ ]"
    )


@dataclass(slots=True)
class _Frame:
    """A list or group that is still being read; `before` counts what came earlier."""

    start: Event | None
    values: list[Value] = field(default_factory=list)
    before: int = 0


class _Lines:
    r"""Where a mark of YAML's reader is, for somebody with an editor.

    Only a mark's index is used: libyaml counts a line more at the end of a text that
    breaks off, and ends lines at U+0085, U+2028 and U+2029, too.
    """

    def __init__(self, text: str, first_line: int) -> None:
        self._first = first_line
        self._last = len(text)
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, mark: Mark | CMark | None) -> tuple[int, int]:
        """Line and column, from 1; the first of all where there is no mark."""
        if mark is None:
            return self._first, 1
        at = min(mark.index, self._last)
        line = bisect_right(self._starts, at) - 1
        return self._first + line, at - self._starts[line] + 1


class _Tree:
    """Puts events together to a tree, without recursion."""

    def __init__(self, findings: Findings, lines: _Lines) -> None:
        self._findings = findings
        self._lines = lines
        self._anchors: dict[str, tuple[Value, int]] = {}
        self._count = 0
        self._documents = 0

    def build(self, events: Iterable[Event]) -> Value | None:
        """The root value."""
        root = _Frame(None)
        stack = [root]
        for event in events:
            self._take(event, stack)
        return root.values[0] if root.values else None

    def _take(self, event: Event, stack: list[_Frame]) -> None:
        match event:
            case yaml.ScalarEvent():
                self._check(event, event.tag, 1)
                stack[-1].values.append(self._scalar(event))
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check(event, event.tag, 1)
                if len(stack) > DEEPEST:
                    self._stop(event, "values nested too deep", f"{DEEPEST} levels")
                stack.append(_Frame(event, before=self._count - 1))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                frame = stack.pop()
                stack[-1].values.append(self._closed(frame))
            case yaml.AliasEvent():
                stack[-1].values.append(self._alias(event))
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self._stop(event, "a second document after `---`", "one document")
            case _:
                pass

    def _scalar(self, event: yaml.ScalarEvent) -> Scalar:
        line, column = self._place(event)
        plain = event.implicit[0] and event.tag is None
        value = Scalar(event.value, plain, line, column)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        return value

    def _closed(self, frame: _Frame) -> Value:
        line, column = self._place(frame.start)
        value: Value
        if isinstance(frame.start, yaml.MappingStartEvent):
            value = Group(self._entries(frame.values), line, column)
        else:
            value = Listing(tuple(frame.values), line, column)
        if isinstance(frame.start, yaml.NodeEvent) and frame.start.anchor:
            self._anchors[frame.start.anchor] = (value, self._count - frame.before)
        return value

    def _entries(self, values: list[Value]) -> tuple[tuple[Scalar, Value], ...]:
        entries: dict[str, tuple[Scalar, Value]] = {}
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, Scalar):
                self._problem(key, "", "a list or group as a key", "a word as a key")
            elif key.plain and key.text == "<<":
                self._problem(key, "<<", "a merge key", "the keys written out")
            elif key.text in entries:
                first = entries[key.text][0].line
                found = f"this key a second time (first in line {first})"
                self._problem(key, key.text, found, "each key once")
            else:
                entries[key.text] = (key, value)
        return tuple(entries.values())

    def _alias(self, event: yaml.AliasEvent) -> Value:
        known = self._anchors.get(event.anchor or "")
        if known is None:
            found = f"the alias *{event.anchor}, whose anchor is missing or around it"
            self._stop(event, found, "an alias of something complete above it")
        value, size = known
        self._check(event, None, size)
        return value

    def _check(self, event: Event, tag: str | None, size: int) -> None:
        self._count += size
        if self._count > MOST_VALUES:
            self._stop(event, "too many values, or aliases of aliases", "fewer")
        if tag not in _PLAIN_TAGS:
            line, column = self._place(event)
            found = f"the tag {tag}"
            allowed = "plain values without tags"
            self._findings.problems.append(Problem(line, column, "", found, allowed))

    def _problem(self, at: Value, key: str, found: str, allowed: str) -> None:
        problem = Problem(at.line, at.column, key, found, allowed)
        self._findings.problems.append(problem)

    def _stop(self, event: Event, found: str, allowed: str) -> NoReturn:
        line, column = self._place(event)
        self._findings.problems.append(Problem(line, column, "", found, allowed))
        raise _Stop

    def _place(self, event: Event | None) -> tuple[int, int]:
        return self._lines.place(event.start_mark if event is not None else None)
