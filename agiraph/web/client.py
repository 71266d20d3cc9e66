"""A client that connects only to numbers that were judged; loaded when first used.

A name is resolved once for a request, every number that it leads to is judged, and the
connection goes to one of them by its number: a name that means something else a moment
later gains nothing. The name itself stays in the Host header and, under TLS, in what
the certificate is checked against.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Final

import certifi
import httpx

from agiraph.core.webaddress import is_loopback, why_closed
from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.web.resolving import Resolve

CONNECT: Final = 10.0
_TRIED: Final = 3
_DEFAULT: Final = {"http": 80, "https": 443}


class PinnedTransport(httpx.AsyncBaseTransport):
    """Sends each request to a judged number of its host."""

    def __init__(
        self, inner: httpx.AsyncBaseTransport, resolve: Resolve, *, loopback: bool
    ) -> None:
        """Send by `inner`, which may not resolve names, redirect, or use a proxy.

        Args:
            inner: what connects.
            resolve: the numbers of a name.
            loopback: whether this machine itself may be named, for tests.
        """
        self._inner = inner
        self._resolve = resolve
        self._loopback = loopback

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Connect to the first judged number that answers.

        Raises:
            ToolRefused: the name, or one of its numbers, is not public.
        """
        numbers = await self._judged(request.url)
        *others, last = numbers[:_TRIED]
        for number in others:
            try:
                return await self._sent(request, number)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._sent(request, last)

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._inner.aclose()

    async def _judged(self, url: httpx.URL) -> Sequence[str]:
        host, port = url.host, url.port or _DEFAULT[url.scheme]
        numbers = [host]
        if not _is_number(host):
            try:
                numbers = list(await self._resolve(host, port))
            except (OSError, UnicodeError) as error:
                raise httpx.ConnectError(f"the name {host} leads nowhere") from error
        if not numbers:
            raise httpx.ConnectError(f"the name {host} leads nowhere")
        if self._loopback and is_loopback(host):
            return [each for each in numbers if is_loopback(each)]
        for number in numbers:
            if why := why_closed(number):
                raise ToolRefused(f"{url} is not fetched: {host} leads to {why}.")
        return numbers

    async def _sent(self, request: httpx.Request, number: str) -> httpx.Response:
        host, extensions = request.url.host, dict(request.extensions)
        if not _is_number(host):
            extensions["sni_hostname"] = host
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=number),
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        return await self._inner.handle_async_request(pinned)


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


def trust(ca_file: str = "") -> ssl.SSLContext:
    """Whom we believe to be who they say they are.

    Args:
        ca_file: certificates of a person's own choice (SSL_CERT_FILE); empty is the
            common ones.
    """
    return ssl.create_default_context(cafile=ca_file or certifi.where())


def client(
    context: ssl.SSLContext, resolve: Resolve, *, loopback: bool, agent: str
) -> httpx.AsyncClient:
    """A client for one fetch: no proxy, no password file, no cookies kept, no reuse.

    A connection is never used again: it goes to a number, and two names may share one.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    inner = httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits)
    return httpx.AsyncClient(
        transport=PinnedTransport(inner, resolve, loopback=loopback),
        trust_env=False,
        follow_redirects=False,
        timeout=httpx.Timeout(30.0, connect=CONNECT),
        headers={"User-Agent": agent, "Accept-Encoding": "gzip, deflate"},
    )
