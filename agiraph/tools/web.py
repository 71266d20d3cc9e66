"""The tools that reach the web; what they bring is fenced, and stays so in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from agiraph.core.approval import Need, permitted, shown
from agiraph.core.given import flag_of, text_of
from agiraph.core.hosts import permission_for
from agiraph.core.limits import WEB_SHOWN
from agiraph.core.named import is_named
from agiraph.core.paging import SAMPLE, binary_kind
from agiraph.core.scopes import reading
from agiraph.core.untrusted import fence
from agiraph.core.webaddress import read_address
from agiraph.errors import ToolRefused
from agiraph.model.tool import ToolResult
from agiraph.tools.schemas import web as schemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.core.scopes import Place
    from agiraph.core.webaddress import WebAddress
    from agiraph.model.agent import Permissions, SearchSettings
    from agiraph.model.json import JsonObject
    from agiraph.model.web import Hit, WebPage
    from agiraph.ports import Intent, Pen, Seat

_LONGEST_QUERY: Final = 400
_ENDINGS: Final = {
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/json": "json",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
}


class Pages(Protocol):
    """Fetches pages of the web. May not go where an address was not judged."""

    loopback: bool

    async def fetch(
        self, address: WebAddress, permissions: Permissions, *, named: bool
    ) -> WebPage:
        """The page at an address.

        Raises:
            ToolRefused: it could not be had; says why.
        """


class Search(Protocol):
    """Searches the web."""

    async def search(
        self, query: str, settings: SearchSettings
    ) -> tuple[str, tuple[Hit, ...]]:
        """Who answered, and up to five results; raises ToolRefused."""


class WebSearch:
    """`web_search`: five results."""

    spec = schemas.WEB_SEARCH.spec
    effect = schemas.WEB_SEARCH.effect
    who = schemas.WEB_SEARCH.who

    def __init__(self, search: Search, settings: Callable[[], SearchSettings]) -> None:
        """Searches as the settings say that are in force at the call."""
        self._search = search
        self._settings = settings

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the permission and the query."""
        query = " ".join(text_of(arguments, "query").split())
        if not query:
            raise ToolRefused("`query` is empty.")
        if len(query) > _LONGEST_QUERY:
            raise ToolRefused(
                f"`query` has {len(query)} characters, {_LONGEST_QUERY} is the most; a "
                "few words find more."
            )
        words = shown("web_search", "the search service", {"query": query})
        asked = permitted(seat.permissions.web, Need("web", ("search",), words))
        return {"query": query, **asked}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Search."""
        query = text_of(intent, "query")
        by, hits = await self._search.search(query, self._settings())
        if not hits:
            return ToolResult(f"[{by} found nothing for: {query}; try other words]")
        listed = "\n".join(
            f"{number}. {hit.title}\n   {hit.url}\n   {hit.snippet}"
            for number, hit in enumerate(hits, 1)
        )
        return ToolResult(fence(listed, f"search by {by}", seed=seat.step))


class WebFetch:
    """`web_fetch`: a page, as Markdown or as a file."""

    spec = schemas.WEB_FETCH.spec
    effect = schemas.WEB_FETCH.effect
    who = schemas.WEB_FETCH.who

    def __init__(self, pages: Pages, pen: Pen) -> None:
        """Fetched by `pages`; the whole of a page goes into `outputs/` by `pen`."""
        self._pages = pages
        self._pen = pen

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Judge the address and the permission; note whether a person named it."""
        address = self._address(arguments)
        permission = permission_for(address.host, seat.permissions)
        words = shown("web_fetch", address.host, {"url": address.url})
        asked = permitted(permission, Need("web", (address.host,), words))
        named = is_named(address, seat.said)
        return {"url": address.url, "named": named, **asked}

    def _address(self, arguments: JsonObject) -> WebAddress:
        url = text_of(arguments, "url")
        return read_address(url, loopback=self._pages.loopback)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Fetch it, keep the whole, show the beginning."""
        address = self._address(intent)
        named = flag_of(intent, "named")
        page = await self._pages.fetch(address, seat.permissions, named=named)
        if page.text is None:
            return ToolResult(await self._described(page, seat))
        return ToolResult(await self._shown(page, page.text, seat))

    async def _shown(self, page: WebPage, text: str, seat: Seat) -> str:
        title = f"# {page.title}\n\n" if page.title else ""
        whole = title + text
        head = _head(whole)
        kept = await self._keep(whole, page, seat)
        shown = fence(head, page.url, seed=seat.step)
        if len(head) == len(whole):
            return shown + (f"\n[kept in {kept}]" if kept else "")
        line = head.count("\n") + 2  # the file begins with the mark
        rest = f"; the whole is in {kept}, read on with read_file, offset={line}"
        return (
            f"{shown}\n[cut: {len(head):,} of {len(whole):,} characters are shown"
            f"{rest if kept else ''}]"
        )

    async def _keep(self, text: str, page: WebPage, seat: Seat) -> str:
        """Write the whole, fenced, into `outputs/`; the path, empty without a run."""
        place = _kept(seat, "md")
        if place is None:
            return ""
        whole = fence(text, page.url, seed=seat.step) + "\n"
        data = whole.encode("utf-8", "replace")
        await self._pen.write(place.path, data, within=place.within)
        return place.shown

    async def _described(self, page: WebPage, seat: Seat) -> str:
        """What a file of the web is, and where it was put; its source stands beside."""
        size = len(page.data)
        what = binary_kind(page.data[:SAMPLE]) or "text"
        facts = f"{what}, {size:,} bytes, sent as {page.kind or 'no type'}"
        place = _kept(seat, _ENDINGS.get(page.kind, "bin"))
        if place is None:
            return (
                fence(facts, page.url, seed=seat.step) + "\n[no run is open: not kept]"
            )
        await self._pen.write(place.path, page.data, within=place.within)
        note = fence(f"{place.path.name}: {facts}", page.url, seed=seat.step)
        beside = place.path.with_name(f"{place.path.name}.source.md")
        await self._pen.write(beside, note.encode() + b"\n", within=place.within)
        return (
            f"{note}\n[kept in {place.shown}; what is in it is untrusted too. It is "
            "no text: open it with bash, with a program for its kind]"
        )


def _kept(seat: Seat, ending: str) -> Place | None:
    """The place of what a call brings; None while no run is open."""
    if seat.run is None:
        return None
    return reading(f"outputs/{seat.step.replace('/', '-')}.{ending}", seat)


def _head(text: str) -> str:
    """As much of a text as is shown, in whole lines where that loses little."""
    if len(text) <= WEB_SHOWN:
        return text
    head = text[:WEB_SHOWN]
    cut = head.rfind("\n") + 1
    return head[:cut] if cut > WEB_SHOWN // 2 else head
