"""A strict model server on loopback, for tests; it speaks all four wires.

Messages, Chat Completions, Responses and Gemini's generateContent.

```python
def script(asked: Asked) -> Scripted:
    if asked.who == "coordinator" and asked.turn == 1:
        return call("write_file", path="scratch/a.md", content="A")
    return say("done")

with ModelServer(script) as server:
    environment = server.environment()      # keys and base URLs for a daemon
    ...
assert server.refusals == []
```

It refuses with 400 what the real services refuse (`model_rules`), and whatever changes
an earlier part of a conversation: prompts only grow. A conversation carried into a new
session (another system prompt) is told apart by `new_sessions=True`.
A script may be a plain or an async function; it gets a `model_asked.Asked` and returns
what `model_replies` offers: say, call, lists of both, fail, hang, cut, page …
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self

from tests.support.model_asked import Asked, Called, Result
from tests.support.model_events import events, unstreamed
from tests.support.model_growth import Refused, before_last_answer, bond
from tests.support.model_replies import (
    Block,
    Call,
    Failure,
    Hang,
    Reply,
    Said,
    Scripted,
    broken_call,
    call,
    cut,
    error_event,
    fail,
    failure_body,
    hang,
    identified,
    page,
    say,
    spoiled,
    whole,
)
from tests.support.model_rules import check

if TYPE_CHECKING:
    from types import TracebackType

__all__ = [
    "Asked",
    "Block",
    "Call",
    "Called",
    "ModelServer",
    "Reply",
    "Result",
    "Script",
    "Scripted",
    "broken_call",
    "call",
    "cut",
    "error_event",
    "fail",
    "hang",
    "page",
    "say",
    "spoiled",
]

Script = Callable[[Asked], "Scripted | Awaitable[Scripted]"]
KEY = "test-key-0123456789"
_WIRES = {
    "/v1/messages": "messages",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
}
_GENERATES = re.compile(
    r"/v1beta/models/([^/:]+):(generateContent|streamGenerateContent)(?:\?alt=sse)?"
)
_BYTES_A_TOKEN = 4


class ModelServer:
    """The server; a context manager that runs it in a thread of its own.

    Args:
        script: decides every answer.
        key: the key that clients must send; None takes any.
        thinking: whether answers carry thinking, bound to the conversation so far.
        new_sessions: whether a conversation may go on under another system prompt.
        latency: seconds before every answer.
        window: tokens of request and longest answer together; None has no end.
        models: names that GET /v1/models lists.

    Attributes:
        requests: every request for an answer, in the order of arrival.
        refusals: why requests were refused with 400 or 401.
        most_at_once: how many requests were under way at the same time.
    """

    def __init__(
        self,
        script: Script,
        *,
        key: str | None = KEY,
        thinking: bool = True,
        new_sessions: bool = False,
        latency: float = 0.0,
        window: int | None = None,
        models: tuple[str, ...] = ("test-model",),
    ) -> None:
        self.script = script
        self.key = key
        self.thinking = thinking
        self.new_sessions = new_sessions
        self.latency = latency
        self.window = window
        self.models = models
        self.requests: list[Asked] = []
        self.refusals: list[str] = []
        self.errors: list[BaseException] = []
        self.most_at_once = 0
        self.connections = 0
        self._under_way = 0
        self._signed: set[str] = set()
        self._answered: dict[str, int] = {}
        self._openings: set[tuple[str, str, str]] = set()
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    # --- for tests

    @property
    def base_url(self) -> str:
        """For Anthropic's SDK: without /v1."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """For OpenAI's SDK."""
        return f"{self.base_url}/v1"

    def environment(self) -> dict[str, str]:
        """Keys and base URLs for all services."""
        return {
            "ANTHROPIC_API_KEY": self.key or KEY,
            "ANTHROPIC_BASE_URL": self.base_url,
            "OPENAI_API_KEY": self.key or KEY,
            "OPENAI_BASE_URL": self.openai_url,
            "GEMINI_API_KEY": self.key or KEY,
            "GEMINI_BASE_URL": self.base_url,
        }

    def asked_by(self, who: str) -> list[Asked]:
        """The requests of one speaker: coordinator, a worker's or a node's name."""
        return [one for one in self.requests if who in (one.who, one.node)]

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if error is None and self.errors:
            raise self.errors[0]

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)

    # --- the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(
                asyncio.gather(*self._tasks, return_exceptions=True)
            )
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """One request and its answer; False ends the connection."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            return await self._answer(writer, method, path, headers, raw)
        finally:
            self._under_way -= 1

    async def _answer(
        self,
        writer: asyncio.StreamWriter,
        method: str,
        path: str,
        headers: dict[str, str],
        raw: bytes,
    ) -> bool:
        if method == "GET" and path == "/v1/models":
            data = [{"id": name, "object": "model"} for name in self.models]
            return await _send(writer, 200, {"object": "list", "data": data})
        generates = _GENERATES.fullmatch(path)
        wire = "gemini" if generates else _WIRES.get(path)
        if method != "POST" or wire is None:
            failure = Failure(404, "not_found_error", f"no route {method} {path}")
            return await _send(writer, 404, failure_body("chat", failure))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        if generates and isinstance(body, dict):
            # The other wires name the model and the wish for a stream in the body.
            streams = generates[2] == "streamGenerateContent"
            body |= {"model": generates[1], "stream": streams}
        asked = Asked(len(self.requests) + 1, wire, path, headers, raw, body)
        self.requests.append(asked)
        failure = self._refusal(asked)
        if failure is not None:
            asked.refused = failure.message
            self.refusals.append(failure.message)
            return await _fail(writer, wire, failure)
        return await self._reply(writer, asked)

    def _refusal(self, asked: Asked) -> Failure | None:
        if not self._let_in(asked):
            if asked.wire == "gemini":
                return Failure(400, "INVALID_ARGUMENT", "API key not valid.")
            kind = "authentication_error"
            words = "invalid x-api-key" if asked.wire == "messages" else ""
            words = words or "Incorrect API key provided"
            return Failure(401, kind, words, "invalid_api_key")
        try:
            check(asked, signed=self._signed)
            self._check_growth(asked)
            self._check_size(asked)
        except Refused as why:
            kind = "INVALID_ARGUMENT" if asked.wire == "gemini" else ""
            return Failure(400, kind or "invalid_request_error", str(why))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            return Failure(400, "invalid_request_error", f"malformed: {error!r}")
        return None

    def _let_in(self, asked: Asked) -> bool:
        if self.key is None:
            return True
        if asked.wire == "gemini":
            return asked.headers.get("x-goog-api-key") == self.key
        if asked.wire == "messages" and "x-api-key" in asked.headers:
            return asked.headers["x-api-key"] == self.key
        return asked.headers.get("authorization") == f"Bearer {self.key}"

    def _check_size(self, asked: Asked) -> None:
        """Request and longest answer fit into the window together."""
        longest = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        answer = next((int(asked.body[key]) for key in longest if key in asked.body), 0)
        size = len(asked.raw) // _BYTES_A_TOKEN + answer
        if self.window is not None and size > self.window:
            raise Refused(f"prompt is too long: {size} tokens > {self.window} maximum")

    def _check_growth(self, asked: Asked) -> None:
        """An answer stands only behind exactly what it was given to."""
        opening = (asked.model, asked.wire, asked.first_user)
        before = before_last_answer(asked)
        known = opening in self._openings
        self._openings.add(opening)
        if before is None or not known or self.new_sessions:
            return
        if bond(asked, before) not in self._answered:
            raise Refused(
                f"prefix changed: what stands before messages.{len(before)} is not "
                "what was sent before; system, tools or an earlier message differs"
            )

    async def _reply(self, writer: asyncio.StreamWriter, asked: Asked) -> bool:
        try:
            answered = self.script(asked)
            if inspect.isawaitable(answered):
                answered = await answered
            chosen = whole(answered)
        except Exception as error:  # noqa: BLE001 - shown to the test at its end
            self.errors.append(error)
            words = f"the test's script failed: {error!r}"
            return await _fail(writer, asked.wire, Failure(400, message=words))
        if isinstance(chosen, Hang):
            await asyncio.sleep(chosen.seconds)
            return False
        if isinstance(chosen, Failure):
            return await _fail(writer, asked.wire, chosen)
        await asyncio.sleep(chosen.delay + self.latency)
        said = self._said(asked, chosen)
        reply = identified(chosen, asked.number)
        if not asked.body.get("stream"):
            return await _send_whole(writer, unstreamed(asked.wire, reply, said), reply)
        return await _stream(writer, events(asked.wire, reply, said), reply)

    def _said(self, asked: Asked, reply: Reply) -> Said:
        seal = bond(asked, asked.messages)
        self._signed.add(seal)
        size = len(asked.raw) // _BYTES_A_TOKEN
        before = before_last_answer(asked)
        read = self._answered.get(bond(asked, before), 0) if before else 0
        self._answered[seal] = size
        usage = {"input": 3, "output": 20, "cache_read": read}
        usage["cache_write"] = max(0, size - read)
        ident = f"{asked.number:05d}"
        # Models of an older kind do not think.
        thinks = self.thinking and not asked.model.startswith("gpt-4")
        return Said(ident, asked.model, seal, thinks, usage | (reply.usage or {}))


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: dict[str, Any] | str,
    headers: dict[str, str] | None = None,
    *,
    cut: bool = False,
) -> bool:
    page_ = isinstance(body, str)
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    kind = {"content-type": "text/html" if page_ else "application/json"}
    lines = [
        f"HTTP/1.1 {status} Status",
        f"content-length: {len(data)}",
        *(f"{name}: {value}" for name, value in (kind | (headers or {})).items()),
    ]
    data = data[: len(data) // 2] if cut else data
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    await writer.drain()
    return not cut


async def _fail(writer: asyncio.StreamWriter, wire: str, failure: Failure) -> bool:
    body: dict[str, Any] | str = failure.page or failure_body(wire, failure)
    return await _send(writer, failure.status, body, failure.headers)


async def _send_whole(
    writer: asyncio.StreamWriter, body: dict[str, Any], reply: Reply
) -> bool:
    """An answer in one piece; cut and spoiled ones come as half of it."""
    if reply.stall is not None:
        await asyncio.sleep(30)
    if reply.spoil is not None:
        half = json.dumps(body)
        json_ = {"content-type": "application/json"}
        return await _send(writer, 200, half[: len(half) // 2], json_)
    return await _send(writer, 200, body, cut=reply.cut is not None)


async def _stream(
    writer: asyncio.StreamWriter, made: list[tuple[str, Any]], reply: Reply
) -> bool:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
        b"transfer-encoding: chunked\r\n\r\n"
    )
    for number, (name, data) in enumerate(made):
        if number == reply.cut:
            await writer.drain()
            return False
        if number == reply.stall:
            await writer.drain()
            await asyncio.sleep(30)
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        if number == reply.spoil:
            text = text[: len(text) // 2]
        if writer.is_closing():
            return False  # nobody listens any more
        event = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
        chunk = event.encode()
        writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
