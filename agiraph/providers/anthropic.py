"""The Messages wire, as Anthropic speaks it.

Options taken: `effort` (as output_config.effort), `thinking` (an object, as it is),
`temperature` and `top_p` (older models only).
Reference: https://platform.claude.com/docs/en/api/messages, .../streaming,
.../build-with-claude/prompt-caching.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.core.brief import OWN_PART
from agiraph.model.conversation import Answer, AssistantLine, Stop
from agiraph.model.usage import Usage
from agiraph.providers import faults
from agiraph.providers.traits import takes_effort, takes_temperature
from agiraph.providers.wire import (
    NO_ANSWER,
    NO_OUTPUT,
    NO_TEXT,
    Fragment,
    arguments_of,
    bare,
    compact,
    count,
    grown,
    in_one_piece,
    made_id,
    own_content,
    read_call,
    wire_id,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.conversation import Request, SystemLine, ToolLine
    from agiraph.model.tool import ToolCall
    from agiraph.providers.faults import Service
    from agiraph.providers.sse import Event
    from agiraph.providers.wire import Turn, UserTurn

MESSAGES = "messages"
_MARK = b',"cache_control":{"type":"ephemeral"}'
_BLOCK_END = b"}]}"
# A cache mark finds an older entry at most this many blocks before it.
LOOK_BACK = 20
_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "tool_use": Stop.TOOLS,
    "max_tokens": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
    "pause_turn": Stop.PAUSE,
    "model_context_window_exceeded": Stop.CONTEXT,
}


class MessagesWire:
    """Renders requests for /v1/messages and hears its answers."""

    name = MESSAGES
    path = "/v1/messages"

    def __init__(
        self, service: Service, *, diagnoses: bool = False, stream: bool = True
    ) -> None:
        """`diagnoses`: whether the service says why its cache was missed."""
        self._service = service
        self._stream = stream
        self._diagnoses = diagnoses

    def head(self, prefix: SystemLine) -> bytes:
        """Model, tools, and the system prompt with a cache mark at its end.

        Another mark stands where the part begins that others of its kind do not share.
        """
        top: dict[str, object] = {"model": bare(prefix.model)}
        if prefix.content.strip():
            mark = {"type": "ephemeral"}
            top["system"] = [
                {"type": "text", "text": part, "cache_control": mark}
                for part in _parts(prefix.content)
            ]
        if prefix.tools:
            top["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                }
                for tool in prefix.tools
            ]
        return compact(top)[:-1] + b',"messages":['

    def turn(self, turn: Turn, model: str) -> Fragment:
        """One message; results of calls stand before texts."""
        if isinstance(turn, AssistantLine):
            blocks = _answer_blocks(turn, model)
            message = {"role": "assistant", "content": blocks}
        else:
            blocks = [*_user_blocks(turn)]
            message = {"role": "user", "content": blocks}
        return Fragment(compact(message), len(blocks))

    def tail(self, request: Request) -> bytes:
        """Options and the mark that lets the service cache up to the last block."""
        rest: dict[str, object] = {
            "max_tokens": request.max_tokens,
            "stream": self._stream,
            "cache_control": {"type": "ephemeral"},
        }
        if self._diagnoses:
            rest["diagnostics"] = {"previous_message_id": _previous(request)}
        options = request.options
        effort = options.get("effort")
        if isinstance(effort, str) and takes_effort(request.model):
            rest["output_config"] = {"effort": effort}
        if isinstance(options.get("thinking"), dict):
            rest["thinking"] = options["thinking"]
        if takes_temperature(request.model):
            rest |= {k: options[k] for k in ("temperature", "top_p") if k in options}
        return b"]," + compact(rest)[1:]

    def joined(self, fragments: list[Fragment]) -> bytes:
        """The messages; after a wide turn the last request's end is marked too.

        Without it the automatic mark would look back in vain, and the whole
        conversation be paid for anew. Marks are no part of what is cached.
        """
        data = [fragment.data for fragment in fragments]
        if len(fragments) > 2 and fragments[-1].blocks + fragments[-2].blocks >= (
            LOOK_BACK
        ):
            before = data[-3]
            data[-3] = before[: -len(_BLOCK_END)] + _MARK + _BLOCK_END
        return b",".join(data)

    def hearing(self, request: Request, size: int) -> MessagesHearing:
        """An ear for one answer."""
        return MessagesHearing(self._service, request)


def _parts(system: str) -> list[str]:
    """What everyone of a kind shares of a system prompt, and what is its own."""
    at = system.find(f"\n{OWN_PART}")
    return [system] if at <= 0 else [system[:at], system[at:]]


def _previous(request: Request) -> str | None:
    """The id of the last answer, which the service compares this request with."""
    for line in reversed(request.lines):
        if isinstance(line, AssistantLine):
            known = line.own.get("id") if line.model == request.model else None
            return known if isinstance(known, str) and known else None
    return None


def _user_blocks(turn: UserTurn) -> list[dict[str, object]]:
    blocks = [_result(line) for line in turn.results]
    for text in turn.texts:
        content = text.content if text.content.strip() else NO_TEXT
        blocks.append({"type": "text", "text": content})
    return blocks


def _result(line: ToolLine) -> dict[str, object]:
    block: dict[str, object] = {
        "type": "tool_result",
        "tool_use_id": wire_id(line.call_id),
        "content": line.content if line.content.strip() else NO_OUTPUT,
    }
    if line.error:
        block["is_error"] = True
    return block


def _answer_blocks(line: AssistantLine, model: str) -> list[object]:
    own = own_content(line, MESSAGES, model)
    if isinstance(own, list):
        blocks: list[object] = [block for block in own if not _is_blank(block)]
    else:
        blocks = (
            [{"type": "text", "text": line.content}] if line.content.strip() else []
        )
        blocks += [
            {
                "type": "tool_use",
                "id": wire_id(call.id),
                "name": wire_id(call.name),
                "input": arguments_of(call),
            }
            for call in line.tool_calls
        ]
    return blocks or [{"type": "text", "text": NO_ANSWER}]


def _is_blank(block: object) -> bool:
    """Whether a block came from the service but would be refused by it.

    That is a text without text, and thinking that was cut off before its signature.
    """
    if not isinstance(block, dict):
        return True
    if block.get("type") == "text":
        return not str(block.get("text", "")).strip()
    return block.get("type") == "thinking" and not block.get("signature")


class MessagesHearing:
    """Puts a message together, block by block, each as it was received."""

    def __init__(self, service: Service, request: Request) -> None:
        self._service = service
        self._request = request
        self._blocks: dict[int, dict[str, object]] = {}
        self._inputs: dict[int, str] = {}
        self._usage: dict[str, object] = {}
        self._stop: str | None = None
        self._id = ""
        self._missed = ""
        self._closed = False

    def hear(self, event: Event) -> bool:
        """Take one event; True for message_stop."""
        try:
            data = json.loads(event.data)
            self._take(data.get("type") or event.name, data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = f"held an event that cannot be read ({event.name})"
            raise faults.broken(self._service, what) from error
        return self._closed

    def whole(self, body: str) -> bool:
        """Take a message that came in one piece."""
        data = in_one_piece(body, "content")
        if data is None:
            return False
        if data.get("error"):
            raise faults.of_report(self._service, data["error"])
        self._id = str(data.get("id") or "")
        self._count(data.get("usage"))
        self._diagnosed(data)
        blocks = [
            block for block in _list(data.get("content")) if isinstance(block, dict)
        ]
        self._blocks = dict(enumerate(blocks))
        self._stop = str(data.get("stop_reason") or "")
        self._closed = True
        return True

    def answer(self) -> Answer:
        """The whole answer, or a fault where message_stop never came."""
        if not self._closed or self._stop is None:
            raise faults.broken(self._service, "broke off before its end")
        calls = self._calls()
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        text = "".join(str(b["text"]) for b in blocks if b.get("type") == "text")
        stop = _STOPS.get(self._stop, Stop.TOOLS if calls else Stop.END)
        own = {"wire": MESSAGES, "id": self._id, "content": blocks}
        return Answer(
            text,
            calls,
            stop,
            self._used(),
            own,  # type: ignore[arg-type]  # mypy cannot see that parsed JSON is Json
            id=self._id,
            cache_miss=self._missed,
        )

    def _take(self, kind: str, data: dict[str, dict[str, object]]) -> None:
        match kind:
            case "message_start":
                self._id = str(data["message"].get("id", ""))
                self._count(data["message"].get("usage"))
                self._diagnosed(data["message"])
            case "content_block_start":
                self._blocks[int(str(data["index"]))] = dict(data["content_block"])
            case "content_block_delta":
                self._add(int(str(data["index"])), data["delta"])
            case "message_delta":
                self._stop = str(data["delta"].get("stop_reason") or self._stop or "")
                self._count(data.get("usage"))
                self._diagnosed(data)
            case "message_stop":
                self._closed = True
            case "error":
                raise faults.of_report(self._service, data.get("error"))
            case _:  # ping, content_block_stop, and what is still to be invented
                pass

    def _add(self, index: int, delta: dict[str, object]) -> None:
        block = self._blocks[index]
        if delta.get("type") == "input_json_delta":
            more = str(delta["partial_json"])
            self._inputs[index] = self._inputs.get(index, "") + more
            return
        if delta.get("type") == "citations_delta":
            found = block.get("citations")
            block["citations"] = [*_list(found), delta["citation"]]
            return
        if delta.get("type") == "signature_delta":
            block["signature"] = delta["signature"]
            return
        for key, value in delta.items():
            if key != "type":
                block[key] = grown(block.get(key), value)

    def _diagnosed(self, data: Mapping[str, object]) -> None:
        found = data.get("diagnostics")
        reason = found.get("cache_miss_reason") if isinstance(found, dict) else None
        if isinstance(reason, dict) and reason.get("type"):
            self._missed = str(reason["type"])

    def _count(self, usage: object) -> None:
        # Counts are totals so far; those left out keep what the start said.
        if isinstance(usage, dict):
            self._usage |= {k: v for k, v in usage.items() if v is not None}

    def _used(self) -> Usage:
        return Usage(
            input=count(self._usage, "input_tokens"),
            output=count(self._usage, "output_tokens"),
            cache_read=count(self._usage, "cache_read_input_tokens"),
            cache_write=count(self._usage, "cache_creation_input_tokens"),
        )

    def _calls(self) -> tuple[ToolCall, ...]:
        """The calls; each block gets its input, `{}` where that was no object."""
        calls = []
        for index, block in sorted(self._blocks.items()):
            written = self._inputs.get(index)
            if written is not None and block.get("type") != "tool_use":
                block["input"] = _input(written)
            if block.get("type") != "tool_use":
                continue
            if written is None:
                written = _written(block.get("input"))
            given = block.get("id") or made_id(self._request, index)
            block["id"] = wire_id(str(given))
            call = read_call(str(block["id"]), str(block.get("name", "")), written)
            block["input"] = arguments_of(call)
            calls.append(call)
        return tuple(calls)


def _input(written: str) -> object:
    call = read_call("", "", written)
    return arguments_of(call)


def _written(given: object) -> str:
    """What came as an input whole; some servers send the text of the model itself."""
    return given if isinstance(given, str) else json.dumps(given or {})


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
