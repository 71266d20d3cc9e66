"""Loopback servers that take notices: a webhook and a mail server, obedient or not."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class Hook:
    """What came; `status` is answered, 0 never answers."""

    port: int = 0
    status: int = 200
    bodies: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@dataclass
class Post:
    """What mail came; `refuses` names the command that is refused, `hangs` one too."""

    port: int = 0
    refuses: str = ""
    hangs: str = ""
    mails: list[str] = field(default_factory=list)


@asynccontextmanager
async def hook(status: int = 200) -> AsyncIterator[Hook]:
    found = Hook(status=status)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.lower().splitlines()
        sizes = [x for x in lines if x.startswith("content-length:")]
        body = await reader.readexactly(int(sizes[0].split(":")[1]))
        found.heads.append(head)
        found.bodies.append(json.loads(body))
        if not found.status:
            await reader.read()  # until the other side gives up
        else:
            said = f"HTTP/1.1 {found.status} X\r\ncontent-length: 0\r\n\r\n"
            writer.write(said.encode())
            await writer.drain()
        writer.close()

    async with _served(serve) as found.port:
        yield found


@asynccontextmanager
async def post(**more: str) -> AsyncIterator[Post]:
    found = Post(**more)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := (await reader.readline()).decode():
            word = line[:4].strip().upper()
            if word == found.hangs:
                await reader.read()
                break
            if word == found.refuses:
                writer.write(b"550 5.7.1 not from you\r\n")
            elif word == "DATA":
                writer.write(b"354 go on\r\n")
                mail = await reader.readuntil(b"\r\n.\r\n")
                found.mails.append(mail.decode())
                writer.write(b"250 taken\r\n")
            elif word == "QUIT":
                writer.write(b"221 bye\r\n")
                break
            else:
                writer.write(b"250 fine\r\n")
            await writer.drain()
        writer.close()

    async with _served(serve) as found.port:
        yield found


@asynccontextmanager
async def _served(serve: Any) -> AsyncIterator[int]:
    open_: set[asyncio.Task[None]] = set()

    async def safely(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_.add(task)
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            open_.discard(task)

    server = await asyncio.start_server(safely, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        left = list(open_)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)
        await asyncio.sleep(0)
        await server.wait_closed()
