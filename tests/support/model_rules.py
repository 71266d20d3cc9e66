"""What the real services refuse, and so the model server does."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

from tests.support.model_gemini import FIELDS as GEMINI_FIELDS
from tests.support.model_gemini import check_declared, check_gemini
from tests.support.model_growth import Refused, check_bonds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.model_asked import Asked

MARKS = 4
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_FIELDS = {
    "messages": """
    model messages max_tokens system tools tool_choice stream cache_control
    thinking output_config temperature top_p top_k stop_sequences metadata
    service_tier speed container diagnostics inference_geo prefill
    """,
    "chat": """
    model messages tools tool_choice stream stream_options max_tokens
    max_completion_tokens temperature top_p seed stop n user metadata store
    reasoning_effort prompt_cache_key parallel_tool_calls response_format
    service_tier verbosity logprobs top_logprobs logit_bias frequency_penalty
    presence_penalty safety_identifier
    """,
    "responses": """
    model input instructions tools tool_choice stream max_output_tokens store
    include reasoning temperature top_p prompt_cache_key parallel_tool_calls
    text truncation metadata user service_tier previous_response_id
    safety_identifier stream_options
    """,
    "gemini": GEMINI_FIELDS,
}


def check(asked: Asked, *, signed: set[str]) -> None:
    """Refuse what the service of this wire refuses.

    Args:
        asked: the request.
        signed: signatures of thinking that this server has given.
    """
    if not asked.body:
        raise Refused("We could not parse the JSON body of your request.")
    if asked.wire == "messages" and "anthropic-version" not in asked.headers:
        raise Refused("anthropic-version: header is required")
    routed = "x-openrouter-title" in asked.headers
    for name in asked.body:
        if routed and name in ("provider", "usage", "cache_control"):
            continue
        if name not in _FIELDS[asked.wire].split():
            raise Refused(_unknown(asked.wire, name))
    if not asked.model:
        raise Refused("model: Field required")
    if not asked.messages:
        raise Refused("messages: at least one message is required")
    _check_tools(asked)
    {
        "messages": _messages,
        "chat": _chat,
        "responses": _responses,
        "gemini": check_gemini,
    }[asked.wire](asked)
    check_bonds(asked, signed)


def _unknown(wire: str, name: str) -> str:
    return {
        "messages": f"{name}: Extra inputs are not permitted",
        "chat": f"Unrecognized request argument supplied: {name}",
        "responses": f"Unknown parameter: '{name}'.",
        "gemini": f'Invalid JSON payload received. Unknown name "{name}"',
    }[wire]


def _check_tools(asked: Asked) -> None:
    if asked.wire == "gemini":
        check_declared(asked)
        return
    names = []
    for tool in asked.body.get("tools") or []:
        inner = tool.get("function", {}) if asked.wire == "chat" else tool
        name, key = inner.get("name", ""), "parameters"
        if asked.wire == "messages":
            key = "input_schema"
        elif tool.get("type") != "function":
            raise Refused("tools.type: only function tools are known here")
        if not _NAME.match(name):
            raise Refused(f"tools.name: {name!r} does not match {_NAME.pattern}")
        if inner.get(key, {}).get("type") != "object":
            raise Refused(f"tools.{name}.{key}.type: must be 'object'")
        names.append(name)
    if len(set(names)) != len(names):
        raise Refused("tools: Tool names must be unique.")


# --- Messages


def _messages(asked: Asked) -> None:
    body = asked.body
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise Refused("max_tokens: Field required")
    effort = body.get("output_config", {}).get("effort", "low")
    if effort not in _EFFORTS[2:]:
        raise Refused(f"output_config.effort: {effort!r} is no effort")
    marks = json.dumps(body).count('"cache_control": {')
    if marks > MARKS:
        raise Refused(
            f"A maximum of {MARKS} blocks with cache_control may be provided. "
            f"Found {marks}."
        )
    for block in body["system"] if isinstance(body.get("system"), list) else []:
        _full_text(block.get("text"), "system")
    _alternating(asked)
    open_calls: list[str] = []
    seen: set[str] = set()
    for number, message in enumerate(asked.messages):
        blocks = _blocks(message, number)
        if message["role"] == "user":
            _results_match(blocks, open_calls, number)
            open_calls = []
            continue
        if open_calls:
            raise Refused(_unanswered(number, open_calls))
        open_calls = _tool_uses(blocks, seen, number)
    if open_calls:
        raise Refused(_unanswered(len(asked.messages), open_calls))


def _alternating(asked: Asked) -> None:
    roles = [message.get("role") for message in asked.messages]
    if roles[0] != "user":
        raise Refused("messages: first message must use the user role")
    for number, role in enumerate(roles):
        if role not in ("user", "assistant"):
            raise Refused(f"messages.{number}.role: Unexpected role {role!r}")
    for number, (one, two) in enumerate(itertools.pairwise(roles)):
        if one == two == "user":
            raise Refused(
                f'messages.{number + 1}: roles must alternate between "user" and '
                '"assistant", but found multiple "user" roles in a row'
            )


def _blocks(message: dict[str, Any], number: int) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not content:
        raise Refused(f"messages.{number}: all messages must have non-empty content")
    for index, block in enumerate(content):
        if block.get("type") == "text":
            _full_text(block.get("text"), f"messages.{number}.content.{index}")
        if block.get("type") == "tool_result" and not block.get("content"):
            raise Refused(f"messages.{number}.content.{index}: empty tool result")
    return list(content)


def _results_match(
    blocks: list[dict[str, Any]], open_calls: list[str], number: int
) -> None:
    results = [b["tool_use_id"] for b in blocks if b.get("type") == "tool_result"]
    first_other = next(
        (i for i, b in enumerate(blocks) if b.get("type") != "tool_result"), len(blocks)
    )
    if results and first_other < len(results):
        raise Refused(f"messages.{number}: tool_result blocks must come first")
    for ident in results:
        if ident not in open_calls:
            raise Refused(
                f"messages.{number}: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {ident}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )
    if len(set(results)) != len(results):
        raise Refused(f"messages.{number}: each tool_use must have a single result")
    missing = [ident for ident in open_calls if ident not in results]
    if missing:
        raise Refused(_unanswered(number, missing))


def _unanswered(number: int, idents: list[str]) -> str:
    return (
        f"messages.{number - 1}: `tool_use` ids were found without `tool_result` "
        f"blocks immediately after: {', '.join(idents)}."
    )


def _tool_uses(blocks: list[dict[str, Any]], seen: set[str], number: int) -> list[str]:
    found = []
    for block in blocks:
        if block.get("type") != "tool_use":
            continue
        ident = block.get("id", "")
        if not _NAME.match(ident) or not _NAME.match(block.get("name", "")):
            raise Refused(f"messages.{number}: id or name does not match the pattern")
        if ident in seen:
            raise Refused(f"messages.{number}: `tool_use` ids must be unique")
        if not isinstance(block.get("input"), dict):
            raise Refused(f"messages.{number}: tool_use.input should be a dictionary")
        seen.add(ident)
        found.append(ident)
    return found


# --- Chat Completions


def _chat(asked: Asked) -> None:
    body = asked.body
    if "max_tokens" in body and "max_completion_tokens" in body:
        raise Refused("Setting max_tokens and max_completion_tokens is not supported")
    _effort(body.get("reasoning_effort"))
    roles = [message.get("role") for message in body["messages"]]
    if any(role in ("system", "developer") for role in roles[1:]):
        raise Refused("messages: a system message may only come first")
    open_calls: list[str] = []
    before = ""
    for number, message in enumerate(asked.messages):
        where = f"messages.[{number}]"
        if message.get("role") == "tool":
            _tool_message(message, open_calls, where)
        else:
            if open_calls:
                raise Refused(_chat_unanswered(open_calls))
            open_calls = _spoken_message(message, before, where)
        before = str(message.get("role"))
    if open_calls:
        raise Refused(_chat_unanswered(open_calls))
    if before == "assistant":
        raise Refused("messages: the last message may not be the assistant's")


def _tool_message(message: dict[str, Any], open_calls: list[str], where: str) -> None:
    ident = message.get("tool_call_id", "")
    if ident not in open_calls:
        raise Refused(
            f"{where}: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'."
        )
    open_calls.remove(ident)
    _full_text(message.get("content"), where)


def _spoken_message(message: dict[str, Any], before: str, where: str) -> list[str]:
    """The ids of the calls in it, which wait for their tool messages."""
    role = message.get("role")
    if role == "assistant":
        return _tool_calls(message, where)
    if role != "user":
        raise Refused(f"{where}: '{role}' is not one of the roles")
    if before == "user":
        raise Refused(f"{where}: two user messages in a row")
    _full_text(message.get("content"), where)
    return []


def _chat_unanswered(idents: list[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages "
        "responding to each 'tool_call_id'. The following tool_call_ids did not have "
        f"response messages: {', '.join(idents)}"
    )


def _tool_calls(message: dict[str, Any], where: str) -> list[str]:
    calls = message.get("tool_calls")
    if calls == []:
        raise Refused(f"{where}.tool_calls: [] is too short")
    if not calls:
        _full_text(message.get("content"), where)
        return []
    found: list[str] = []
    for one in calls:
        if one.get("type") != "function" or "index" in one:
            raise Refused(f"{where}.tool_calls: a call has type, id and function only")
        _arguments(one["function"].get("arguments"), where)
        if not one.get("id") or one["id"] in found:
            raise Refused(f"{where}.tool_calls: ids must be there and unique")
        found.append(one["id"])
    return found


# --- Responses


def _responses(asked: Asked) -> None:
    body = asked.body
    _effort((body.get("reasoning") or {}).get("effort"))
    if "reasoning.encrypted_content" in (body.get("include") or []) and re.match(
        "gpt-4|gpt-3", asked.model
    ):
        raise Refused("Encrypted content is not supported with this model.")
    waiting: list[str] = []
    before: dict[str, Any] = {}
    for number, item in enumerate(asked.messages):
        where = f"input[{number}]"
        followers = ("message", "function_call", "reasoning")
        if _kind(before) == "reasoning" and _kind(item) not in followers:
            raise Refused(_lonely(before))
        _item(item, waiting, where)
        if item.get("role") == before.get("role") == "user":
            raise Refused(f"{where}: two user messages in a row")
        before = item
    if _kind(before) == "reasoning":
        raise Refused(_lonely(before))
    if waiting:
        raise Refused(f"No tool output found for function call {waiting[0]}.")


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type", "message"))


def _item(item: dict[str, Any], waiting: list[str], where: str) -> None:
    """Check one item; `waiting` are the calls that have no output yet."""
    match _kind(item):
        case "reasoning":
            if not item.get("encrypted_content"):
                raise Refused(
                    f"Item with id '{item.get('id')}' not found. Items are not "
                    "persisted when `store` is set to false."
                )
        case "function_call":
            _arguments(item.get("arguments"), where)
            waiting.append(item["call_id"])
        case "function_call_output":
            if item.get("call_id") not in waiting:
                raise Refused(
                    "No tool call found for function call output with call_id "
                    f"{item.get('call_id')}."
                )
            _full_text(item.get("output"), where)
            waiting.remove(item["call_id"])
        case "message":
            for text in _item_texts(item):
                _full_text(text, where)
            if item.get("role") == "user" and waiting:
                raise Refused(f"No tool output found for function call {waiting[0]}.")
        case other:
            raise Refused(f"Invalid value: '{other}'. ({where}.type)")


def _lonely(item: dict[str, Any]) -> str:
    return (
        f"Item '{item.get('id')}' of type 'reasoning' was provided without its "
        "required following item."
    )


def _item_texts(item: dict[str, Any]) -> Iterator[object]:
    content = item.get("content")
    if isinstance(content, str) or not content:
        yield content
        return
    for part in content:
        yield part.get("text") or part.get("refusal")


# --- common to all


def _effort(effort: object) -> None:
    if effort is not None and effort not in _EFFORTS:
        raise Refused(f"Invalid value: '{effort}'. Supported values are: {_EFFORTS}")


def _full_text(text: object, where: str) -> None:
    if isinstance(text, list):
        for part in text:
            _full_text(part.get("text"), where)
        return
    if not isinstance(text, str) or not text:
        raise Refused(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise Refused(f"{where}: text content blocks must contain non-whitespace text")


def _arguments(written: object, where: str) -> None:
    try:
        read = json.loads(written) if isinstance(written, str) else None
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise Refused(f"{where}: arguments must be a JSON object in a string")
