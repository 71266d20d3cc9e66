"""The strict server is itself tested: each refusal by a request that deserves it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.model_server import KEY, ModelServer, call, say

if TYPE_CHECKING:
    from collections.abc import Callable

PATHS = {
    "messages": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-3.8-flash:generateContent",
}
TEXT = {"type": "text", "text": "hi"}
USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "seen"}
FUNCTION = {"name": "look", "arguments": "{}"}
TOOL_CALL = {"id": "t1", "type": "function", "function": FUNCTION}
ITEM_CALL = {"type": "function_call", "call_id": "t1"} | FUNCTION
ITEM_OUTPUT = {"type": "function_call_output", "call_id": "t1", "output": "seen"}
UNSIGNED = {"thoughtSignature": "skip_thought_signature_validator"}
PART_CALL = {"functionCall": {"id": "t1", "name": "look", "args": {}}} | UNSIGNED
ANSWERED = {"id": "t1", "name": "look", "response": {"output": "seen"}}
PART_ANSWER = {"functionResponse": ANSWERED}
PART = {"text": "hi"}
SCHEMA = {"type": "object", "properties": {}}


def good(wire: str) -> dict[str, Any]:
    """A request with one call and its result, which the server accepts."""
    if wire == "messages":
        return {
            "model": "m",
            "max_tokens": 9,
            "system": [copy.deepcopy(TEXT)],
            "tools": [{"name": "look", "description": "", "input_schema": SCHEMA}],
            "messages": [
                {"role": "user", "content": [TEXT]},
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [RESULT, TEXT]},
            ],
        }
    if wire == "chat":
        function = {"name": "look", "description": "", "parameters": SCHEMA}
        return {
            "model": "m",
            "tools": [{"type": "function", "function": function}],
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]},
                {"role": "tool", "tool_call_id": "t1", "content": "seen"},
                {"role": "user", "content": "and?"},
            ],
        }
    if wire == "gemini":
        declared = {"name": "look", "description": "", "parametersJsonSchema": SCHEMA}
        return {
            "systemInstruction": {"parts": [copy.deepcopy(PART)]},
            "tools": [{"functionDeclarations": [declared]}],
            "contents": [
                {"role": "user", "parts": [PART]},
                {"role": "model", "parts": [PART_CALL]},
                {"role": "user", "parts": [PART_ANSWER, PART]},
            ],
            "generationConfig": {"maxOutputTokens": 9},
        }
    tool = {"type": "function", "name": "look", "parameters": SCHEMA}
    return {
        "model": "m",
        "instructions": "be good",
        "tools": [tool],
        "input": [{"role": "user", "content": "hi"}, ITEM_CALL, ITEM_OUTPUT],
        "store": False,
    }


def post(server: ModelServer, wire: str, body: Any, **headers: str) -> httpx.Response:
    sent = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
    sent["x-goog-api-key"] = KEY
    return httpx.post(
        server.base_url + PATHS[wire], json=body, headers=sent | headers, timeout=5
    )


def set_(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A fault: the value at a dotted path is another one, or (None) taken away."""

    def change(body: dict[str, Any]) -> None:
        *above, last = path.split(".")
        at: Any = body
        for step in above:
            at = at[int(step)] if isinstance(at, list) else at[step]
        key: Any = int(last) if isinstance(at, list) else last
        if value is None:
            del at[key]
        elif isinstance(at, list) and key == len(at):
            at.append(value)
        else:
            at[key] = value

    return change


def marks(body: dict[str, Any]) -> None:
    mark = {"type": "ephemeral"}
    body["cache_control"] = mark
    body["system"] = [TEXT | {"cache_control": mark} for _ in range(4)]


FAULTS = [
    ("messages", set_("colour", "red"), "Extra inputs are not permitted"),
    ("messages", set_("max_tokens", None), "max_tokens: Field required"),
    ("messages", set_("model", None), "model: Field required"),
    ("messages", set_("messages", []), "at least one message"),
    ("messages", set_("system.0.text", ""), "must be non-empty"),
    ("messages", set_("messages.0.content.0", TEXT | {"text": ""}), "non-empty"),
    ("messages", set_("messages.0.content.0", TEXT | {"text": " "}), "non-whitespace"),
    ("messages", set_("messages.0.content", []), "non-empty content"),
    ("messages", set_("messages.2.content", [TEXT]), "without `tool_result`"),
    ("messages", set_("messages.2", None), "without `tool_result`"),
    ("messages", set_("messages.1.content", [TEXT]), "unexpected `tool_use_id`"),
    ("messages", set_("messages.2.content", [TEXT, RESULT]), "must come first"),
    ("messages", set_("messages.2.content", [RESULT, RESULT]), "single result"),
    (
        "messages",
        set_("messages.2.content.0", RESULT | {"content": ""}),
        "empty tool result",
    ),
    ("messages", set_("messages.1.content", [USE, USE]), "must be unique"),
    ("messages", set_("messages.1.content.0", USE | {"input": "{}"}), "dictionary"),
    ("messages", set_("messages.1.content.0", USE | {"id": "a b"}), "pattern"),
    (
        "messages",
        set_("messages.3", {"role": "user", "content": [TEXT]}),
        "must alternate",
    ),
    ("messages", set_("messages.0.role", "assistant"), "must use the user role"),
    ("messages", set_("messages.0.role", "system"), "must use the user role"),
    ("messages", marks, "maximum of 4 blocks with cache_control"),
    ("messages", set_("output_config", {"effort": "huge"}), "no effort"),
    ("messages", set_("tools.0.input_schema", {}), "must be 'object'"),
    ("messages", set_("tools.0.name", "look at"), "does not match"),
    (
        "messages",
        set_("messages.1.content.0", {"type": "thinking", "signature": "forged"}),
        "`t",
    ),
    ("chat", set_("colour", "red"), "Unrecognized request argument"),
    ("chat", set_("messages.3", None), "did not have response messages"),
    ("chat", set_("messages.2", None), "must be a response to a preceeding"),
    (
        "chat",
        set_("messages.5", {"role": "user", "content": "x"}),
        "two user messages",
    ),
    ("chat", set_("messages.1.content", ""), "non-empty"),
    ("chat", set_("messages.3.content", ""), "non-empty"),
    ("chat", set_("messages.1.role", "system"), "may only come first"),
    ("chat", set_("messages.1.role", "robot"), "is not one of the roles"),
    ("chat", set_("messages.2.tool_calls", []), "too short"),
    ("chat", set_("messages.2.tool_calls", [TOOL_CALL] * 2), "unique"),
    (
        "chat",
        set_("messages.2.tool_calls.0.function.arguments", "{"),
        "must be a JSON object",
    ),
    (
        "chat",
        set_("messages.5", {"role": "assistant", "content": "x"}),
        "may not be the assistant's",
    ),
    ("chat", set_("reasoning_effort", "huge"), "Supported values"),
    ("chat", set_("tools.1", {"type": "custom"}), "only function tools"),
    ("responses", set_("colour", "red"), "Unknown parameter"),
    ("responses", set_("input.2", None), "No tool output found"),
    ("responses", set_("input.1", None), "No tool call found"),
    ("responses", set_("input.0.content", ""), "non-empty"),
    ("responses", set_("input.1.arguments", "no"), "must be a JSON object"),
    ("responses", set_("input.0.type", "picture"), "Invalid value"),
    ("responses", set_("input.0.content", [{"text": ""}]), "non-empty"),
    (
        "responses",
        set_("input.1", {"type": "reasoning", "id": "rs_1"}),
        "Items are not persisted",
    ),
    (
        "responses",
        set_("input.3", {"type": "reasoning", "id": "r", "encrypted_content": "x"}),
        "without its required following item",
    ),
    ("gemini", set_("colour", "red"), "Unknown name"),
    ("gemini", set_("generationConfig.max_tokens", 9), "Unknown name"),
    ("gemini", set_("contents", []), "at least one message"),
    ("gemini", set_("contents.0.role", "assistant"), "valid role"),
    ("gemini", set_("contents.0.parts", []), "must not be empty"),
    ("gemini", set_("contents.0.parts.0", {"text": " "}), "empty text part"),
    ("gemini", set_("contents.0.parts.0", {"words": "hi"}), "Unknown name"),
    ("gemini", set_("contents.0.parts.0", {"thought": True}), "one initialized"),
    (
        "gemini",
        set_("contents.1.parts.0.thoughtSignature", None),
        "missing a thought_signature",
    ),
    (
        "gemini",
        set_("contents.1.parts.0.thoughtSignature", "forged"),
        "Invalid `signature`",
    ),
    ("gemini", set_("contents.1.parts.0.functionCall.args", "{}"), "not an object"),
    (
        "gemini",
        set_("contents.2.parts.0.functionResponse.response", "x"),
        "not an object",
    ),
    ("gemini", set_("contents.2.parts", [PART]), "number of function response"),
    ("gemini", set_("contents.1.parts", [PART]), "number of function response"),
    (
        "gemini",
        set_("contents.2.parts", [PART_ANSWER, PART_ANSWER]),
        "number of function response",
    ),
    (
        "gemini",
        set_("contents.2.parts.0.functionResponse.name", "see"),
        "does not match the function call",
    ),
    (
        "gemini",
        set_("contents.2.parts.0.functionResponse.id", "t2"),
        "does not match the function call",
    ),
    (
        "gemini",
        set_("contents.3", {"role": "user", "parts": [PART]}),
        "must alternate",
    ),
    ("gemini", set_("contents.2", None), "end with a user role"),
    (
        "gemini",
        set_("tools.0.functionDeclarations.0.name", "1 look"),
        "Invalid function name",
    ),
    (
        "gemini",
        set_("tools.0.functionDeclarations.0.parametersJsonSchema", {}),
        "must be object",
    ),
]


@pytest.mark.parametrize("wire", sorted(PATHS))
def test_a_good_request_is_answered(wire: str) -> None:
    with ModelServer(lambda _: say("hello")) as server:
        answer = post(server, wire, good(wire))
    assert answer.status_code == 200
    assert "hello" in answer.text
    assert server.refusals == []


@pytest.mark.parametrize(("wire", "fault", "words"), FAULTS)
def test_what_the_service_refuses_is_refused(
    wire: str, fault: Callable[[dict[str, Any]], None], words: str
) -> None:
    body = copy.deepcopy(good(wire))
    fault(body)
    with ModelServer(lambda _: "never") as server:
        answer = post(server, wire, body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert len(server.refusals) == 1
    assert server.requests[0].refused == server.refusals[0]


@pytest.mark.parametrize("wire", sorted(PATHS))
def test_a_wrong_key_is_refused(wire: str) -> None:
    with ModelServer(lambda _: "never") as server:
        wrong = {"authorization": "Bearer wrong", "x-goog-api-key": "wrong"}
        answer = post(server, wire, good(wire), **wrong)
    assert answer.status_code == (400 if wire == "gemini" else 401)
    assert server.refusals


def test_without_the_version_header_messages_are_refused() -> None:
    with ModelServer(lambda _: "never") as server:
        headers = {"authorization": f"Bearer {KEY}"}
        url = server.base_url + PATHS["messages"]
        answer = httpx.post(url, json=good("messages"), headers=headers)
    assert "anthropic-version" in answer.text


LISTS = {"messages": "messages", "chat": "messages", "responses": "input"}
LISTS["gemini"] = "contents"
CHANGES = {
    "messages": [
        set_("system.0.text", "be bad"),
        set_("tools.0.description", "other"),
        set_("messages.2.content.0.content", "another"),
    ],
    "chat": [
        set_("messages.0.content", "be bad"),
        set_("tools.0.function.description", "other"),
        set_("messages.3.content", "another"),
    ],
    "responses": [
        set_("instructions", "be bad"),
        set_("tools.0.description", "other"),
        set_("input.2.output", "another"),
    ],
    "gemini": [
        set_("systemInstruction.parts.0.text", "be bad"),
        set_("tools.0.functionDeclarations.0.description", "other"),
        set_("contents.2.parts.0.functionResponse.response.output", "another"),
    ],
}


def grown(wire: str, *, thinking: bool = False) -> dict[str, Any]:
    """The good request, answered once and asked again, as a client does it."""
    body = good(wire)
    answers: dict[str, Any] = {"role": "assistant", "content": "hello"}
    if wire == "messages":
        answers["content"] = [TEXT | {"text": "hello"}]
    if wire == "gemini":
        more = [{"role": "model", "parts": [{"text": "hello"}]}]
        body["contents"] += [*more, {"role": "user", "parts": [PART]}]
        return body
    body[LISTS[wire]] += [answers, {"role": "user", "content": "go on"}]
    return body


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("wire", sorted(PATHS))
def test_a_changed_earlier_part_is_refused(wire: str, number: int) -> None:
    body = copy.deepcopy(grown(wire))
    CHANGES[wire][number](body)
    with ModelServer(lambda _: "hello") as server:
        assert post(server, wire, good(wire)).status_code == 200
        assert post(server, wire, grown(wire)).status_code == 200
        answer = post(server, wire, body)
    assert answer.status_code == 400
    assert "prefix changed" in answer.json()["error"]["message"]


def test_thinking_is_bound_to_what_came_before_it() -> None:
    body = good("messages")
    with ModelServer(lambda _: "hello", new_sessions=True) as server:
        answered = post(server, "messages", body).json()["content"]
        body["messages"] += [{"role": "assistant", "content": answered}]
        body["messages"] += [{"role": "user", "content": "go on"}]
        assert post(server, "messages", body).status_code == 200
        body["system"][0]["text"] = "be bad"
        changed = post(server, "messages", body)
        body["messages"][3]["content"][0]["signature"] = "forged"
        forged = post(server, "messages", body)
    assert "bound to a different conversation" in changed.text
    assert "Invalid `signature`" in forged.text


def test_a_conversation_may_go_on_in_a_new_session_where_a_test_says_so() -> None:
    body = copy.deepcopy(grown("chat"))
    body["messages"][0]["content"] = "another soul"
    with ModelServer(lambda _: "hello", new_sessions=True) as server:
        post(server, "chat", good("chat"))
        assert post(server, "chat", body).status_code == 200


def test_a_script_sees_who_asks_and_what_was_said() -> None:
    seen = []

    def script(asked):
        seen.append((asked.who, asked.node, asked.turn, asked.last_user, asked.result))
        return call("look")

    body = good("chat")
    body["messages"][0]["content"] = "## Who you are\n\nYou are Ada Lovelace, a poet."
    body["messages"][1]["content"] = "# Your node: verse\nhi"
    with ModelServer(script, new_sessions=True) as server:
        post(server, "chat", body)
        body["messages"][0]["content"] = "# You are the coordinator"
        post(server, "chat", body)
    assert seen == [
        ("Ada Lovelace", "verse", 2, "and?", "seen"),
        ("coordinator", None, 2, "and?", "seen"),
    ]


def test_a_failing_script_fails_the_test() -> None:
    def script(_: object) -> str:
        raise KeyError("oh")

    with pytest.raises(KeyError), ModelServer(script) as server:
        assert post(server, "chat", good("chat")).status_code == 400
