"""Tool calls that a model wrote as text, for models without a protocol for them.

Asked for `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, small models leave out
the tags, put the object into a fence of any language, forget the end tag or the last
brace, write Python's quotes, or talk around it. All of that is read. What was plainly
meant as a call and cannot be read is given back as broken, so that it can be answered.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from agiraph.model.json import JsonObject

NAMES = ("name", "tool", "tool_name", "function")
ARGUMENTS = ("arguments", "parameters", "args", "input")
UNKNOWN = "tool_call"
_TAG = r"<\|?(tool_call|function_call)\|?>"
_FENCE = r"```[ \t]*[\w+-]*[ \t]*\n?"
_START = re.compile(rf"{_TAG}\s*(?:{_FENCE}\s*)?|\[(?=\s*\{{)|\{{(?=\s*[\"'])")
_END = re.compile(r"\s*(?:```[ \t]*)?\s*<\|?/(?:tool_call|function_call)\|?>")
_STOP = re.compile(r"<\|?/(?:tool_call|function_call)\|?>|\n```|\Z")
_OPENS_FENCE = re.compile(_FENCE + r"\s*\Z")
_CLOSES_FENCE = re.compile(r"\s*```")
_NAMED = re.compile(
    r"\s*\{\s*[\"'](?:name|tool|tool_name|function)[\"']\s*:\s*"
    r"[\"']([\w.-]+)[\"']"
)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
# Some go on and make up the result too; that, and all after it, was never there.
_MADE_UP = re.compile(r"<tool_response\b|<\|?tool_result\b")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """One call found in a text.

    Attributes:
        name: the tool's name as written, or `tool_call` where none could be read.
        arguments: None where what was written is no call with an object.
        written: the text that stood for it.
    """

    name: str
    arguments: JsonObject | None
    written: str


@dataclass(frozen=True, slots=True)
class Read:
    """What a model said: its words without the calls, and the calls in order."""

    text: str
    calls: tuple[WrittenCall, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """Something between `start` and `end`: calls, or what is left alone."""

    start: int
    end: int
    calls: tuple[WrittenCall, ...]


def read_calls(text: str, tools: Collection[str], *, whole: bool = True) -> Read:
    """The calls in an answer.

    Args:
        text: the answer.
        tools: names of the tools; without tags, only an object that names one of them
            is a call, since an answer may well be about JSON.
        whole: whether the answer came to its own end; a call that was cut off by the
            answer's maximum is broken, and not mended.
    """
    text = _THOUGHT.sub("", text)
    text = text[: _end_of_said(text)]
    prose: list[str] = []
    calls: list[WrittenCall] = []
    at = 0
    while (start := _START.search(text, at)) is not None:
        found = _found(text, start, tools, whole=whole)
        if found.calls:
            prose.append(text[at : found.start])
            calls += found.calls
        else:
            prose.append(text[at : found.end])
        at = found.end
    prose.append(text[at:])
    return Read("".join(prose).strip(), tuple(calls))


def _end_of_said(text: str) -> int:
    made_up = _MADE_UP.search(text)
    return made_up.start() if made_up else len(text)


def _found(
    text: str, start: re.Match[str], tools: Collection[str], *, whole: bool
) -> _Found:
    tagged = start[1] is not None
    begin = start.end() if tagged else start.start()
    parsed = _value(text, begin, mend=whole and (tagged or _names(text, begin, tools)))
    if parsed is not None:
        value, end = parsed
        calls = _calls_of(value, text[begin:end], tools, tagged=tagged)
        if calls:
            return _without_marks(text, start, end, calls)
        if not tagged:
            return _Found(begin, end, ())
    if not tagged and not _names(text, begin, tools):
        return _Found(begin, begin + 1, ())
    stop = _STOP.search(text, begin)
    end = stop.start() if stop else len(text)
    written = text[begin:end].strip()
    if tagged and not written:
        return _Found(start.start(), max(end, start.end()), ())
    named = _NAMED.match(written)
    broken = WrittenCall(named[1] if named else UNKNOWN, None, written)
    return _without_marks(text, start, end, (broken,))


def _names(text: str, begin: int, tools: Collection[str]) -> bool:
    """Whether what begins there begins like a call of a known tool."""
    at = begin + 1 if text.startswith("[", begin) else begin
    named = _NAMED.match(text, at)
    return named is not None and named[1] in tools


def _without_marks(
    text: str, start: re.Match[str], end: int, calls: tuple[WrittenCall, ...]
) -> _Found:
    """With the tags or the fence around them, which are no words of the answer."""
    begin = start.start()
    if start[1] is not None:
        closing = _END.match(text, end)
    else:
        opening = _OPENS_FENCE.search(text, max(0, begin - 40), begin)
        closing = _CLOSES_FENCE.match(text, end) if opening else None
        begin = opening.start() if opening else begin
    return _Found(begin, closing.end() if closing else end, calls)


def _value(text: str, begin: int, *, mend: bool) -> tuple[object, int] | None:
    """The JSON value that begins there, and where it ends; None where there is none."""
    try:
        return _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        pass
    if not mend:
        return None
    end, missing = _balance(text, begin)
    written = text[begin:end]
    if missing:
        written = written.rstrip()
        end = begin + len(written)
    return _mended(written + missing, end)


def _mended(written: str, end: int) -> tuple[object, int] | None:
    for read in (lambda: json.loads(written, strict=False), lambda: _python(written)):
        try:
            return read(), end
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return None


def _python(written: str) -> object:
    """A literal as Python writes it; only what JSON can hold as well."""
    value = ast.literal_eval(written)
    return json.loads(json.dumps(value))


def _balance(text: str, begin: int) -> tuple[int, str]:
    """Where the value that begins there ends, and which brackets it lacks there."""
    stop = _STOP.search(text, begin)
    last = stop.start() if stop else len(text)
    open_, quote, at = [], "", begin
    while at < last:
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "{[":
            open_.append("}" if char == "{" else "]")
        elif char in "}]":
            if not open_ or open_.pop() != char:
                return at, ""
            if not open_:
                return at + 1, ""
        at += 1
    return last, "" if quote else "".join(reversed(open_))


def _calls_of(
    value: object, written: str, tools: Collection[str], *, tagged: bool
) -> tuple[WrittenCall, ...]:
    values = value if isinstance(value, list) else [value]
    calls = [_call(one, written) for one in values]
    found = [call for call in calls if call is not None]
    if len(found) != len(calls):
        return ()
    if not tagged and any(call.name not in tools for call in found):
        return ()
    return tuple(found)


def _call(value: object, written: str) -> WrittenCall | None:
    """A call from an object that names a tool; None where it names none."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    shape: dict[str, object] = inner if isinstance(inner, dict) else value
    name = next((said for key in NAMES if isinstance(said := shape.get(key), str)), "")
    if not name:
        return None
    arguments = next((shape[key] for key in ARGUMENTS if key in shape), None)
    if isinstance(arguments, str):
        arguments = _object(arguments)
    elif arguments is None and len(shape.keys() - {"type", "id"}) == 1:
        arguments = {}
    if not isinstance(arguments, dict):
        return WrittenCall(name, None, written)
    return WrittenCall(name, arguments, written)


def _object(written: str) -> object:
    try:
        return json.loads(written or "{}", strict=False)
    except (ValueError, RecursionError):
        return None
