"""Gemini's generateContent at the model server: what it says and what it refuses."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.support.model_growth import Refused
from tests.support.model_replies import (
    Block,
    Call,
    Event,
    Reply,
    Said,
    Say,
    halves,
    stop_of,
)

if TYPE_CHECKING:
    from tests.support.model_asked import Asked

FIELDS = """
contents tools toolConfig safetySettings systemInstruction generationConfig
cachedContent model stream
"""
_CONFIG = """
stopSequences responseMimeType responseSchema candidateCount maxOutputTokens
temperature topP topK seed presencePenalty frequencyPenalty thinkingConfig
"""
_PARTS = """
text thought thoughtSignature inlineData fileData functionCall functionResponse
executableCode codeExecutionResult partMetadata
"""
_BEFORE_3 = re.compile(r"gemini-[12]\b")
_FINISH = {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS"}


def signs(model: str) -> bool:
    """Whether a model signs its calls and wants the signatures back."""
    return not _BEFORE_3.match(model)


# --- what it says


def gemini_events(reply: Reply, said: Said) -> list[Event]:
    """A reply as chunks; the first call of an answer is the one that is signed."""
    parts: list[dict[str, Any]] = []
    if said.thinking:
        parts.append({"text": "Let me think.", "thought": True})
    signed = not said.thinking or not signs(said.model)
    for part in reply.parts:
        match part:
            case Say(text):
                parts += [{"text": piece} for piece in halves(text)]
            case Call():
                call: dict[str, Any] = {"functionCall": _called(part)}
                if not signed:
                    call["thoughtSignature"] = said.bond
                    signed = True
                parts.append(call)
            case Block(value):
                parts.append(value)
    if said.thinking and not signed:
        parts.append({"text": "", "thoughtSignature": said.bond})
    made = [_chunk(said, [part]) for part in parts] or [_chunk(said, [])]
    stop = stop_of(reply)
    ends = _FINISH.get(stop, "SAFETY" if stop == "refusal" else stop)
    made[-1]["candidates"][0]["finishReason"] = ends
    if stop == "MALFORMED_FUNCTION_CALL":
        called = "Malformed function call: print(default_api.write_file(path='a"
        made[-1]["candidates"][0] |= {"finishMessage": called, "content": {}}
    made[-1]["usageMetadata"] = _usage(said)
    return [("", chunk) for chunk in made]


def _called(part: Call) -> dict[str, Any]:
    arguments: Any = part.arguments
    if part.broken is not None:
        try:
            arguments = json.loads(part.broken)
        except ValueError:
            arguments = part.broken
        if "NaN" in part.broken:
            arguments = part.broken
    return {"id": part.id, "name": part.name, "args": arguments}


def _chunk(said: Said, parts: list[dict[str, Any]]) -> dict[str, Any]:
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "index": 0}],
        "modelVersion": said.model,
        "responseId": f"resp_{said.id}",
    }


def _usage(said: Said) -> dict[str, Any]:
    usage = said.usage
    entry = usage["input"] + usage["cache_read"] + usage["cache_write"]
    return {
        "promptTokenCount": entry,
        "cachedContentTokenCount": usage["cache_read"],
        "candidatesTokenCount": usage["output"] - usage["output"] // 3,
        "thoughtsTokenCount": usage["output"] // 3,
        "totalTokenCount": entry + usage["output"],
    }


def joined_chunks(made: list[Event]) -> dict[str, Any]:
    """The same answer as one body."""
    chunks: list[Any] = [data for _, data in made]
    parts: list[dict[str, Any]] = []
    for chunk in chunks:
        for part in chunk["candidates"][0]["content"].get("parts", []):
            if parts and part.keys() == parts[-1].keys() == {"text"}:
                parts[-1] = {"text": parts[-1]["text"] + part["text"]}
            else:
                parts.append(part)
    last = chunks[-1]
    content = {"role": "model", "parts": parts}
    return last | {"candidates": [last["candidates"][0] | {"content": content}]}


# --- what it refuses


def check_gemini(asked: Asked) -> None:
    """Refuse what the service refuses."""
    _known(asked.body.get("generationConfig") or {}, _CONFIG, "generation_config")
    config = (asked.body.get("generationConfig") or {}).get("thinkingConfig") or {}
    if "thinkingLevel" in config and not signs(asked.model):
        raise Refused("Thinking level is not supported for this model.")
    if "thinkingBudget" in config and "thinkingLevel" in config:
        raise Refused("You can only set one of thinking_budget and thinking_level.")
    contents = asked.messages
    for content in contents:
        if content.get("role") not in ("user", "model"):
            raise Refused("Please use a valid role: user, model.")
        if not content.get("parts"):
            raise Refused("* GenerateContentRequest.contents: parts must not be empty")
        for part in content["parts"]:
            _check_part(part)
    _check_turns(asked, contents)


def _known(found: dict[str, Any], names: str, where: str) -> None:
    for name in found:
        if name not in names.split():
            raise Refused(
                f'Invalid JSON payload received. Unknown name "{name}" at '
                f"'{where}': Cannot find field."
            )


def _check_part(part: dict[str, Any]) -> None:
    _known(part, _PARTS, "contents.parts")
    said = {"text", "functionCall", "functionResponse", "inlineData"} & part.keys()
    if len(said) != 1:
        raise Refused(
            "contents.parts: required oneof field 'data' must have one initialized "
            "field"
        )
    if part.keys() == {"text"} and not part["text"].strip():
        raise Refused("Unable to submit request because it has an empty text part.")
    called = part.get("functionCall")
    if called is not None and not isinstance(called.get("args", {}), dict):
        raise Refused("contents.parts.function_call.args: not an object")
    answered = part.get("functionResponse")
    if answered is not None and not isinstance(answered.get("response"), dict):
        raise Refused("contents.parts.function_response.response: not an object")


def _check_turns(asked: Asked, contents: list[dict[str, Any]]) -> None:
    if contents[0]["role"] != "user" or contents[-1]["role"] != "user":
        raise Refused(
            "Please ensure that single turn requests end with a user role or the role "
            "field is empty."
        )
    before: dict[str, Any] | None = None
    for number, content in enumerate(contents):
        if before is not None:
            _check_pair(before, content, number)
        if content["role"] == "model" and signs(asked.model):
            _check_signed(content, number)
        before = content


def _check_pair(before: dict[str, Any], content: dict[str, Any], number: int) -> None:
    if before["role"] == content["role"]:
        raise Refused(f"contents[{number}]: roles must alternate")
    calls = [p["functionCall"] for p in before["parts"] if "functionCall" in p]
    answers = [
        p["functionResponse"] for p in content["parts"] if "functionResponse" in p
    ]
    if len(calls) != len(answers):
        raise Refused(
            "Please ensure that the number of function response parts is equal to the "
            "number of function call parts of the function call turn."
        )
    for call, answer in zip(calls, answers, strict=True):
        same = (call.get("id"), call["name"]) == (answer.get("id"), answer["name"])
        if not same:
            raise Refused(
                f"contents[{number}]: the function response for {answer['name']} does "
                "not match the function call before it"
            )


def _check_signed(content: dict[str, Any], number: int) -> None:
    for place, part in enumerate(content["parts"]):
        if "functionCall" not in part:
            continue
        if not part.get("thoughtSignature"):
            name = part["functionCall"]["name"]
            raise Refused(
                "Function call is missing a thought_signature in functionCall parts. "
                f"Additional data, function call `default_api:{name}`, content "
                f"{number}, position {place}."
            )
        return  # of calls made at once only the first is signed


def check_declared(asked: Asked) -> None:
    """Refuse declarations of tools that the service refuses."""
    for tool in asked.declared:
        schema = tool.get("parametersJsonSchema")
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}", tool.get("name", "")):
            raise Refused("tools.function_declarations.name: Invalid function name.")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise Refused("tools.function_declarations.parameters: type must be object")
    names = [tool["name"] for tool in asked.declared]
    if len(set(names)) != len(names):
        raise Refused("Duplicate function declaration found.")
