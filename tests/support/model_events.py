"""How each wire of the model server says a reply: as a stream, or as one body.

Gemini's is in `model_gemini`.
"""

from __future__ import annotations

from typing import Any

from tests.support.model_gemini import gemini_events, joined_chunks
from tests.support.model_replies import (
    Block,
    Call,
    Event,
    Reply,
    Said,
    Say,
    halves,
    stop_of,
    written,
)


def events(wire: str, reply: Reply, said: Said) -> list[Event]:
    """The events of a reply on one wire."""
    made = {
        "messages": messages_events,
        "chat": chat_events,
        "responses": responses_events,
        "gemini": gemini_events,
    }[wire](reply, said)
    if reply.error is not None:
        kind, message = reply.error
        # What ends a stream well does not come.
        made = made[: len(made) // 2]
        error = {"type": kind, "code": kind, "message": message}
        if wire == "messages":
            made.append(("error", {"type": "error", "error": error}))
        elif wire in ("chat", "gemini"):
            made.append(("", {"error": error}))
        else:
            made.append(("error", error | {"type": "error"}))
    return made


def messages_events(reply: Reply, said: Said) -> list[Event]:
    usage = said.usage
    counted = {
        "input_tokens": usage["input"],
        "cache_read_input_tokens": usage["cache_read"],
        "cache_creation_input_tokens": usage["cache_write"],
        "output_tokens": 1,
    }
    message = {
        "id": f"msg_{said.id}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }
    made: list[Event] = [
        ("message_start", {"type": "message_start", "message": message})
    ]
    made.append(("ping", {"type": "ping"}))
    for index, (start, deltas) in enumerate(_messages_blocks(reply, said)):
        begun = {"type": "content_block_start", "index": index, "content_block": start}
        made.append(("content_block_start", begun))
        for delta in deltas:
            more = {"type": "content_block_delta", "index": index, "delta": delta}
            made.append(("content_block_delta", more))
        ended = {"type": "content_block_stop", "index": index}
        made.append(("content_block_stop", ended))
    delta = {"stop_reason": stop_of(reply), "stop_sequence": None}
    total = {"output_tokens": usage["output"]}
    made.append(
        ("message_delta", {"type": "message_delta", "delta": delta, "usage": total})
    )
    made.append(("message_stop", {"type": "message_stop"}))
    return made


def _messages_blocks(
    reply: Reply, said: Said
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if said.thinking:
        deltas = [{"type": "thinking_delta", "thinking": "Let me "}]
        deltas.append({"type": "thinking_delta", "thinking": "think."})
        deltas.append({"type": "signature_delta", "signature": said.bond})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    for part in reply.parts:
        match part:
            case Say(text):
                deltas = [{"type": "text_delta", "text": t} for t in halves(text)]
                blocks.append(({"type": "text", "text": ""}, deltas))
            case Call():
                start = {"type": "tool_use", "id": part.id, "name": part.name}
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in ["", *halves(written(part))]
                ]
                blocks.append((start | {"input": {}}, deltas))
            case Block(value):
                blocks.append((value, []))
    return blocks


def chat_events(reply: Reply, said: Said) -> list[Event]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return "", _chunk(said) | {"choices": [choice]}

    made = [chunk({"role": "assistant", "content": ""})]
    if said.thinking:
        made += [chunk({"reasoning_content": t}) for t in ("Let me ", "think.")]
    number = 0
    for part in reply.parts:
        match part:
            case Say(text):
                made += [chunk({"content": piece}) for piece in halves(text)]
            case Call():
                function = {"name": part.name, "arguments": ""}
                head = {"index": number, "id": part.id, "type": "function"}
                made.append(chunk({"tool_calls": [head | {"function": function}]}))
                for piece in halves(written(part)):
                    more = {"index": number, "function": {"arguments": piece}}
                    made.append(chunk({"tool_calls": [more]}))
                number += 1
            case Block(value):
                made.append(chunk(value))
    made.append(chunk({}, _finish(reply)))
    made.append(
        ("", _chunk(said) | {"choices": [], "usage": _openai_usage(said, chat=True)})
    )
    made.append(("", "[DONE]"))
    return made


def _finish(reply: Reply) -> str:
    return {
        "end_turn": "stop",
        "tool_use": "tool_calls",
        "max_tokens": "length",
        "refusal": "content_filter",
    }.get(stop_of(reply), stop_of(reply))


def _chunk(said: Said) -> dict[str, Any]:
    return {
        "id": f"chatcmpl_{said.id}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": said.model,
    }


def _openai_usage(said: Said, *, chat: bool) -> dict[str, Any]:
    usage = said.usage
    entry = usage["input"] + usage["cache_read"] + usage["cache_write"]
    details = {"cached_tokens": usage["cache_read"]}
    details["cache_write_tokens"] = usage["cache_write"]
    total: dict[str, Any] = {"total_tokens": entry + usage["output"]}
    if "cost" in usage:
        total["cost"] = usage["cost"]
    if chat:
        return {
            "prompt_tokens": entry,
            "completion_tokens": usage["output"],
            "prompt_tokens_details": details,
        } | total
    return {
        "input_tokens": entry,
        "input_tokens_details": details,
        "output_tokens": usage["output"],
        "output_tokens_details": {"reasoning_tokens": 0},
    } | total


def responses_events(reply: Reply, said: Said) -> list[Event]:
    response: dict[str, Any] = {
        "id": f"resp_{said.id}",
        "object": "response",
        "status": "in_progress",
        "model": said.model,
        "output": [],
    }
    made: list[Event] = []

    def add(kind: str, **data: Any) -> None:
        made.append((kind, {"type": kind, "sequence_number": len(made)} | data))

    add("response.created", response=response)
    items = _responses_items(reply, said)
    for index, item in enumerate(items):
        add(
            "response.output_item.added",
            output_index=index,
            item={"type": item["type"]},
        )
        if item["type"] == "message":
            for piece in halves(item["content"][0].get("text", "")):
                add("response.output_text.delta", output_index=index, delta=piece)
        add("response.output_item.done", output_index=index, item=item)
    stop = stop_of(reply)
    cut_short = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(
        stop
    )
    ended = response | {"output": items, "usage": _openai_usage(said, chat=False)}
    if cut_short:
        why = {"status": "incomplete", "incomplete_details": {"reason": cut_short}}
        add("response.incomplete", response=ended | why)
    else:
        add("response.completed", response=ended | {"status": "completed"})
    return made


def _responses_items(reply: Reply, said: Said) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if said.thinking:
        reasoning = {"type": "reasoning", "id": f"rs_{said.id}", "summary": []}
        items.append(reasoning | {"encrypted_content": said.bond})
    for index, part in enumerate(reply.parts):
        match part:
            case Say(text):
                content = {"type": "output_text", "text": text, "annotations": []}
                items.append(
                    {
                        "type": "message",
                        "id": f"msg_{said.id}_{index}",
                        "role": "assistant",
                        "status": "completed",
                        "content": [content],
                    }
                )
            case Call():
                items.append(
                    {
                        "type": "function_call",
                        "id": f"fc_{said.id}_{index}",
                        "call_id": part.id,
                        "name": part.name,
                        "arguments": written(part),
                        "status": "completed",
                    }
                )
            case Block(value):
                items.append(value)
    return items


def unstreamed(wire: str, reply: Reply, said: Said) -> dict[str, Any]:
    """The same answer as one body, for clients that do not stream."""
    if reply.error is not None:
        kind, message = reply.error
        return {"error": {"type": kind, "code": kind, "message": message}}
    if wire == "gemini":
        return joined_chunks(gemini_events(reply, said))
    if wire == "responses":
        return dict(responses_events(reply, said)[-1][1]["response"])  # type: ignore[index]
    if wire == "chat":
        return _whole_completion(reply, said)
    return _whole_message(reply, said)


def _whole_completion(reply: Reply, said: Said) -> dict[str, Any]:
    text = "".join(part.text for part in reply.parts if isinstance(part, Say))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text or None,
        "refusal": None,
        "annotations": [],
    }
    if said.thinking:
        message["reasoning_content"] = "Let me think."
    for part in reply.parts:
        if isinstance(part, Block):
            message |= part.value
    calls = [part for part in reply.parts if isinstance(part, Call)]
    if calls:
        message["tool_calls"] = [
            {
                "id": part.id,
                "type": "function",
                "function": {"name": part.name, "arguments": written(part)},
            }
            for part in calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    body = _chunk(said) | {"object": "chat.completion", "choices": [choice]}
    return body | {"usage": _openai_usage(said, chat=True)}


def _whole_message(reply: Reply, said: Said) -> dict[str, Any]:
    message: dict[str, Any] = messages_events(reply, said)[0][1]["message"]  # type: ignore[index]
    content = []
    calls = [part for part in reply.parts if isinstance(part, Call)]
    for start, deltas in _messages_blocks(reply, said):
        block = dict(start)
        for delta in deltas:
            for key, value in delta.items():
                if key not in ("type", "partial_json"):
                    block[key] = block.get(key, "") + value
        if block["type"] == "tool_use":
            called = calls.pop(0)
            # What is no object stands there as the model wrote it.
            block["input"] = called.broken or called.arguments
        content.append(block)
    message["usage"] |= {"output_tokens": said.usage["output"]}
    return message | {"content": content, "stop_reason": stop_of(reply)}
