"""One session with one tool server; the only module that knows the SDK."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from pydantic import ValidationError

from agiraph.errors import ToolRefused
from agiraph.model.server import ServerReply, ServerTool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.client import IncomingMessage
    from mcp.client._transport import TransportStreams

    from agiraph.model.json import JsonObject
    from agiraph.model.server import ServerSettings

STARTS_WITHIN: Final = 60.0  # a first `npx` fetches its package
ANSWERS_WITHIN: Final = 300.0
LISTENS_WITHIN: Final = 20.0
LOG_MOST: Final = 1024 * 1024  # bytes of a log, before it is begun anew
LOG_LOOK: Final = 60.0
SETTLES: Final = 1.0  # a server that changes its tools one by one is asked once
_MOST_PAGES: Final = 20
_MOST_TOOLS: Final = 200
_CLOSED: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_NO_NEWS: Final = (ListenNotSupportedError, SubscriptionLost, MCPError)
_FAULTS: Final = (OSError, MCPError, ValidationError, httpx2.TransportError)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server runs.

    Attributes:
        folder: the agent's home, an absolute path.
        log: takes what it writes to its standard error.
        marks: variables by which it is found again after a crash.
        hide: puts the variables of its entry in the place of their values.
    """

    folder: str
    log: str
    marks: Mapping[str, str]
    version: str
    hide: Callable[[str], str]


@dataclass(slots=True)
class _Signs:
    """What a server lets us know without being asked.

    Attributes:
        log: takes what it says to nobody; it is kept short.
    """

    log: str
    gone: anyio.Event = field(default_factory=anyio.Event)
    other_tools: anyio.Event = field(default_factory=anyio.Event)

    async def heard(self, message: IncomingMessage) -> None:
        """A notice of the server."""
        if isinstance(message, types.ToolListChangedNotification):
            self.other_tools.set()
        await anyio.lowlevel.checkpoint()

    async def come(self) -> None:
        """Until there is one of the two."""
        async with anyio.create_task_group() as group:

            async def one(event: anyio.Event) -> None:
                await event.wait()
                group.cancel_scope.cancel()

            group.start_soon(self._keep_short)
            group.start_soon(one, self.gone)
            group.start_soon(one, self.other_tools)

    async def _keep_short(self) -> None:
        """Begin a long log anew, as long as the server runs; it is written at its end.

        A server over HTTP has none.
        """
        while True:
            with suppress(OSError):
                if os.stat(self.log).st_size > LOG_MOST:
                    os.truncate(self.log, 0)
            await anyio.sleep(LOG_LOOK)


class Session:
    """A server that runs, and its tools as they were when it was asked last."""

    def __init__(self, name: str, client: Client, signs: _Signs, place: Place) -> None:
        self._name = name
        self._hide = place.hide
        self._client = client
        self._signs = signs
        self._gone = signs.gone
        self.tools: tuple[ServerTool, ...] = ()

    async def list_tools(self) -> None:
        """Ask which tools there are."""
        found: list[ServerTool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            found += [self._tool(tool) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        found.sort(key=lambda tool: tool.name)
        self.tools = tuple(found[:_MOST_TOOLS])

    def _tool(self, tool: types.Tool) -> ServerTool:
        # Through JSON, so that it is equal to what a file of it holds.
        shape = json.loads(json.dumps(tool.input_schema))
        return ServerTool(self._name, tool.name, tool.description or "", shape)

    async def call(self, tool: str, arguments: JsonObject) -> ServerReply:
        """Call a tool.

        Raises:
            ToolRefused: the server refused it, took too long, or has ended.
        """
        try:
            result = await self._client.call_tool(
                tool, dict(arguments), read_timeout_seconds=ANSWERS_WITHIN
            )
        except (
            *_FAULTS,
            anyio.ClosedResourceError,
            anyio.BrokenResourceError,
        ) as error:
            # The pipe's end and the call's fault come in either order.
            with anyio.move_on_after(0.2):
                await self._gone.wait()
            if isinstance(error, MCPError) and not self._gone.is_set():
                words = self._hide(_words(error))
                raise ToolRefused(f"{self._name} refused it: {words}") from None
            self._gone.set()
            raise ToolRefused(
                f"The tool server {self._name} ended while it was called; whether the "
                "call was done is unknown. It is being started again: look before you "
                "repeat it."
            ) from None
        return _reply(result)

    async def changed(self) -> bool:
        """Wait until its tools are others; False once the server has closed its end."""
        before = self.tools
        while self.tools == before:
            await self._signs.come()
            if not self._gone.is_set():
                with anyio.move_on_after(SETTLES):
                    await self._gone.wait()
            if self._gone.is_set():
                return False
            self._signs.other_tools = anyio.Event()
            try:
                await self.list_tools()
            except (*_FAULTS, *_CLOSED):
                continue  # it says so again, or has ended
        return True


def _reply(result: types.CallToolResult) -> ServerReply:
    texts: list[str] = []
    files: list[tuple[str, bytes]] = []
    for part in result.content:
        match part:
            case types.TextContent():
                texts.append(part.text)
            case types.ImageContent() | types.AudioContent():
                files.append((part.mime_type, _bytes(part.data)))
            case types.EmbeddedResource(resource=types.TextResourceContents() as inner):
                texts.append(f"[{inner.uri}]\n{inner.text}")
            case types.EmbeddedResource(resource=types.BlobResourceContents() as inner):
                files.append((inner.mime_type or "", _bytes(inner.blob)))
            case types.EmbeddedResource():
                texts.append(f"[{part.resource.uri}]")
            case types.ResourceLink():
                texts.append(f"[{part.name}: {part.uri}]")
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return ServerReply("\n".join(texts), bool(result.is_error), tuple(files))


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data)
    except ValueError:
        return data.encode()


@asynccontextmanager
async def opened(settings: ServerSettings, place: Place) -> AsyncIterator[Session]:
    """A session, from start to end.

    Args:
        settings: with every variable filled in.

    Raises:
        ToolRefused: it did not start, or did not speak the protocol.
    """
    try:
        async with AsyncExitStack() as stack:
            yield await _started(settings, place, stack)
    except ExceptionGroup as group:
        # The SDK's tasks wrap whatever happens, also to whoever holds the session.
        inner = _innermost(group)
        if isinstance(inner, (*_FAULTS, *_CLOSED)):
            words = place.hide(_words(inner))
            raise ToolRefused(f"its connection broke: {words}") from None
        raise inner from None


async def _started(
    settings: ServerSettings, place: Place, stack: AsyncExitStack
) -> Session:
    signs = _Signs(place.log)
    info = types.Implementation(name="agiraph", version=place.version)
    try:
        transport = await _transport(settings, place, signs.gone, stack)
        client = Client(
            transport, client_info=info, cache=None, message_handler=signs.heard
        )
        async with asyncio.timeout(STARTS_WITHIN):
            await stack.enter_async_context(client)
            await _listen(client, stack)
            session = Session(settings.name, client, signs, place)
            await session.list_tools()
    except TimeoutError:
        raise ToolRefused(f"it said nothing for {STARTS_WITHIN:g} s") from None
    except (*_FAULTS, ValueError, ExceptionGroup) as error:
        words = f"it did not start: {place.hide(_words(error))}"
        raise ToolRefused(f"{words}; what it said itself is in {place.log}") from None
    return session


async def _listen(client: Client, stack: AsyncExitStack) -> None:
    """Have a server of the newer protocol tell when its tools change."""
    able = client.server_capabilities.tools
    if able is None or not able.list_changed:
        return
    with anyio.move_on_after(LISTENS_WITHIN), suppress(*_NO_NEWS):
        await stack.enter_async_context(client.listen(tools_list_changed=True))


async def _transport(
    settings: ServerSettings, place: Place, gone: anyio.Event, stack: AsyncExitStack
) -> AbstractAsyncContextManager[TransportStreams]:
    if settings.url:
        http = httpx2.AsyncClient(headers=dict(settings.headers), trust_env=False)
        await stack.enter_async_context(http)
        return streamable_http_client(settings.url, http_client=http)
    # A short line now and then; whatever it says is a stranger's and no log of ours.
    with suppress(FileNotFoundError):
        os.truncate(place.log, 0)
    log = stack.enter_context(open(place.log, "a", encoding="utf-8"))  # noqa: ASYNC230, SIM115
    parameters = StdioServerParameters(
        command=settings.command,
        args=list(settings.args),
        env={**dict(settings.env), **place.marks},
        cwd=place.folder,
    )
    return _noticed(stdio_client(parameters, errlog=log), gone)


@asynccontextmanager
async def _noticed(
    inner: AbstractAsyncContextManager[TransportStreams], gone: anyio.Event
) -> AsyncIterator[TransportStreams]:
    """The same streams; `gone` is set when the server has closed its end."""
    async with inner as (read, write):
        # What the SDK sends through it is its own affair.
        send, receive = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            async with send:
                async for message in read:
                    await send.send(message)
            gone.set()

        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            try:
                yield receive, write
            finally:
                group.cancel_scope.cancel()


def _innermost(group: ExceptionGroup) -> Exception:
    found: Exception = group
    while isinstance(found, ExceptionGroup):
        found = found.exceptions[0]
    return found


def _words(error: Exception) -> str:
    """What an error says, that of a group by its first."""
    inner = _innermost(error) if isinstance(error, ExceptionGroup) else error
    return " ".join(str(inner).split())[:300] or type(inner).__name__
