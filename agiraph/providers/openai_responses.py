"""The Responses wire, as OpenAI speaks it, without any state at the service.

Options taken: `effort` (as reasoning.effort), `temperature` and `top_p` (only by
models that do not reason).
Reference: https://developers.openai.com/api/reference/responses, guides/reasoning
(keeping reasoning items in context), guides/prompt-caching.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.model.conversation import Answer, AssistantLine, Stop
from agiraph.model.usage import Usage
from agiraph.providers import faults
from agiraph.providers.openai_chat import short_key
from agiraph.providers.traits import (
    reasons_in_secret,
    takes_effort,
    takes_temperature,
)
from agiraph.providers.wire import (
    NO_ANSWER,
    NO_OUTPUT,
    NO_TEXT,
    Fragment,
    arguments_of,
    bare,
    compact,
    count,
    in_one_piece,
    made_id,
    own_content,
    read_call,
    texts_joined,
    wire_id,
)

if TYPE_CHECKING:
    from agiraph.model.conversation import Request, SystemLine
    from agiraph.model.tool import ToolCall
    from agiraph.providers.faults import Service
    from agiraph.providers.sse import Event
    from agiraph.providers.wire import Turn

RESPONSES = "responses"


class ResponsesWire:
    """Renders requests for /responses and hears its answers."""

    name = RESPONSES
    path = "/responses"

    def __init__(self, service: Service, *, stream: bool = True) -> None:
        self._service = service
        self._stream = stream

    def head(self, prefix: SystemLine) -> bytes:
        """Model, instructions and tools."""
        top: dict[str, object] = {"model": bare(prefix.model)}
        if prefix.content.strip():
            top["instructions"] = prefix.content
        if prefix.tools:
            top["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "strict": False,  # left out, the service makes all required
                }
                for tool in prefix.tools
            ]
        return compact(top)[:-1] + b',"input":['

    def turn(self, turn: Turn, model: str) -> Fragment:
        """The items of one answer, or outputs of calls and then one user message."""
        if isinstance(turn, AssistantLine):
            items = _answer_items(turn, model)
            return Fragment(compact(items)[1:-1], len(items))
        items = [
            {
                "type": "function_call_output",
                "call_id": wire_id(line.call_id),
                "output": line.content if line.content.strip() else NO_OUTPUT,
            }
            for line in turn.results
        ]
        if turn.texts:
            text = texts_joined(turn.texts)
            content = text if text.strip() else NO_TEXT
            items.append({"role": "user", "content": content})
        return Fragment(compact(items)[1:-1], len(items))

    def tail(self, request: Request) -> bytes:
        """Nothing kept there, reasoning handed to us, the longest answer, options."""
        rest: dict[str, object] = {
            "store": False,
            "stream": self._stream,
            "max_output_tokens": request.max_tokens,
        }
        if reasons_in_secret(request.model):
            rest["include"] = ["reasoning.encrypted_content"]
        options = request.options
        effort = options.get("effort")
        if isinstance(effort, str) and takes_effort(request.model):
            rest["reasoning"] = {"effort": effort}
        if takes_temperature(request.model):
            rest |= {k: options[k] for k in ("temperature", "top_p") if k in options}
        if request.key:
            rest["prompt_cache_key"] = short_key(request.key)
        return b"]," + compact(rest)[1:]

    def joined(self, fragments: list[Fragment]) -> bytes:
        """The items; this wire has no cache marks of ours."""
        return b",".join([fragment.data for fragment in fragments])

    def hearing(self, request: Request, size: int) -> ResponsesHearing:
        """An ear for one answer."""
        return ResponsesHearing(self._service, request)


def _answer_items(line: AssistantLine, model: str) -> list[object]:
    own = own_content(line, RESPONSES, model)
    if isinstance(own, list):
        items = _replayable(own)
    else:
        items = []
        if line.content.strip():
            items.append({"role": "assistant", "content": line.content})
        items += [
            {
                "type": "function_call",
                "call_id": wire_id(call.id),
                "name": wire_id(call.name),
                "arguments": compact(arguments_of(call)).decode(),
            }
            for call in line.tool_calls
        ]
    return items or [{"role": "assistant", "content": NO_ANSWER}]


def _replayable(own: list[object]) -> list[object]:
    """The items as received, but for those that would be refused back.

    Nothing is kept there, so reasoning without its encrypted content cannot be
    found; reasoning at the very end lacks the item that it led to; and a message
    without words is not taken everywhere.
    """
    items = [item for item in own if not _lost(item)]
    while items and _is_reasoning(items[-1]):
        items.pop()
    return items


def _is_reasoning(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") == "reasoning"


def _lost(item: object) -> bool:
    if not isinstance(item, dict):
        return True
    if item.get("type") == "message":
        return _is_mute(item)
    return _is_reasoning(item) and not item.get("encrypted_content")


def _is_mute(message: dict[str, object]) -> bool:
    """Whether all that a message holds is text, and nothing stands there."""
    parts = message.get("content")
    kinds = {part.get("type") for part in parts} if isinstance(parts, list) else set()
    return kinds <= {"output_text", "refusal"} and not _spoken([message])[0].strip()


class ResponsesHearing:
    """Collects the items of one response, each as it was received."""

    def __init__(self, service: Service, request: Request) -> None:
        self._service = service
        self._request = request
        self._items: dict[int, dict[str, object]] = {}
        self._response: dict[str, object] | None = None

    def hear(self, event: Event) -> bool:
        """Take one event; True for the one that ends the response."""
        try:
            data = json.loads(event.data)
            return self._take(data.get("type") or event.name, data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"held an event that cannot be read ({event.name})"
            raise faults.broken(self._service, what) from error

    def whole(self, body: str) -> bool:
        """Take a response that came in one piece."""
        data = in_one_piece(body, "output")
        if data is None:
            return False
        status = data.get("status", "completed")
        if data.get("error") or status == "failed":
            error = data.get("error") or "the response failed"
            raise faults.of_report(self._service, error)
        if status in ("completed", "incomplete"):
            self._response = data
        return True

    def answer(self) -> Answer:
        """The whole answer, or a fault where the response never ended."""
        if self._response is None:
            raise faults.broken(self._service, "broke off before its end")
        output = self._response.get("output")
        items: list[dict[str, object]] = (
            [item for item in output if isinstance(item, dict)]
            if isinstance(output, list) and output
            else [self._items[index] for index in sorted(self._items)]
        )
        calls = self._calls(items)
        text, refused = _spoken(items)
        stop = self._stop(calls, refused=refused)
        # mypy cannot see that parsed JSON is Json.
        own = {"wire": RESPONSES, "content": items}
        ident = str(self._response.get("id") or "")
        return Answer(text, calls, stop, self._used(), own, id=ident)  # type: ignore[arg-type]

    def _take(self, kind: str, data: dict[str, object]) -> bool:
        response = data.get("response")
        if kind == "response.output_item.done":
            item = data["item"]
            if isinstance(item, dict):
                self._items[int(str(data["output_index"]))] = item
        elif kind in ("response.completed", "response.incomplete"):
            self._response = response if isinstance(response, dict) else {}
            return True
        elif kind == "response.failed":
            error = response.get("error") if isinstance(response, dict) else None
            raise faults.of_report(self._service, error or "the response failed")
        elif kind == "error":
            raise faults.of_report(self._service, data.get("error") or data)
        return False

    def _stop(self, calls: tuple[ToolCall, ...], *, refused: bool) -> Stop:
        response = self._response or {}
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        if reason == "content_filter" or refused:
            return Stop.REFUSAL
        if reason is not None or response.get("status") == "incomplete":
            return Stop.LENGTH
        return Stop.TOOLS if calls else Stop.END

    def _calls(self, items: list[dict[str, object]]) -> tuple[ToolCall, ...]:
        calls = []
        for index, item in enumerate(items):
            if item.get("type") != "function_call":
                continue
            given = str(item.get("call_id") or made_id(self._request, index))
            item["call_id"] = wire_id(given)
            written = str(item.get("arguments") or "")
            call = read_call(str(item["call_id"]), str(item.get("name", "")), written)
            if call.arguments is None or not written.strip():
                item["arguments"] = "{}"
            calls.append(call)
        return tuple(calls)

    def _used(self) -> Usage:
        usage = (self._response or {}).get("usage")
        read = count(usage, "input_tokens_details", "cached_tokens")
        written = count(usage, "input_tokens_details", "cache_write_tokens")
        return Usage(
            input=max(0, count(usage, "input_tokens") - read - written),
            output=count(usage, "output_tokens"),
            cache_read=read,
            cache_write=written,
        )


def _spoken(items: list[dict[str, object]]) -> tuple[str, bool]:
    """The text of all message items, and whether it is a refusal."""
    said, refused = [], False
    for item in items:
        parts = item.get("content") if item.get("type") == "message" else None
        for part in parts if isinstance(parts, list) else []:
            refused = refused or part.get("type") == "refusal"
            said.append(str(part.get("text") or part.get("refusal") or ""))
    return "".join(said), refused
