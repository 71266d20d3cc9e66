"""Answers of the Chat Completions wire: streams put together, or whole ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.model.conversation import Answer, Stop
from agiraph.model.usage import Usage
from agiraph.providers import faults
from agiraph.providers.wire import (
    count,
    grown,
    in_one_piece,
    made_id,
    read_call,
    wire_id,
)

if TYPE_CHECKING:
    from agiraph.model.conversation import Request
    from agiraph.model.tool import ToolCall
    from agiraph.providers.faults import Service
    from agiraph.providers.sse import Event

CHAT = "chat"
_STOPS = {
    "stop": Stop.END,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "length": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
}


class ChatHearing:
    """Puts one assistant message together; unknown fields are kept as they came."""

    def __init__(self, service: Service, request: Request, size: int) -> None:
        self._service = service
        self._request = request
        self._size = size
        self._message: dict[str, object] = {"role": "assistant", "content": None}
        self._calls: list[dict[str, object]] = []
        self._by_index: dict[int, dict[str, object]] = {}
        self._usage: dict[str, object] = {}
        self._finish: str | None = None
        self._id = ""
        self._done = False

    def hear(self, event: Event) -> bool:
        """Take one event; True for [DONE]."""
        if event.data.strip() == "[DONE]":
            self._done = True
            return True
        try:
            self._take(event.name, json.loads(event.data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = "held an event that cannot be read"
            raise faults.broken(self._service, what) from error
        return False

    def whole(self, body: str) -> bool:
        """Take a completion that came in one piece, as one delta."""
        data = in_one_piece(body, "choices")
        if data is None:
            return False
        try:
            self._take("", {**data, "choices": _as_deltas(data.get("choices"))})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = "cannot be read"
            raise faults.broken(self._service, what) from error
        self._done = True
        return True

    def answer(self) -> Answer:
        """The whole answer, or a fault where its end never came.

        A finish reason must have come, and then [DONE] or the usage: a stream that
        is cut between them would lose what it cost.
        """
        if self._finish is None or not (self._done or self._usage):
            raise faults.broken(self._service, "broke off before its end")
        calls = self._called()
        text = str(self._message.get("content") or "")
        refused = self._message.get("refusal")
        stop = _STOPS.get(self._finish, Stop.END)
        if calls and stop is Stop.END:
            stop = Stop.TOOLS  # some servers say `stop` beside calls
        if refused and not text:
            text, stop = str(refused), Stop.REFUSAL
        cost = self._usage.get("cost")
        # mypy cannot see that parsed JSON is Json.
        own = {"wire": CHAT, "content": self._message}
        return Answer(
            text,
            calls,
            stop,
            self._used(text),
            own,  # type: ignore[arg-type]
            float(cost) if isinstance(cost, int | float) else None,
            self._id,
        )

    def _take(self, name: str, data: dict[str, object]) -> None:
        if name == "error" or data.get("error"):
            raise faults.of_report(self._service, data.get("error") or data)
        self._id = self._id or str(data.get("id") or "")
        usage = data.get("usage")
        if isinstance(usage, dict):
            self._usage = usage
        choices = data.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if choice.get("error"):
                raise faults.of_report(self._service, choice["error"])
            self._add(choice.get("delta") or {})
            self._finish = choice.get("finish_reason") or self._finish

    def _add(self, delta: dict[str, object]) -> None:
        for key, value in delta.items():
            if key == "tool_calls" and isinstance(value, list):
                for part in value:
                    self._add_call(part)
            elif key != "role" and value is not None:
                self._message[key] = grown(self._message.get(key), value)

    def _add_call(self, part: dict[str, object]) -> None:
        index = part.pop("index", None)
        call = self._call_for(index if isinstance(index, int) else None, part)
        for key, value in part.items():
            if value is None or key in ("id", "type"):
                continue
            call[key] = _merged(call.get(key), value)

    def _call_for(
        self, index: int | None, part: dict[str, object]
    ) -> dict[str, object]:
        """The call that a part belongs to.

        Some servers give every call the same index, or none, but a new id each.
        """
        at = index if index is not None else max(self._by_index, default=0)
        call = self._by_index.get(at)
        given = part.get("id")
        if call is None or (given and call["id"] and given != call["id"]):
            call = {"id": given or "", "type": part.get("type") or "function"}
            self._by_index[at] = call
            self._calls.append(call)
        elif given:
            call["id"] = given
        return call

    def _called(self) -> tuple[ToolCall, ...]:
        """The calls; each gets an id, and `{}` for arguments that are no object."""
        calls, seen = [], set()
        for index, call in enumerate(self._calls):
            given = wire_id(str(call["id"])) if call["id"] else ""
            if not given or given in seen:
                given = made_id(self._request, index)
            seen.add(given)
            call["id"] = given
            function = call.get("function")
            function = dict(function) if isinstance(function, dict) else {}
            written = function.get("arguments") or ""
            read = read_call(
                given,
                str(function.get("name", "")),
                written if isinstance(written, str) else json.dumps(written),
            )
            if read.arguments is None or not isinstance(written, str) or not written:
                function["arguments"] = json.dumps(read.arguments or {})
            call["function"] = function
            calls.append(read)
        if self._calls:
            self._message["tool_calls"] = self._calls
        return tuple(calls)

    def _used(self, text: str) -> Usage:
        if not self._usage:
            # No word on usage: reckon with three bytes to a token, never with none.
            return Usage(input=self._size // 3, output=len(text.encode()) // 3)
        read = count(self._usage, "prompt_tokens_details", "cached_tokens")
        written = count(self._usage, "prompt_tokens_details", "cache_write_tokens")
        return Usage(
            input=max(0, count(self._usage, "prompt_tokens") - read - written),
            output=count(self._usage, "completion_tokens"),
            cache_read=read,
            cache_write=written,
        )


def _as_deltas(choices: object) -> list[dict[str, object]]:
    """The first choice of a whole completion in the form of a stream's.

    Its calls are numbered, because some servers give them no ids; what is empty in it
    says nothing and is not to go back.
    """
    if not isinstance(choices, list):
        return []
    found = []
    for choice in choices[:1]:
        message = choice.get("message") or {}
        said = {k: v for k, v in message.items() if v not in (None, [])}
        calls = said.get("tool_calls") or ()
        if calls:
            said["tool_calls"] = [{**c, "index": i} for i, c in enumerate(calls)]
        ended = choice.get("finish_reason") or "stop"
        found.append({**choice, "delta": said, "finish_reason": ended})
    return found


def _merged(old: object, more: object) -> object:
    if isinstance(old, dict) and isinstance(more, dict):
        return old | {k: grown(old.get(k), v) for k, v in more.items() if v is not None}
    return grown(old, more)
