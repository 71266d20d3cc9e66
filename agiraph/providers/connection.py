"""One account at a service: bodies go out through its client, events come back."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agiraph.providers import clients, faults
from agiraph.providers.sse import Decoder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx2

    from agiraph.providers.wire import Hearing

IDLE = 120.0
LOCAL_IDLE = 900.0  # a local model reads a long prompt before its first word
WHOLE_IDLE = 600.0  # an answer in one piece is silent until it is all there
LONGEST_CALL = 3600.0
DRAIN = 1.0
LARGEST_PAGE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Account:
    """What it takes to talk to a service.

    Attributes:
        provider: its name in models' names.
        sdk: the package: anthropic, openai or google.genai.
        key_env: the variable that holds the key; "" where none is needed.
        idle: seconds of silence after which an answer counts as broken.
        stream: whether answers are asked for piece by piece.
    """

    provider: str
    sdk: str
    base_url: str
    key: str = field(default="", repr=False)
    key_env: str = ""
    idle: float = IDLE
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: bool = True

    def service(self, model: str) -> faults.Service:
        """Who is to be named when it fails."""
        return faults.Service(
            self.provider, self.base_url, self.key_env, self.key, model
        )


class Connection:
    """Posts bodies to one account and lets an ear hear the answer."""

    def __init__(self, account: Account) -> None:
        self.account = account
        # Loaded late; a name of the module at the top would load it at once.
        self._httpx: Any = None
        self._client: clients.Client | None = None
        self._opening = asyncio.Lock()

    async def converse(
        self,
        path: str,
        body: bytes,
        hearing: Hearing,
        service: faults.Service,
        *,
        begun: Callable[[], None] | None = None,
    ) -> Mapping[str, str]:
        """Post the body and hear the whole answer; the answer's headers.

        Args:
            begun: told once the answer has begun.

        Raises:
            ProviderFault: the service failed, or the answer broke off.
        """
        client = self._client or await self._opened(service)
        try:
            async with asyncio.timeout(LONGEST_CALL):
                response = await client.post(path, body)
                if isinstance(response, clients.Badly):
                    raise faults.of_status(
                        service, response.status, response.body, response.headers
                    )
                if begun is not None:
                    begun()
                try:
                    await self._hear(response, hearing, service)
                finally:
                    await response.aclose()
                return response.headers
        except (*client.unreached, self._httpx.TransportError) as error:
            raise faults.of_connection(service, error) from error
        except TimeoutError:
            minutes = LONGEST_CALL / 60
            raise faults.broken(service, f"took over {minutes:.0f} min") from None

    async def close(self) -> None:
        """Let go of the client's connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _opened(self, service: faults.Service) -> clients.Client:
        async with self._opening:
            if self._client is None:
                self._client = await self._first(service)
            return self._client

    async def _first(self, service: faults.Service) -> clients.Client:
        account = self.account
        try:
            # Seconds of work: in a thread, so that the daemon goes on.
            self._httpx = await asyncio.to_thread(importlib.import_module, "httpx2")
            return await asyncio.to_thread(
                clients.opened,
                account.sdk,
                key=account.key or "none",
                base_url=account.base_url,
                idle=account.idle,
                headers=account.headers,
                stream=account.stream,
            )
        except ImportError as error:
            raise faults.missing_package(account.sdk, str(error)) from error
        except (ValueError, TypeError, self._httpx.InvalidURL) as error:
            raise faults.of_setting(service, str(error)) from error

    async def _hear(
        self, response: httpx2.Response, hearing: Hearing, service: faults.Service
    ) -> None:
        content_type = response.headers.get("content-type", "")
        if not content_type.startswith("text/event-stream"):
            await self._hear_whole(response, hearing, service)
            return
        decoder = Decoder()
        chunks = response.aiter_bytes()
        async for chunk in chunks:
            closed = False
            for event in decoder.feed(chunk):
                closed = hearing.hear(event)
                if closed:
                    break
            if closed:
                # Read to the end, so that the connection can be used again.
                with contextlib.suppress(TimeoutError, self._httpx.TransportError):
                    async with asyncio.timeout(DRAIN):
                        async for _ in chunks:
                            pass
                return
        for event in decoder.close():
            hearing.hear(event)

    async def _hear_whole(
        self, response: httpx2.Response, hearing: Hearing, service: faults.Service
    ) -> None:
        """Take what came in one piece: the answer where none was to be streamed."""
        content_type = response.headers.get("content-type", "")
        if self.account.stream or "json" not in content_type:
            page = await _start_of(response)
            raise faults.not_a_stream(service, content_type, page)
        body = (await response.aread()).decode("utf-8", "replace")
        if not hearing.whole(body):
            raise faults.not_a_stream(service, content_type, body[:LARGEST_PAGE])


async def _start_of(response: httpx2.Response) -> str:
    page = bytearray()
    async for chunk in response.aiter_bytes():
        page += chunk
        if len(page) > LARGEST_PAGE:
            break
    return page.decode("utf-8", "replace")


class Connections:
    """The connections of this process: one for each account."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str, str, bool], Connection] = {}

    def to(self, account: Account) -> Connection:
        """The one connection for a package, key, base URL and manner."""
        key = (account.sdk, account.key, account.base_url, account.stream)
        if key not in self._open:
            self._open[key] = Connection(replace(account))
        return self._open[key]

    async def close(self) -> None:
        """Close them all."""
        for connection in self._open.values():
            await connection.close()
        self._open.clear()
