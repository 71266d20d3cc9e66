"""A hundred workers at a service that allows twenty calls a second.

Through the daemon's gate, and beside it each worker by the SDK with its own retries.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.clock import SystemClock
from agiraph.errors import ProviderFault
from agiraph.model.agent import ProviderSettings, TreeSettings
from agiraph.providers.models import ModelCatalog
from tests.bench.gauge import Figure
from tests.support.talk import Talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tests.bench.house import Plan

RATE = 20.0
WORKERS = 100
EACH = 5
AIM_REQUESTS = 1.3
AIM_TIME = 1.1
_ANSWER = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"},
    ],
}
_USAGE = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}


@dataclass
class Limited:
    """The service: a bucket of twenty calls that fills up by twenty a second."""

    requests: int = 0
    refusals: int = 0
    tokens: float = RATE
    at: float = 0.0

    def answer(self, *, streams: bool) -> bytes:
        now = time.monotonic()
        self.tokens = min(RATE, self.tokens + (now - self.at) * RATE)
        self.at = now
        self.requests += 1
        if self.tokens < 1:
            self.refusals += 1
            body = b'{"error":{"message":"too many","type":"rate_limit_error"}}'
            return _page("429 Too Many Requests", body, "retry-after: 1\r\n")
        self.tokens -= 1
        if not streams:
            return _page("200 OK", json.dumps(_whole()).encode())
        lines = [_ANSWER, {**_ANSWER, "choices": [], "usage": _USAGE}]
        text = "".join(f"data: {json.dumps(line)}\n\n" for line in lines)
        return _page("200 OK", f"{text}data: [DONE]\n\n".encode(), stream=True)


def _whole() -> dict[str, object]:
    message = {"role": "assistant", "content": "ok"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    kind = {"object": "chat.completion", "choices": [choice]}
    return {**_ANSWER, **kind, "usage": _USAGE}


def _page(status: str, body: bytes, head: str = "", *, stream: bool = False) -> bytes:
    kind = "text/event-stream" if stream else "application/json"
    lines = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n{head}"
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Limited, str]]:
    """The service on a free port of loopback."""
    service = Limited(at=time.monotonic())

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                size = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                body = await reader.readexactly(int(size))
                writer.write(service.answer(streams=b'"stream":true' in body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
        except asyncio.CancelledError:
            return  # the server ends, and its connections with it

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield service, f"http://127.0.0.1:{port}/v1"
    finally:
        server.close()


def measure(plan: Plan) -> list[Figure]:
    """Both ways, one after the other, each at a service of its own."""
    each = 2 if plan.quick else EACH
    ours = asyncio.run(_run(_by_gate, each))
    plan.say("through the gate")
    sdk = asyncio.run(_run(_by_sdk, each))
    plan.say("by the SDK's own retries")
    calls = WORKERS * each
    what = f"{WORKERS} workers, {calls} calls at {RATE:g} a second"
    # The first twenty are there at once; the others come by twenty a second.
    ideal = (calls - RATE) / RATE
    note = f"the SDK's own retries: {sdk.lost} given up, {sdk.wall:.1f} s"
    good = max(calls - ours.lost, 1)
    return [
        Figure("gate-lost", f"{what}, given up", ours.lost, "calls", None, note),
        Figure(
            "gate-requests",
            f"{what}, requests a success",
            ours.requests / good,
            "",
            AIM_REQUESTS,
            f"the SDK's own retries: {sdk.requests / max(calls - sdk.lost, 1):.2f}",
        ),
        Figure(
            "gate-time",
            f"{what}, time of the ideal",
            ours.wall / ideal,
            "",
            AIM_TIME,
            f"{ours.wall:.1f} s of {ideal:.1f} s",
        ),
    ]


@dataclass
class Outcome:
    """What came of it."""

    lost: int
    requests: int
    wall: float


async def _run(
    asked: Callable[[Limited, str, int], Awaitable[tuple[int, float]]], each: int
) -> Outcome:
    async with serving() as (service, base):
        lost, began = await asked(service, base, each)
        return Outcome(lost, service.requests - 1, time.monotonic() - began)


async def _by_gate(service: Limited, base: str, each: int) -> tuple[int, float]:
    settings = TreeSettings(providers=(ProviderSettings("lab", "openai", base),))
    models = ModelCatalog(settings=settings, environment={}, clock=SystemClock())

    async def ask(worker: int) -> bool:
        try:
            await Talk(models.provider("lab/m"), "lab/m").ask(f"I am {worker}.")
        except ProviderFault:
            return False
        return True

    try:
        return await _lost(service, ask, each)
    finally:
        await models.close()


async def _by_sdk(service: Limited, base: str, each: int) -> tuple[int, float]:
    import openai  # noqa: PLC0415

    async with openai.AsyncOpenAI(api_key="none", base_url=base) as client:

        async def ask(worker: int) -> bool:
            said = {"role": "user", "content": f"I am {worker}."}
            try:
                await client.chat.completions.create(model="m", messages=[said])  # type: ignore[list-item]  # as its page has it
            except openai.APIError:
                return False
            return True

        return await _lost(service, ask, each)


async def _lost(
    service: Limited, ask: Callable[[int], Awaitable[bool]], each: int
) -> tuple[int, float]:
    """How many calls of all workers came to nothing, and when they began."""
    assert await ask(0)  # the first call loads the SDK
    service.tokens = RATE
    began = time.monotonic()

    async def worker(number: int) -> int:
        good = [await ask(number) for _ in range(each)]
        return good.count(False)

    return sum(await asyncio.gather(*(worker(n) for n in range(WORKERS)))), began
