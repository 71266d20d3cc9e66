"""One page of the web, by judged addresses, within bounds."""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agiraph.core.hosts import permission_for
from agiraph.core.robots import LONGEST as LONGEST_ROBOTS
from agiraph.core.robots import may_fetch
from agiraph.core.webaddress import next_address
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permission
from agiraph.model.web import WebPage
from agiraph.web.body import decoded, has_mark, read_body
from agiraph.web.markdown import title_of, to_markdown
from agiraph.web.resolving import by_system

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    import httpx

    from agiraph.core.webaddress import WebAddress
    from agiraph.model.agent import Permissions
    from agiraph.ports import Clock
    from agiraph.web.cache import PageCache
    from agiraph.web.resolving import Resolve

SECONDS: Final = 30.0
LARGEST: Final = 5 * 1024 * 1024
REDIRECTS: Final = 5
ROBOT: Final = "agiraph"
ROBOTS_HOLD: Final = 3600.0
_MOST_ROBOTS: Final = 500
_MOVED: Final = frozenset({301, 302, 303, 307, 308})
_ACCEPT: Final = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXT: Final = frozenset(
    {
        "application/json", "application/ld+json", "application/xml",
        "application/javascript", "application/x-javascript", "application/yaml",
        "application/x-yaml", "application/toml", "application/x-ndjson",
        "application/rss+xml", "application/atom+xml", "application/x-sh",
        "application/sql", "image/svg+xml",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Answer:
    """A body with its headers, from the web or from the cache."""

    headers: Mapping[str, str]
    body: bytes


class Fetcher:
    """Fetches pages. Never runs anything of theirs, keeps no cookies."""

    def __init__(
        self,
        cache: PageCache,
        clock: Clock,
        *,
        version: str,
        ca_file: str = "",
        loopback: bool = False,
        resolve: Resolve = by_system,
    ) -> None:
        """Nothing is opened yet.

        Args:
            cache: pages kept on this machine.
            version: of the program, which it tells its hosts.
            ca_file: certificates to trust in place of the common ones.
            loopback: whether this machine's own servers may be named, for tests.
            resolve: the numbers of a name.
        """
        self._cache = cache
        self._clock = clock
        self._agent = f"{ROBOT}/{version}"
        self._ca_file = ca_file
        self.loopback = loopback
        self._resolve = resolve
        # The modules are loaded late, in a thread: a second on a slow machine.
        self._made: Any = None
        self._httpx: Any = None
        self._context: ssl.SSLContext | None = None
        self._robots: dict[str, tuple[float, str | None]] = {}

    async def fetch(
        self, address: WebAddress, permissions: Permissions, *, named: bool
    ) -> WebPage:
        """The page at an address.

        Args:
            address: judged; its host is allowed.
            permissions: for the hosts that it may lead to.
            named: whether a person named it: robots.txt is for robots on their own.

        Raises:
            ToolRefused: it could not be had; says why.
        """
        await self._load()
        try:
            async with asyncio.timeout(SECONDS), self._client() as client:
                visit = _Visit(self, client, permissions, address.host, named)
                url, answer = await visit.page(address)
        except TimeoutError:
            raise ToolRefused(
                f"{address.url} took longer than {SECONDS:g} s."
            ) from None
        except (self._httpx.TransportError, self._httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            raise ToolRefused(f"{address.url} could not be fetched: {why}.") from None
        return await asyncio.to_thread(_as_page, url, answer)

    async def _load(self) -> None:
        if self._made is None:
            self._httpx = await asyncio.to_thread(importlib.import_module, "httpx")
            made = await asyncio.to_thread(
                importlib.import_module, "agiraph.web.client"
            )
            self._context = await asyncio.to_thread(made.trust, self._ca_file)
            self._made = made

    def _client(self) -> httpx.AsyncClient:
        made: httpx.AsyncClient = self._made.client(
            self._context, self._resolve, loopback=self.loopback, agent=self._agent
        )
        return made

    def known_robots(self, origin: str) -> tuple[bool, str | None]:
        """Whether an origin's robots.txt is known, and what it says."""
        until, text = self._robots.get(origin, (0.0, None))
        return until > self._clock.monotonic(), text

    def keep_robots(self, origin: str, text: str | None) -> None:
        """Remember an origin's robots.txt for a while; None is "cannot be read"."""
        if len(self._robots) >= _MOST_ROBOTS:
            self._robots.clear()
        hold = ROBOTS_HOLD if text is not None else SECONDS
        self._robots[origin] = (self._clock.monotonic() + hold, text)

    @property
    def cache(self) -> PageCache:
        """The pages kept on this machine."""
        return self._cache


@dataclass(frozen=True, slots=True)
class _Visit:
    """One fetch, from the address that was asked for to where it leads."""

    fetcher: Fetcher
    client: httpx.AsyncClient
    permissions: Permissions
    host: str
    named: bool

    async def page(self, address: WebAddress) -> tuple[str, _Answer]:
        """The page where the redirects end."""
        for _ in range(REDIRECTS + 1):
            if not self.named:
                await self._ask_robots(address)
            found = await self._visit(address)
            if isinstance(found, _Answer):
                return address.url, found
            address = next_address(address, found, loopback=self.fetcher.loopback)
            self._judge(address)
        raise ToolRefused(f"{address.url}: more than {REDIRECTS} redirects.")

    def _judge(self, address: WebAddress) -> None:
        """Refuses a redirect to a host that the person has not allowed."""
        if address.host == self.host:
            return
        permission = permission_for(address.host, self.permissions)
        if permission is Permission.DENY:
            raise ToolRefused(
                f"It leads to {address.url}, and the person does not allow that host "
                "(permissions: web)."
            )
        if permission is Permission.ASK:
            raise ToolRefused(
                f"It leads to {address.url}, and the person wants to be asked about "
                "that host: fetch that address itself."
            )

    async def _visit(self, address: WebAddress) -> _Answer | str:
        """What an address answers: a page, or where it leads."""
        cache = self.fetcher.cache
        kept = await asyncio.to_thread(cache.find, address.url)
        headers = {"Accept": _ACCEPT} | (kept.question() if kept else {})
        async with self.client.stream("GET", address.url, headers=headers) as response:
            if response.status_code in _MOVED and "location" in response.headers:
                return str(response.headers["location"])
            if response.status_code == 304 and kept is not None:
                return _Answer({"content-type": kept.content_type}, kept.body)
            if response.status_code != 200:
                raise ToolRefused(_bad_status(address, response))
            body = await read_body(response, most=LARGEST)
            found = {name.lower(): value for name, value in response.headers.items()}
        await cache.keep(address.url, found, body)
        return _Answer(found, body)

    async def _ask_robots(self, address: WebAddress) -> None:
        origin = address.url.split("/", 3)
        place = "/".join(origin[:3])
        known, text = self.fetcher.known_robots(place)
        if not known:
            text = await self._robots(f"{place}/robots.txt", address)
            self.fetcher.keep_robots(place, text)
        if text is None:
            raise ToolRefused(
                f"{address.url} is not fetched: the site's robots.txt cannot be read "
                "now, so it is not known whether robots are welcome."
            )
        if not may_fetch(text, ROBOT, "/" + origin[3]):
            raise ToolRefused(
                f"{address.url} is not fetched: the site's robots.txt asks robots to "
                "stay away from it. A person may name the address in the goal or in a "
                "message, and then it is fetched for them."
            )

    async def _robots(self, url: str, address: WebAddress) -> str | None:
        """The text of robots.txt; empty where there is none; None for "not now"."""
        here = next_address(address, url, loopback=self.fetcher.loopback)
        for _ in range(REDIRECTS + 1):
            async with self.client.stream("GET", here.url) as response:
                code = response.status_code
                if code in _MOVED and "location" in response.headers:
                    to = response.headers["location"]
                    here = next_address(here, to, loopback=self.fetcher.loopback)
                    self._judge(here)
                    continue
                if code >= 500:
                    return None
                if code != 200:
                    return ""
                return decoded(await read_body(response, most=LONGEST_ROBOTS), "")
        return ""


def _bad_status(address: WebAddress, response: httpx.Response) -> str:
    words = f"{address.url} answered {response.status_code} {response.reason_phrase}."
    after = response.headers.get("retry-after", "")
    if after.isdigit():
        words += f" It asks to be left alone for {int(after)} s."
    return words.replace(" .", ".")


def _as_page(url: str, answer: _Answer) -> WebPage:
    """An answer by its type: HTML as Markdown, text as it is, the rest as data."""
    content_type = answer.headers.get("content-type", "")
    kind = content_type.partition(";")[0].strip().lower()
    kind = kind or _guessed(answer.body)
    if kind in _HTML:
        page = decoded(answer.body, content_type)
        return WebPage(url, kind, title_of(page), to_markdown(page, url))
    plain = (
        kind.startswith("text/") or kind in _TEXT or kind.endswith(("+json", "+xml"))
    )
    if plain and (b"\0" not in answer.body[:2048] or has_mark(answer.body)):
        return WebPage(url, kind, text=decoded(answer.body, content_type))
    return WebPage(url, kind, data=answer.body)


def _guessed(body: bytes) -> str:
    """What a body is that came without a type."""
    head = body[:512].lstrip().lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "application/octet-stream" if b"\0" in body[:2048] else "text/plain"
