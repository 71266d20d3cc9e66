"""A provider whose models call tools by text: only what goes over the wire differs.

The conversation that is kept has calls and results as everywhere. Here they become
text, and the text of an answer becomes calls again (`core.toolcalls`).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.toolcalls import UNKNOWN, read_calls
from agiraph.model.conversation import (
    Answer,
    AssistantLine,
    Kind,
    Stop,
    ToolLine,
    UserLine,
)
from agiraph.model.names import AGIRAPH
from agiraph.model.tool import ToolCall
from agiraph.providers.wire import made_id

if TYPE_CHECKING:
    from agiraph.core.toolcalls import WrittenCall
    from agiraph.model.conversation import Request, Spoken, SystemLine
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolSpec
    from agiraph.ports import Provider

TEXT = "text"
KEPT = 256


@dataclass(slots=True)
class _Told:
    """One conversation as text. Only grows, and keeps each line once it is made."""

    prefix: SystemLine
    as_text: SystemLine
    given: list[Spoken] = field(default_factory=list)
    told: list[Spoken] = field(default_factory=list)


class TextFallback:
    """Asks a provider as if there were no tools, and reads the calls from its text."""

    def __init__(self, inner: Provider) -> None:
        self._inner = inner
        self._kept: OrderedDict[str, _Told] = OrderedDict()

    async def ask(self, request: Request) -> Answer:
        """One whole answer; raises ProviderFault."""
        if not request.prefix.tools:
            return await self._inner.ask(request)
        told = self._told(request)
        asked = replace(request, prefix=told.as_text, lines=tuple(told.told))
        return _with_calls(request, await self._inner.ask(asked))

    async def close(self) -> None:
        """Close what is behind this."""
        await self._inner.close()

    def _told(self, request: Request) -> _Told:
        told = self._kept.get(request.key)
        if told is None or told.prefix is not request.prefix:
            told = _Told(request.prefix, prefix_as_text(request.prefix))
            self._kept[request.key] = told
        self._kept.move_to_end(request.key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        same = 0
        for old, new in zip(told.given, request.lines, strict=False):
            if old is not new:
                break
            same += 1
        del told.given[same:], told.told[same:]
        for index in range(same, len(request.lines)):
            line = request.lines[index]
            told.given.append(line)
            told.told.append(line_as_text(line, told.given, request.model))
        return told


def prefix_as_text(prefix: SystemLine) -> SystemLine:
    """The frozen prefix with the tools in the system prompt."""
    tools = "\n".join(_schema(tool) for tool in prefix.tools)
    words = prompts.fill("calls_by_text", tools=tools)
    return replace(prefix, content=f"{prefix.content}\n\n{words}".strip(), tools=())


def _schema(tool: ToolSpec) -> str:
    shape = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return json.dumps(shape, ensure_ascii=False)


def line_as_text(line: Spoken, before: list[Spoken], model: str) -> Spoken:
    """One line as the model is told it.

    Args:
        line: what is kept.
        before: the lines up to it, in which a result's call is looked up.
        model: who is asked; its own words go back to it as it wrote them.
    """
    if isinstance(line, UserLine):
        return line
    if isinstance(line, ToolLine):
        return UserLine(line.ts, _result(line, before), Kind.NOTICE, AGIRAPH)
    own = line.own.get("content")
    if line.own.get("wire") == TEXT and line.model == model and isinstance(own, dict):
        inner = own.get("inner")
        return replace(
            line,
            content=str(own.get("said", "")),
            tool_calls=(),
            own=inner if isinstance(inner, dict) else {},
        )
    parts = [line.content.strip(), *(_written(call) for call in line.tool_calls)]
    said = "\n\n".join(part for part in parts if part)
    return replace(line, content=said, tool_calls=(), own={})


def _written(call: ToolCall) -> str:
    if call.arguments is None:
        return f"<tool_call>\n{call.broken}\n</tool_call>"
    shape = {"name": call.name, "arguments": call.arguments}
    return f"<tool_call>\n{json.dumps(shape, ensure_ascii=False)}\n</tool_call>"


def _result(line: ToolLine, before: list[Spoken]) -> str:
    content = line.content
    if _was_broken(line, before):
        content += "\n\n" + prompts.words("calls_by_text_wrong")
    error = ' error="true"' if line.error else ""
    return f'<tool_response name="{line.name}"{error}>\n{content}\n</tool_response>'


def _was_broken(line: ToolLine, before: list[Spoken]) -> bool:
    """Whether the call that a result answers could not be read."""
    for earlier in reversed(before):
        if isinstance(earlier, AssistantLine):
            calls = earlier.tool_calls
            return line.index < len(calls) and calls[line.index].arguments is None
    return False


def _with_calls(request: Request, answer: Answer) -> Answer:
    whole = answer.stop is not Stop.LENGTH
    tools = [tool.name for tool in request.prefix.tools]
    read = read_calls(answer.text, tools, whole=whole)
    calls = tuple(_call(request, index, call) for index, call in enumerate(read.calls))
    content: JsonObject = {"said": answer.text, "inner": answer.own}
    return replace(
        answer,
        text=read.text,
        calls=calls,
        stop=Stop.TOOLS if calls else answer.stop,
        own={"wire": TEXT, "content": content},
    )


def _call(request: Request, index: int, call: WrittenCall) -> ToolCall:
    name = call.name or UNKNOWN
    broken = call.written if call.arguments is None else ""
    return ToolCall(made_id(request, index), name, call.arguments, broken)
