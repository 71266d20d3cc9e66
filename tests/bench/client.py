"""Bare loops that make the same calls without a daemon, for comparison.

`python -m tests.bench.client KIND WIRE TURNS BASE FIRST`: KIND is `httpx` or `sdk`, and
FIRST a file with the daemon's own first body, so that prompt and tools are the same. It
prints a line once it is loaded, and begins when a line comes in.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from pathlib import Path
from typing import Any

RESULT = "Line 1: the lamp was lit at dusk.\n"
Body = dict[str, Any]


async def main() -> None:
    """One conversation, as long as it was asked for."""
    kind, wire, turns, base, first = sys.argv[1:]
    body = json.loads(Path(first).read_text("utf-8"))
    if kind == "httpx":
        ask = _by_httpx(wire, _url(wire, base, f"turns-{turns}"))
    else:
        ask = _by_sdk(wire, base)
    print(flush=True)
    sys.stdin.readline()
    for _ in range(int(turns)):
        _grow(wire, body, await ask(body))


def _grow(wire: str, body: Body, answer: Any) -> None:
    """Add the answer and its results, as a loop without records would."""
    if wire == "messages":
        body["messages"].append({"role": "assistant", "content": answer})
        results = [
            {"type": "tool_result", "tool_use_id": part["id"], "content": RESULT}
            for part in answer
            if part["type"] == "tool_use"
        ]
        body["messages"].append({"role": "user", "content": results})
    elif wire == "chat":
        body["messages"].append(answer)
        body["messages"] += [
            {"role": "tool", "tool_call_id": one["id"], "content": RESULT}
            for one in answer["tool_calls"]
        ]
    elif wire == "gemini":
        body["contents"].append(answer)
        results = [
            {
                "functionResponse": {
                    **part["functionCall"],
                    "response": {"output": RESULT},
                }
            }
            for part in answer["parts"]
            if "functionCall" in part
        ]
        for each in results:
            each["functionResponse"].pop("args", None)
        body["contents"].append({"role": "user", "parts": results})
    else:
        body["input"] += answer
        body["input"] += [
            {
                "type": "function_call_output",
                "call_id": item["call_id"],
                "output": RESULT,
            }
            for item in answer
            if item["type"] == "function_call"
        ]


# --- httpx alone


def _url(wire: str, base: str, model: str) -> str:
    if wire == "gemini":
        return f"{base}/v1beta/models/{model}:streamGenerateContent?alt=sse"
    path = {"messages": "messages", "chat": "chat/completions"}.get(wire, "responses")
    return f"{base}/v1/{path}"


def _by_httpx(wire: str, url: str) -> Any:
    import httpx  # noqa: PLC0415 - only what is measured is loaded

    client = httpx.AsyncClient(timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer none"}

    async def ask(body: Body) -> Any:
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        heard: list[Body] = []
        async with client.stream("POST", url, content=data, headers=headers) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: {"):
                    heard.append(json.loads(line[6:]))  # noqa: PERF401
        return _heard(wire, heard)

    return ask


def _heard(wire: str, events: list[Body]) -> Any:
    """The answer of a stream of events."""
    if wire == "responses":
        return events[-1]["response"]["output"]
    if wire == "messages":
        return _messages_heard(events)
    if wire == "gemini":
        found = [part for one in events for part in _gemini_parts(one)]
        return {"role": "model", "parts": found}
    calls: list[Body] = []
    for event in events:
        for choice in event["choices"]:
            for part in choice["delta"].get("tool_calls", ()):
                if "id" in part:
                    calls.append({k: v for k, v in part.items() if k != "index"})
                else:
                    more = part["function"]["arguments"]
                    calls[part["index"]]["function"]["arguments"] += more
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _gemini_parts(event: Body) -> list[Body]:
    return [
        part
        for each in event.get("candidates", ())
        for part in each.get("content", {}).get("parts", ())
    ]


def _messages_heard(events: list[Body]) -> Any:
    blocks: list[Body] = []
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "input": ""})
        elif event["type"] == "content_block_delta":
            blocks[event["index"]]["input"] += event["delta"]["partial_json"]
    return [{**block, "input": json.loads(block["input"])} for block in blocks]


# --- the SDKs as their pages show them


def _by_sdk(wire: str, base: str) -> Any:
    if wire == "messages":
        return _by_anthropic(base)
    import openai  # noqa: PLC0415

    client = openai.AsyncOpenAI(api_key="none", base_url=f"{base}/v1", max_retries=0)
    if wire == "chat":
        return _by_chat(client)

    async def ask(body: Body) -> Any:
        answer = None
        async for event in await client.responses.create(**_known(client, body)):
            if event.type == "response.completed":
                answer = event.response.output
        return [item.model_dump(exclude_unset=True) for item in answer or ()]

    def _known(client: Any, body: Body) -> Body:
        return _sorted(client.responses.create, body)

    return ask


def _by_chat(client: Any) -> Any:
    async def ask(body: Body) -> Any:
        create = client.chat.completions.create
        stream = await create(**_sorted(create, body))
        events = [event.model_dump(exclude_unset=True) async for event in stream]
        return _heard("chat", events)

    return ask


def _by_anthropic(base: str) -> Any:
    import anthropic  # noqa: PLC0415

    client = anthropic.AsyncAnthropic(api_key="none", base_url=base, max_retries=0)

    async def ask(body: Body) -> Any:
        create = client.messages.create
        stream = await create(**_sorted(create, body))
        events = [event.model_dump(exclude_unset=True) async for event in stream]
        return _heard("messages", events)

    return ask


def _sorted(create: Any, body: Body) -> Body:
    """Arguments that `create` names, and the others as it takes them."""
    named = inspect.signature(create).parameters
    known = {key: value for key, value in body.items() if key in named}
    rest = {key: value for key, value in body.items() if key not in named}
    return {**known, "extra_body": rest} if rest else known


if __name__ == "__main__":
    asyncio.run(main())
