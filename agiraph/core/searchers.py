"""Who searches the web: what the settings say, else whose key is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.agent import SearchSettings

KEYS: Final = {
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "exa": "EXA_API_KEY",
}
SEARXNG: Final = "SEARXNG_URL"
NO_SEARCH: Final = (
    "There is no search: a person has to set one of TAVILY_API_KEY, BRAVE_API_KEY, "
    "SERPER_API_KEY or EXA_API_KEY in the daemon's environment, or `search:` in "
    "agiraph.yaml to the address of a SearXNG, or install the extra `search` "
    "(pip install 'agiraph[search]'). Go on with web_fetch where you know an address."
)


@dataclass(frozen=True, slots=True)
class Searcher:
    """Who is asked.

    Attributes:
        name: tavily, brave, serper, exa, searxng or ddgs.
        key_env: the variable that the key comes from; empty where none is needed.
        url: of a SearXNG.
    """

    name: str
    key: str = field(default="", repr=False)
    key_env: str = ""
    url: str = ""


def chosen(
    settings: SearchSettings, environment: Mapping[str, str], *, ddgs: bool
) -> Searcher:
    """Who searches.

    Args:
        settings: `search:` of agiraph.yaml.
        environment: the daemon's.
        ddgs: whether the extra `search` is installed.

    Raises:
        ToolRefused: nobody can; says what to set.
    """
    if settings.provider in KEYS:
        return _keyed(settings.provider, settings, environment)
    if settings.provider == "searxng":
        return _searxng(settings.url or environment.get(SEARXNG, ""))
    if not settings.provider:
        for name, variable in KEYS.items():
            if environment.get(variable, "").strip():
                return _keyed(name, settings, environment)
        if environment.get(SEARXNG):
            return _searxng(environment[SEARXNG])
    if ddgs:
        return Searcher("ddgs")
    if settings.provider == "ddgs":
        raise ToolRefused(
            "`search: ddgs` in agiraph.yaml needs the extra `search`: "
            "pip install 'agiraph[search]'."
        )
    raise ToolRefused(NO_SEARCH)


def _keyed(
    name: str, settings: SearchSettings, environment: Mapping[str, str]
) -> Searcher:
    variable = settings.api_key_env or KEYS[name]
    key = environment.get(variable, "").strip()
    if not key:
        raise ToolRefused(
            f"The search by {name} needs a key: a person has to set {variable} in the "
            "daemon's environment and start it again."
        )
    return Searcher(name, key, variable)


def _searxng(url: str) -> Searcher:
    if not url.startswith(("http://", "https://")):
        raise ToolRefused(
            f"The search by searxng needs an address: set `search: {{url: …}}` in "
            f"agiraph.yaml, or {SEARXNG} in the daemon's environment."
        )
    return Searcher("searxng", url=url.rstrip("/"))
