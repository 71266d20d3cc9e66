"""The Chat Completions wire, as OpenAI and everything compatible with it speak it.

Options taken: `effort` (as reasoning_effort, by models known to reason),
`temperature` and `top_p` (not by OpenAI's reasoning models), `seed`.
Reference: https://developers.openai.com/api/reference/chat; differences of the
compatible servers: see `Dialect`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.conversation import AssistantLine
from agiraph.providers.openai_chat_stream import CHAT, ChatHearing
from agiraph.providers.traits import takes_effort, takes_temperature
from agiraph.providers.wire import (
    NO_ANSWER,
    NO_OUTPUT,
    NO_TEXT,
    Fragment,
    arguments_of,
    bare,
    compact,
    own_content,
    texts_joined,
    wire_id,
)

if TYPE_CHECKING:
    from agiraph.model.conversation import Request, SystemLine
    from agiraph.model.tool import ToolSpec
    from agiraph.providers.faults import Service
    from agiraph.providers.wire import Turn

LONGEST_KEY = 64


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where servers of this wire differ.

    Attributes:
        openai: it is OpenAI itself: `max_completion_tokens` and a cache key; older
            compatible servers know only `max_tokens`.
        openrouter: it routes to others: ask for one that takes tools, for cache marks
            where the model wants them, and for what it cost.
    """

    openai: bool = False
    openrouter: bool = False


class ChatWire:
    """Renders requests for /chat/completions and hears its answers."""

    name = CHAT
    path = "/chat/completions"

    def __init__(
        self, service: Service, dialect: Dialect, *, stream: bool = True
    ) -> None:
        self._service = service
        self._stream = stream
        self._dialect = dialect

    def head(self, prefix: SystemLine) -> bytes:
        """Model, tools, and the system prompt as the first message."""
        top: dict[str, object] = {"model": bare(prefix.model)}
        if prefix.tools:
            top["tools"] = [_tool(tool) for tool in prefix.tools]
        head = compact(top)[:-1] + b',"messages":['
        if not prefix.content.strip():
            return head
        return head + compact({"role": "system", "content": prefix.content}) + b","

    def turn(self, turn: Turn, model: str) -> Fragment:
        """One assistant message, or tool messages and then one user message."""
        if isinstance(turn, AssistantLine):
            return Fragment(compact(_answer(turn, model)), 1)
        messages: list[dict[str, object]] = [
            {
                "role": "tool",
                "tool_call_id": wire_id(line.call_id),
                "content": line.content if line.content.strip() else NO_OUTPUT,
            }
            for line in turn.results
        ]
        if turn.texts:
            text = texts_joined(turn.texts)
            content = text if text.strip() else NO_TEXT
            messages.append({"role": "user", "content": content})
        return Fragment(compact(messages)[1:-1], len(messages))

    def tail(self, request: Request) -> bytes:
        """Options, the longest answer, and the wish for a stream with usage."""
        rest: dict[str, object] = {"stream": self._stream}
        if self._stream:
            rest["stream_options"] = {"include_usage": True}
        longest = "max_completion_tokens" if self._dialect.openai else "max_tokens"
        rest[longest] = request.max_tokens
        options = request.options
        effort = options.get("effort")
        if isinstance(effort, str) and takes_effort(request.model):
            rest["reasoning_effort"] = effort
        wished = ["seed"]
        if takes_temperature(request.model):
            wished += ["temperature", "top_p"]
        rest |= {name: options[name] for name in wished if name in options}
        if self._dialect.openai and request.key:
            rest["prompt_cache_key"] = short_key(request.key)
        if self._dialect.openrouter:
            rest |= _routed(request)
        return b"]," + compact(rest)[1:]

    def joined(self, fragments: list[Fragment]) -> bytes:
        """The messages; this wire has no cache marks."""
        return b",".join([fragment.data for fragment in fragments])

    def hearing(self, request: Request, size: int) -> ChatHearing:
        """An ear for one answer."""
        return ChatHearing(self._service, request, size)


def short_key(key: str) -> str:
    """A session's key in the length that the service takes."""
    if len(key) <= LONGEST_KEY:
        return key
    return hashlib.sha256(key.encode()).hexdigest()[:LONGEST_KEY]


def _routed(request: Request) -> dict[str, object]:
    extra: dict[str, object] = {
        "provider": {"require_parameters": True},
        "usage": {"include": True},  # what it cost, by its own account
    }
    if bare(request.model).startswith("anthropic/"):
        extra["cache_control"] = {"type": "ephemeral"}
    return extra


def _tool(tool: ToolSpec) -> dict[str, object]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _answer(line: AssistantLine, model: str) -> dict[str, object]:
    own = own_content(line, CHAT, model)
    if isinstance(own, dict):
        message: dict[str, object] = {**own}
    else:
        message = {"role": "assistant", "content": line.content or None}
        if line.tool_calls:
            message["tool_calls"] = [
                {
                    "id": wire_id(call.id),
                    "type": "function",
                    "function": {
                        "name": wire_id(call.name),
                        "arguments": compact(arguments_of(call)).decode(),
                    },
                }
                for call in line.tool_calls
            ]
    said = str(message.get("content") or "").strip()
    if not said and not message.get("tool_calls"):
        message["content"] = NO_ANSWER
    return message
