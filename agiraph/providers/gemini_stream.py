"""Answers of the generateContent wire: streams put together, or whole ones."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agiraph.model.conversation import Answer, Stop
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage
from agiraph.providers import faults
from agiraph.providers.sse import Event
from agiraph.providers.wire import count, in_one_piece, made_id, wire_id

if TYPE_CHECKING:
    from agiraph.model.conversation import Request
    from agiraph.model.json import JsonObject
    from agiraph.providers.faults import Service

GEMINI = "gemini"
_STOPS = {
    "STOP": Stop.END,
    "MAX_TOKENS": Stop.LENGTH,
    "SAFETY": Stop.REFUSAL,
    "RECITATION": Stop.REFUSAL,
    "LANGUAGE": Stop.REFUSAL,
    "BLOCKLIST": Stop.REFUSAL,
    "PROHIBITED_CONTENT": Stop.REFUSAL,
    "SPII": Stop.REFUSAL,
    "IMAGE_SAFETY": Stop.REFUSAL,
}
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
_UNNAMED = "unnamed_"
_CALLED = re.compile(r"(?:default_api[.:]|call:)(\w+)")
_GROWS = frozenset({"text"}), frozenset({"text", "thought"})


def is_unnamed(call_id: str) -> bool:
    """Whether a call came without an id: then none may stand in what goes back."""
    return call_id.startswith(_UNNAMED)


class GeminiHearing:
    """Puts one content together, each part as it was received.

    Pieces of one text are joined; a part that carries a signature, or anything else
    beside its text, stays by itself, as the service wants it back.
    """

    def __init__(self, service: Service, request: Request, size: int) -> None:
        self._service = service
        self._request = request
        self._size = size
        self._parts: list[dict[str, object]] = []
        self._usage: dict[str, object] = {}
        self._finish = ""
        self._said = ""  # what the service says about its stopping
        self._blocked = ""
        self._id = ""

    def hear(self, event: Event) -> bool:
        """Take one event; the stream has no closing one, it ends."""
        try:
            self._take(json.loads(event.data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = "held an event that cannot be read"
            raise faults.broken(self._service, what) from error
        return False

    def whole(self, body: str) -> bool:
        """Take an answer that came in one piece: all of a stream in one event."""
        if in_one_piece(body, "candidates", "promptFeedback") is None:
            return False
        self.hear(Event("", body))
        return True

    def answer(self) -> Answer:
        """The whole answer, or a fault where no reason for its end ever came."""
        if self._blocked:
            words = f"the prompt was blocked: {self._blocked}"
            return Answer(words, (), Stop.REFUSAL, self._used(), {}, id=self._id)
        if not self._finish:
            raise faults.broken(self._service, "broke off before its end")
        text = "".join(
            str(part["text"])
            for part in self._parts
            if isinstance(part.get("text"), str) and not part.get("thought")
        )
        if self._finish in _MALFORMED:
            return self._malformed(text)
        calls = self._calls()
        stop = _STOPS.get(self._finish, Stop.END)
        if calls and stop is Stop.END:
            stop = Stop.TOOLS
        # mypy cannot see that parsed JSON is Json.
        content: JsonObject = {"role": "model", "parts": self._parts}  # type: ignore[dict-item]
        own: JsonObject = {"wire": GEMINI, "content": content}
        return Answer(text, calls, stop, self._used(), own, id=self._id)

    def _take(self, data: dict[str, object]) -> None:
        if data.get("error"):
            raise faults.of_report(self._service, data["error"])
        self._id = self._id or str(data.get("responseId") or "")
        usage = data.get("usageMetadata")
        if isinstance(usage, dict):
            self._usage |= usage
        feedback = data.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            self._blocked = str(feedback["blockReason"])
        candidates = data.get("candidates")
        for candidate in candidates[:1] if isinstance(candidates, list) else []:
            content = candidate.get("content") or {}
            for part in content.get("parts") or []:
                self._add(part)
            self._finish = str(candidate.get("finishReason") or self._finish)
            self._said = str(candidate.get("finishMessage") or self._said)

    def _add(self, part: dict[str, object]) -> None:
        last = self._parts[-1] if self._parts else {}
        if part.keys() in _GROWS and last.keys() == part.keys():
            same = last.get("thought") == part.get("thought")
            if same and isinstance(part["text"], str):
                last["text"] = f"{last['text']}{part['text']}"
                return
        self._parts.append(part)

    def _calls(self) -> tuple[ToolCall, ...]:
        calls: list[ToolCall] = []
        for part in self._parts:
            called = part.get("functionCall")
            if not isinstance(called, dict):
                continue
            given = called.get("id") or self._unnamed(len(calls))
            name = str(called.get("name") or "")
            arguments = called.get("args")
            if arguments is None or isinstance(arguments, dict):
                calls.append(ToolCall(wire_id(str(given)), name, arguments or {}))
            else:
                written = isinstance(arguments, str)
                broken = arguments if written else json.dumps(arguments)
                calls.append(ToolCall(wire_id(str(given)), name, None, broken))
                called["args"] = {}
        return tuple(calls)

    def _unnamed(self, index: int) -> str:
        """Our own id for a call to which the service gave none."""
        return _UNNAMED + made_id(self._request, index)

    def _malformed(self, text: str) -> Answer:
        """A call that the service itself could not read: the model is to be told.

        Nothing of it can be sent back, so the canonical form stands for it.
        """
        found = _CALLED.search(self._said)
        name = found[1] if found else "unknown"
        broken = self._said or self._finish
        call = ToolCall(self._unnamed(0), name, None, broken)
        return Answer(text, (call,), Stop.TOOLS, self._used(), {}, id=self._id)

    def _used(self) -> Usage:
        if not self._usage:
            return Usage(input=self._size // 3)
        read = count(self._usage, "cachedContentTokenCount")
        entry = count(self._usage, "promptTokenCount")
        entry += count(self._usage, "toolUsePromptTokenCount")
        spoken = count(self._usage, "candidatesTokenCount")
        return Usage(
            input=max(0, entry - read),
            output=spoken + count(self._usage, "thoughtsTokenCount"),
            cache_read=read,
        )
