"""What settings say of the web: which hosts may be gone to, and who searches."""

from __future__ import annotations

import re
from typing import Final

from agiraph.core.codec import kinds, services
from agiraph.core.codec.fields import Parse, Place, Section
from agiraph.core.codec.marked import Group
from agiraph.core.hosts import is_pattern
from agiraph.core.webaddress import read_address
from agiraph.errors import ToolRefused
from agiraph.model.agent import Patterns, Permission, Permissions, SearchSettings

_TOOL: Final = re.compile(r"\*|[A-Za-z0-9_-]+(/[^\s*]*\*?)?")
PROVIDERS: Final = ("tavily", "brave", "serper", "exa", "searxng", "ddgs")


def web_permissions(place: Place) -> Permissions:
    """`permissions.web`: a word, or lists of hosts; only the web's part counts."""
    if not isinstance(place.value, Group):
        return Permissions(web=kinds.choice(Permission)(place))
    return Permissions(web=Permission.ALLOW, hosts=_patterns(place, _host))


def tool_permissions(place: Place) -> Permissions:
    """`permissions.mcp`: a word, or lists of servers and tools."""
    if not isinstance(place.value, Group):
        return Permissions(mcp=kinds.choice(Permission)(place))
    return Permissions(mcp=Permission.ALLOW, tools=_patterns(place, _tool))


def _patterns(place: Place, parse: Parse[str]) -> Patterns:
    keys, listed = Section.at(place), kinds.many(parse)
    patterns = Patterns(
        allow=keys.get("allow", listed, ()),
        ask=keys.get("ask", listed, ()),
        deny=keys.get("deny", listed, ()),
    )
    for name, _ in keys.others():
        keys.refuse(name, "allow, ask and deny, each with a list")
    return patterns


def _tool(place: Place) -> str:
    """A pattern of tools: `*`, `server`, `server/tool`, `server/read_*`."""
    found = kinds.line(place)
    if not _TOOL.fullmatch(found):
        raise place.unfit("a server, or server/tool; a `*` at the end fits anything")
    return found


def _host(place: Place) -> str:
    """A pattern of hosts that are public."""
    found = kinds.line(place).lower().removesuffix(".")
    if not is_pattern(found):
        raise place.unfit("a host such as example.org or *.example.org, or `*`")
    if found != "*":
        _refuse_private(place, found.removeprefix("*."))
    return found


def _refuse_private(place: Place, host: str) -> None:
    try:
        read_address(f"http://{host}/" if "." in host else f"http://x.{host}/")
    except ToolRefused as refusal:
        why = str(refusal).rpartition(" is not fetched: ")[2].rstrip(".")
        raise place.unfit(f"a host of the public web ({why})") from None


def search_settings(place: Place) -> SearchSettings:
    """`search:`: the name of a provider, a SearXNG's address, or a group of both."""
    if not isinstance(place.value, Group):
        text = kinds.line(place)
        if text.startswith(("http://", "https://")):
            return SearchSettings("searxng", text.rstrip("/"))
        return SearchSettings(_provider(place))
    keys = Section.at(place)
    url = keys.get("url", services.address, "")
    settings = SearchSettings(
        provider=keys.get("provider", _provider, "searxng" if url else ""),
        url=url,
        api_key_env=keys.get("api_key_env", services.variable, ""),
    )
    keys.get("api_key", services.no_key, "")
    keys.close()
    if settings.provider == "searxng" and not url:
        keys.refuse("url", "the address of your SearXNG, such as http://127.0.0.1:8888")
    return settings


def _provider(place: Place) -> str:
    return kinds.one_of(*PROVIDERS)(place)
