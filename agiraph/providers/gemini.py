"""The generateContent wire, as Google's Gemini API speaks it.

Options taken: `effort` (as thinkingLevel, or a thinkingBudget of the models before
Gemini 3), `temperature`, `top_p` (as topP) and `seed`.
Reference: https://ai.google.dev/api/generate-content, gemini-api/docs/function-calling,
gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agiraph.model.conversation import AssistantLine
from agiraph.providers.gemini_stream import GEMINI, GeminiHearing, is_unnamed
from agiraph.providers.traits import takes_effort
from agiraph.providers.wire import (
    NO_ANSWER,
    NO_OUTPUT,
    NO_TEXT,
    Fragment,
    arguments_of,
    bare,
    compact,
    own_content,
    wire_id,
)

if TYPE_CHECKING:
    from agiraph.model.conversation import Request, SystemLine, ToolLine
    from agiraph.model.tool import ToolCall
    from agiraph.providers.faults import Service
    from agiraph.providers.wire import Turn, UserTurn

# What the service takes in place of a signature for calls that it did not make itself
# (gemini-api/docs/thought-signatures, on conversations brought from other models).
UNSIGNED = "skip_thought_signature_validator"
_BUDGETS = {"minimal": 0, "low": 1024, "medium": 8192, "high": 24_576}
_LEVELS = {"minimal": "minimal", "low": "low", "medium": "medium"}
_BEFORE_3 = re.compile(r"gemini-[12]\b")


class GeminiWire:
    """Renders requests for generateContent, streamed or not, and hears its answers."""

    name = GEMINI

    def __init__(self, service: Service, *, stream: bool = True) -> None:
        self._service = service
        model = bare(service.model)
        asks = "streamGenerateContent?alt=sse" if stream else "generateContent"
        self.path = f"models/{model}:{asks}"
        self._signs = not _BEFORE_3.match(model)

    def head(self, prefix: SystemLine) -> bytes:
        """System instruction and tools; the model stands in the path."""
        top: dict[str, object] = {}
        if prefix.content.strip():
            top["systemInstruction"] = {"parts": [{"text": prefix.content}]}
        if prefix.tools:
            declared = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": tool.parameters,
                }
                for tool in prefix.tools
            ]
            top["tools"] = [{"functionDeclarations": declared}]
        top["contents"] = []
        return compact(top)[:-2]

    def turn(self, turn: Turn, model: str) -> Fragment:
        """One content; answers to calls stand before texts."""
        if isinstance(turn, AssistantLine):
            content = self._answer(turn, model)
        else:
            content = {"role": "user", "parts": _user_parts(turn)}
        parts = content["parts"]
        return Fragment(compact(content), len(parts) if isinstance(parts, list) else 1)

    def tail(self, request: Request) -> bytes:
        """The longest answer and options."""
        config: dict[str, object] = {"maxOutputTokens": request.max_tokens}
        options = request.options
        effort = options.get("effort")
        if isinstance(effort, str) and takes_effort(request.model):
            config["thinkingConfig"] = _thinking(effort, signs=self._signs)
        for name, theirs in (
            ("temperature", "temperature"),
            ("top_p", "topP"),
            ("seed", "seed"),
        ):
            if name in options:
                config[theirs] = options[name]
        return b"]," + compact({"generationConfig": config})[1:]

    def joined(self, fragments: list[Fragment]) -> bytes:
        """The contents; the service caches equal prefixes by itself."""
        return b",".join(fragment.data for fragment in fragments)

    def hearing(self, request: Request, size: int) -> GeminiHearing:
        """An ear for one answer."""
        return GeminiHearing(self._service, request, size)

    def _answer(self, line: AssistantLine, model: str) -> dict[str, object]:
        own = own_content(line, GEMINI, model)
        parts: list[object] = []
        if isinstance(own, dict) and isinstance(own.get("parts"), list):
            kept = [part for part in own["parts"] if not _is_blank(part)]
            if kept:
                return {**own, "parts": kept}
        elif line.content.strip():
            parts.append({"text": line.content})
        if not isinstance(own, dict):
            parts += [self._call(call, index) for index, call in _numbered(line)]
        return {"role": "model", "parts": parts or [{"text": NO_ANSWER}]}

    def _call(self, call: ToolCall, index: int) -> dict[str, object]:
        """A call in canonical form; the first of a turn is the one that is signed."""
        made: dict[str, object] = {
            "name": wire_id(call.name),
            "args": arguments_of(call),
        }
        part: dict[str, object] = {"functionCall": _with_id(made, call.id)}
        if index == 0 and self._signs:
            part["thoughtSignature"] = UNSIGNED
        return part


def _numbered(line: AssistantLine) -> list[tuple[int, ToolCall]]:
    return list(enumerate(line.tool_calls))


def _with_id(value: dict[str, object], call_id: str) -> dict[str, object]:
    """With the service's own id; where it gave none, name and order tell."""
    return value if is_unnamed(call_id) else {"id": wire_id(call_id), **value}


def _user_parts(turn: UserTurn) -> list[dict[str, object]]:
    texts = [text.content for text in turn.texts]
    parts: list[dict[str, object]] = [_result(line) for line in turn.results]
    parts += [{"text": text if text.strip() else NO_TEXT} for text in texts]
    return parts


def _result(line: ToolLine) -> dict[str, object]:
    said = line.content if line.content.strip() else NO_OUTPUT
    response = {"error" if line.error else "output": said}
    made: dict[str, object] = {"name": wire_id(line.name), "response": response}
    return {"functionResponse": _with_id(made, line.call_id)}


def _is_blank(part: object) -> bool:
    """Whether a part came from the service but says nothing and carries nothing."""
    return (
        isinstance(part, dict)
        and part.keys() <= {"text", "thought"}
        and (not str(part.get("text") or "").strip())
    )


def _thinking(effort: str, *, signs: bool) -> dict[str, object]:
    if not signs:
        return {"thinkingBudget": _BUDGETS.get(effort, _BUDGETS["high"])}
    return {"thinkingLevel": _LEVELS.get(effort, "high")}
