"""The SDKs' clients behind one shape: bytes in, an open response out.

The SDKs give keys, headers, base URLs and errors. Their typed path builds every
message anew on every call; so bodies go in as bytes and events come out as text. Once a
request of theirs was answered, its address and headers serve the next ones as they are.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2

CONNECT = 10.0
GENAI = "google.genai"


@dataclass(frozen=True, slots=True)
class Badly:
    """An answer with an error status."""

    status: int
    body: str
    headers: Mapping[str, str]


class Client(Protocol):
    """One SDK's client for one account. May not retry."""

    async def post(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """Post a body, and give back the response with its stream still unread.

        Raises:
            Exception: one of `unreached`: no answer came.
        """

    @property
    def unreached(self) -> tuple[type[Exception], ...]:
        """What is raised when the service cannot be reached or falls silent."""

    async def close(self) -> None:
        """Let go of the connections."""


def opened(
    sdk: str,
    *,
    key: str,
    base_url: str,
    idle: float,
    headers: Mapping[str, str],
    stream: bool = True,
) -> Client:
    """The client of an SDK; loads it, which takes seconds.

    Raises:
        ImportError: it is not there, or not one that this can use.
        ValueError, TypeError: it does not accept the account as it is set.
    """
    module = importlib.import_module(sdk)
    if sdk == GENAI:
        return GenaiClient(module, key, base_url, idle)
    wanted = "text/event-stream" if stream else "application/json"
    headers = {**headers, "Accept": wanted}
    return StainlessClient(module, key, base_url, idle, headers)


class StainlessClient:
    """The clients of openai and anthropic, which share their shape but no type."""

    def __init__(
        self,
        sdk: Any,
        key: str,
        base_url: str,
        idle: float,
        headers: Mapping[str, str],
    ) -> None:
        self._sdk = sdk
        self._httpx: Any = importlib.import_module("httpx2")
        more = {}
        make = getattr(sdk, "AsyncOpenAI", None)
        if sdk.__name__ == "anthropic":
            make, more = sdk.AsyncAnthropic, {"open_telemetry": {"traces": False}}
        self._timeout = self._httpx.Timeout(idle, connect=CONNECT)
        self._http: Any = sdk.DefaultAsyncHttpxClient(timeout=self._timeout)
        self._client: Any = make(  # type: ignore[misc]  # one of the two is there
            api_key=key,
            base_url=base_url,
            max_retries=0,
            timeout=self._timeout,
            default_headers=dict(headers),
            http_client=self._http,
            **more,
        )
        self._again = _Again(self._httpx, self._http, self._timeout)

    async def post(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """See `Client`."""
        if self._again.knows(path):
            return await self._again.post(path, body)
        got = await self._post_first(path, body)
        self._again.learn(path, got)
        return got

    async def _post_first(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """Post by way of the SDK."""
        try:
            response: httpx2.Response = await self._client.post(
                path,
                content=body,
                cast_to=self._httpx.Response,
                stream=True,
                stream_cls=self._sdk.AsyncStream,
            )
        except self._sdk.APIStatusError as error:
            got = error.response
            return Badly(got.status_code, got.text, got.headers)
        return response

    @property
    def unreached(self) -> tuple[type[Exception], ...]:
        """See `Client`."""
        return (self._sdk.APIConnectionError, self._httpx.RequestError)

    async def close(self) -> None:
        """See `Client`."""
        await self._client.close()


class _Again:
    """Posts to where an SDK has posted before, with its headers."""

    def __init__(self, httpx: Any, http: Any, timeout: httpx2.Timeout) -> None:
        self._httpx = httpx
        self._http = http
        self._extensions = {"timeout": timeout.as_dict()}
        self._asked: dict[str, tuple[httpx2.URL, httpx2.Headers]] = {}

    def knows(self, path: str) -> bool:
        """Whether a request to this path was answered."""
        return path in self._asked

    def learn(self, path: str, got: httpx2.Response | Badly) -> None:
        """Keep the address and the headers of a request that was answered."""
        if not isinstance(got, Badly) and not got.history:
            headers = self._httpx.Headers(_lasting(got.request.headers))
            self._asked[path] = (got.request.url, headers)

    async def post(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """See `Client`; the path is one that it knows."""
        url, headers = self._asked[path]
        request = self._httpx.Request(
            "POST",
            url,
            headers=headers,
            content=body,
            extensions=dict(self._extensions),
        )
        response: httpx2.Response = await self._http.send(request, stream=True)
        if response.is_success:
            return response
        try:
            await response.aread()
        finally:
            await response.aclose()
        return Badly(response.status_code, response.text, response.headers)


def _lasting(headers: httpx2.Headers) -> list[tuple[str, str]]:
    """A request's headers without those that belong to its one body or moment."""
    once = ("content-length", "transfer-encoding", "cookie", "idempotency-key")
    return [(name, value) for name, value in headers.items() if name not in once]


class GenaiClient:
    """The client of google-genai.

    It has no public way to post a body as it is; its own requests are made of the two
    steps used here, which tests with the real package hold on to.
    """

    def __init__(self, sdk: Any, key: str, base_url: str, idle: float) -> None:
        self._httpx: Any = importlib.import_module("httpx2")
        self._errors = importlib.import_module("google.genai.errors")
        self._timeout = self._httpx.Timeout(idle, connect=CONNECT)
        self._http: Any = self._httpx.AsyncClient(timeout=self._timeout)
        client = sdk.Client(
            vertexai=False,
            api_key=key,
            http_options=sdk.types.HttpOptions(
                base_url=base_url,
                api_version="v1beta",
                httpx_async_client=self._http,
            ),
        )
        self._api: Any = client._api_client  # noqa: SLF001 - see the class
        for step in ("_build_request", "_async_request_once"):
            if not hasattr(self._api, step):
                msg = f"google-genai {sdk.__version__} lacks {step}; take 3.x"
                raise ImportError(msg)
        self._again = _Again(self._httpx, self._http, self._timeout)

    async def post(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """See `Client`."""
        if self._again.knows(path):
            return await self._again.post(path, body)
        got = await self._post_first(path, body)
        self._again.learn(path, got)
        return got

    async def _post_first(self, path: str, body: bytes) -> httpx2.Response | Badly:
        """Post by way of the SDK."""
        request = self._api._build_request("post", path, {})  # noqa: SLF001
        request.data, request.timeout = body, self._timeout
        try:
            made = await self._api._async_request_once(  # noqa: SLF001
                request, stream=True, implicit_retry=False
            )
        except self._errors.APIError as error:
            got = error.response
            return Badly(error.code, got.text, got.headers)
        response: httpx2.Response = made.response_stream
        return response

    @property
    def unreached(self) -> tuple[type[Exception], ...]:
        """See `Client`."""
        return (self._httpx.TransportError,)

    async def close(self) -> None:
        """See `Client`."""
        await self._http.aclose()
