"""Lines of conversation.jsonl, from values to JSON and back.

Written by hand for each kind of line: this is done for every message of every loop.
Keys that are not known here are ignored, as every reader of a log does.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agiraph.errors import YourError
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    Line,
    Stop,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.tool import ToolCall, ToolSpec
from agiraph.model.usage import Usage

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(value: JsonObject) -> bytes:
    """One line of a log, with its line end: compact, UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not text.isascii() and _LONE_SURROGATE.search(text):
        text = json.dumps(value, separators=(",", ":"))
    return text.encode() + b"\n"


def line_to_json(line: Line) -> JsonObject:
    """What conversation.jsonl says for a line."""
    match line:
        case SystemLine():
            return _system_to_json(line)
        case UserLine():
            return _user_to_json(line)
        case AssistantLine():
            return _assistant_to_json(line)
        case ToolLine():
            return _tool_to_json(line)


def line_from_json(found: JsonObject) -> Line:
    """The line that conversation.jsonl said.

    Raises:
        YourError: it is no line of a conversation; the words say why.
    """
    role = found.get("role")
    try:
        match role:
            case "system":
                return _system(found)
            case "user":
                return _user(found)
            case "assistant":
                return _assistant(found)
            case "tool":
                return _tool(found)
            case _:
                raise YourError(f"no line of a conversation has the role {role!r}")
    except (KeyError, ValueError, TypeError) as error:
        words = f"a {role} line of a conversation lacks or mistakes {error}"
        raise YourError(words) from error


def call_to_json(call: ToolCall) -> JsonObject:
    """What a log says for a call that a model asked for."""
    said: dict[str, Json] = {"id": call.id, "name": call.name}
    if call.arguments is None:
        said["broken"] = call.broken
    else:
        said["arguments"] = call.arguments
    return said


def usage_keys(usage: Usage) -> dict[str, Json]:
    """The four buckets, as every log names them."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
    }


def usage_from_json(found: JsonObject) -> Usage:
    """The four buckets; what is missing is none."""
    return Usage(
        _whole(found, "input", 0),
        _whole(found, "output", 0),
        _whole(found, "cache_read", 0),
        _whole(found, "cache_write", 0),
    )


def _system_to_json(line: SystemLine) -> JsonObject:
    said: dict[str, Json] = {
        "ts": line.ts,
        "role": "system",
        "session": line.session,
        "model": line.model,
        "why": line.why,
        "content": line.content,
        "tools": [
            {"name": t.name, "description": t.description, "parameters": t.parameters}
            for t in line.tools
        ],
    }
    if line.node is not None:
        said["node"] = line.node
    if line.carries:
        said["carries"] = True
    if line.resumes:
        said["resumes"] = True
    if line.compacted:
        said["compacted"] = line.compacted
    if line.turns:
        said["turns"] = line.turns
    return said


def _user_to_json(line: UserLine) -> JsonObject:
    said: dict[str, Json] = {
        "ts": line.ts,
        "role": "user",
        "from": line.sender,
        "kind": line.kind.value,
        "content": line.content,
    }
    if line.ids:
        said["ids"] = line.ids
    return said


def _assistant_to_json(line: AssistantLine) -> JsonObject:
    said: dict[str, Json] = {
        "ts": line.ts,
        "role": "assistant",
        "turn": line.turn,
        "model": line.model,
        "content": line.content,
    }
    if line.tool_calls:
        said["tool_calls"] = [call_to_json(call) for call in line.tool_calls]
    said["stop"] = line.stop.value
    said["usage"] = usage_keys(line.usage)
    if line.own:
        said["own"] = line.own
    return said


def _tool_to_json(line: ToolLine) -> JsonObject:
    said: dict[str, Json] = {
        "ts": line.ts,
        "role": "tool",
        "turn": line.turn,
        "index": line.index,
        "call_id": line.call_id,
        "name": line.name,
        "content": line.content,
    }
    if line.error:
        said["error"] = True
    if line.ids:
        said["ids"] = line.ids
    return said


def _system(found: JsonObject) -> SystemLine:
    tools = tuple(_spec(each) for each in _objects(found, "tools"))
    node = found.get("node")
    return SystemLine(
        ts=_text(found, "ts"),
        session=_whole(found, "session"),
        model=_text(found, "model"),
        content=_text(found, "content"),
        tools=tools,
        node=node if isinstance(node, str) else None,
        why=_text(found, "why", ""),
        carries=found.get("carries") is True,
        resumes=found.get("resumes") is True,
        compacted=_whole(found, "compacted", 0),
        turns=_whole(found, "turns", 0),
    )


def _spec(found: JsonObject) -> ToolSpec:
    return ToolSpec(
        _text(found, "name"), _text(found, "description"), _object(found, "parameters")
    )


def _user(found: JsonObject) -> UserLine:
    return UserLine(
        ts=_text(found, "ts"),
        content=_text(found, "content"),
        kind=Kind(_text(found, "kind", Kind.MAIL.value)),
        sender=_text(found, "from", ""),
        ids=_ids(found),
    )


def _assistant(found: JsonObject) -> AssistantLine:
    own = found.get("own")
    return AssistantLine(
        ts=_text(found, "ts"),
        turn=_whole(found, "turn"),
        model=_text(found, "model"),
        content=_text(found, "content"),
        tool_calls=tuple(_call(each) for each in _objects(found, "tool_calls")),
        stop=Stop(_text(found, "stop")),
        usage=usage_from_json(_object(found, "usage")),
        own=own if isinstance(own, dict) else {},
    )


def _call(found: JsonObject) -> ToolCall:
    arguments = found.get("arguments")
    return ToolCall(
        id=_text(found, "id"),
        name=_text(found, "name"),
        arguments=arguments if isinstance(arguments, dict) else None,
        broken=_text(found, "broken", ""),
    )


def _tool(found: JsonObject) -> ToolLine:
    return ToolLine(
        ts=_text(found, "ts"),
        turn=_whole(found, "turn"),
        index=_whole(found, "index"),
        call_id=_text(found, "call_id"),
        name=_text(found, "name"),
        content=_text(found, "content"),
        error=found.get("error") is True,
        ids=_ids(found),
    )


def _ids(found: JsonObject) -> tuple[str, ...]:
    ids = found.get("ids", ())
    if isinstance(ids, str) or not isinstance(ids, list | tuple):
        raise TypeError("ids")
    return tuple(str(each) for each in ids)


def _text(found: JsonObject, key: str, default: str | None = None) -> str:
    value = found.get(key, default)
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _whole(found: JsonObject, key: str, default: int | None = None) -> int:
    value = found.get(key, default)
    if not isinstance(value, int):
        raise TypeError(key)
    return value


def _object(found: JsonObject, key: str) -> JsonObject:
    value = found.get(key)
    if not isinstance(value, dict):
        raise TypeError(key)
    return value


def _objects(found: JsonObject, key: str) -> list[JsonObject]:
    value = found.get(key, [])
    if not isinstance(value, list | tuple):
        raise TypeError(key)
    if not all(isinstance(each, dict) for each in value):
        raise TypeError(key)
    return list(value)
