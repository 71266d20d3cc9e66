"""A model server that costs next to nothing: canned answers on all four wires.

It runs in a process of its own (`python -m tests.bench.light`), so that its work is not
counted, and checks nothing. What it answers goes by the model's name:

- `turns-N`: N - 1 calls of `read_file`, then `finish`;
- `worker-N`: `write_file`, N - 2 calls of `read_file`, then `publish`;
- `crowd-N`: N calls of `create_work_node` at once, `wait` for all, then `finish`;
- `once`: `finish`, and a text ever after.

It notes when each request was whole, and how much CPU the process that asked had used
until then; `GET /notes` tells, `POST /watch` names the process and begins anew.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from typing import Any

from tests.bench.gauge import cpu_of
from tests.support.model_events import Said, events
from tests.support.model_replies import Call, Reply, call, say

WIRES = {
    "/v1/messages": "messages",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
}
RESULT = {
    "messages": b'"type":"tool_result"',
    "chat": b'"role":"tool"',
    "responses": b'"type":"function_call_output"',
    "gemini": b'"functionResponse"',
}
GENERATES = re.compile(r"/v1beta/models/([a-z]+)(?:-([0-9]+))?:streamGenerateContent")
MODEL = re.compile(rb'"model":\s?"([a-z]+)(?:-([0-9]+))?"')
MARK = re.compile(rb"mark-[a-z]+-[0-9]+")
USAGE = {"input": 50, "output": 20, "cache_read": 0, "cache_write": 0}


class Book:
    """What was asked, and when."""

    def __init__(self) -> None:
        self.pid = 0
        self.clear()

    def clear(self) -> None:
        self.notes: list[dict[str, Any]] = []
        self.marks: dict[str, float] = {}
        self.first: dict[str, bytes] = {}

    def note(self, wire: str, model: str, results: int, body: bytes) -> None:
        now = time.time()
        cpu = cpu_of(self.pid) if self.pid else 0.0
        note = {"at": now, "cpu": cpu, "model": model, "results": results}
        self.notes.append(note | {"bytes": len(body)})
        if model == "once":
            for found in MARK.findall(body):
                self.marks.setdefault(found.decode(), now)
        if results == 0:
            self.first.setdefault(f"{wire}/{model}", body)


def choose(kind: str, number: int, results: int) -> Reply:
    """The next answer; `results` is how many results of calls were sent along."""
    read = call("read_file", path="inputs/lines.txt", offset=results + 1, limit=1)
    finish = call("finish", summary="All lines were read.")
    match kind:
        case "turns":
            return Reply((read if results < number - 1 else finish,))
        case "worker":
            write = call("write_file", path="scratch/lines.md", content="One line.\n")
            publish = call("publish", summary="One line was read.")
            last = publish if results >= number - 1 else read
            return Reply((last if results else write,))
        case "crowd":
            return _crowd(number, results, finish)
    return Reply((finish,)) if results == 0 else say("Noted.")


def _crowd(number: int, results: int, finish: Call) -> Reply:
    names = [f"n-{index:03}" for index in range(number)]
    if results == 0:
        made = [call("create_work_node", id=n, task=f"Read as {n}.") for n in names]
        return Reply(tuple(made))
    if results == number:
        return Reply((call("wait", nodes=names),))
    return Reply((finish,))


def rendered(wire: str, model: str, results: int, reply: Reply, number: int) -> bytes:
    """A whole HTTP response with the answer as a stream of events."""
    parts = [
        Call(p.name, p.arguments, id=f"call_{number}_{i}") if isinstance(p, Call) else p
        for i, p in enumerate(reply.parts)
    ]
    said = Said(str(number), model, "", thinking=False, usage=USAGE)
    lines = []
    for name, data in events(wire, Reply(tuple(parts)), said):
        if name:
            lines.append(f"event: {name}\n")
        text = data if isinstance(data, str) else json.dumps(data)
        lines.append(f"data: {text}\n\n")
    body = "".join(lines).encode()
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Talk(asyncio.Protocol):
    """One connection."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._data = bytearray()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._data[:end]).decode("latin-1")
            found = re.search(r"content-length: *([0-9]+)", head, re.IGNORECASE)
            size = int(found[1]) if found else 0
            whole = end + 4 + size
            if len(self._data) < whole:
                return
            body = bytes(self._data[end + 4 : whole])
            del self._data[:whole]
            method, path, _ = head.split("\r\n", 1)[0].split(" ", 2)
            self._transport.write(self._answer(method, path, body))

    def _answer(self, method: str, path: str, body: bytes) -> bytes:
        book = self._book
        generates = GENERATES.match(path)
        wire = "gemini" if generates else WIRES.get(path)
        if wire is None:
            return _page(self._control(method, path, body))
        found = MODEL.search(body)
        kind, count = (found[1].decode(), int(found[2] or 0)) if found else ("", 0)
        if generates:
            kind, count = generates[1], int(generates[2] or 0)
        model = f"{kind}-{count}" if count else kind
        results = body.count(RESULT[wire])
        book.note(wire, model, results, body)
        reply = choose(kind, count, results)
        return rendered(wire, model, results, reply, len(book.notes))

    def _control(self, method: str, path: str, body: bytes) -> bytes:
        book = self._book
        if method == "POST" and path == "/watch":
            book.pid = int(body or b"0")
            book.clear()
            return b"{}"
        if path == "/notes":
            return json.dumps(book.notes).encode()
        if path == "/marks":
            return json.dumps(book.marks).encode()
        return book.first.get(path.removeprefix("/first/"), b"")


def _page(body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def serve() -> None:
    """Serve on a free port, which is printed, until standard input ends."""
    book = Book()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Talk(book), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
