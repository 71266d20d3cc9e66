"""What each search service is asked, and how its answer reads."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from agiraph.core.limits import SEARCH_RESULTS
from agiraph.model.web import Hit

if TYPE_CHECKING:
    from agiraph.core.searchers import Searcher
    from agiraph.model.json import Json, JsonObject

_TAG: Final = re.compile(r"<[^<>]{0,200}>")
_SNIPPET: Final = 500


@dataclass(frozen=True, slots=True)
class Question:
    """One request to a service.

    Attributes:
        path: below the service's base.
        params: of the address; body: as JSON, and then it is a POST.
        hits: where the results are, as keys from the top.
        fields: names of a result's title, address and snippet.
    """

    base: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    body: JsonObject | None = None
    hits: tuple[str, ...] = ("results",)
    fields: tuple[str, str, str] = ("title", "url", "content")


def _tavily(searcher: Searcher, query: str) -> Question:
    return Question(
        base="https://api.tavily.com",
        path="/search",
        headers={"Authorization": f"Bearer {searcher.key}"},
        body={"query": query, "max_results": SEARCH_RESULTS},
    )


def _brave(searcher: Searcher, query: str) -> Question:
    return Question(
        base="https://api.search.brave.com",
        path="/res/v1/web/search",
        headers={"X-Subscription-Token": searcher.key},
        params={"q": query, "count": str(SEARCH_RESULTS)},
        hits=("web", "results"),
        fields=("title", "url", "description"),
    )


def _serper(searcher: Searcher, query: str) -> Question:
    return Question(
        base="https://google.serper.dev",
        path="/search",
        headers={"X-API-KEY": searcher.key},
        body={"q": query, "num": SEARCH_RESULTS},
        hits=("organic",),
        fields=("title", "link", "snippet"),
    )


def _exa(searcher: Searcher, query: str) -> Question:
    contents: JsonObject = {"text": {"maxCharacters": _SNIPPET}}
    return Question(
        base="https://api.exa.ai",
        path="/search",
        headers={"x-api-key": searcher.key},
        body={"query": query, "numResults": SEARCH_RESULTS, "contents": contents},
        fields=("title", "url", "text"),
    )


def _searxng(searcher: Searcher, query: str) -> Question:
    return Question(
        base=searcher.url, path="/search", params={"q": query, "format": "json"}
    )


_Adapter: TypeAlias = "Callable[[Searcher, str], Question]"
ADAPTERS: Final[Mapping[str, _Adapter]] = {
    "tavily": _tavily,
    "brave": _brave,
    "serper": _serper,
    "exa": _exa,
    "searxng": _searxng,
}


def hits_of(answer: Json, question: Question) -> tuple[Hit, ...]:
    """The results that an answer holds; what is not of its form is left out."""
    found: Json = answer
    for key in question.hits:
        found = found.get(key) if isinstance(found, Mapping) else None
    if not isinstance(found, Sequence) or isinstance(found, str):
        return ()
    hits = [_hit(each, question.fields) for each in found]
    return tuple(hit for hit in hits if hit is not None)[:SEARCH_RESULTS]


def _hit(found: Json, fields: tuple[str, str, str]) -> Hit | None:
    if not isinstance(found, Mapping):
        return None
    title, url, snippet = (_plain(found.get(name)) for name in fields)
    return Hit(title or url, url, snippet[:_SNIPPET]) if url else None


def _plain(value: Json) -> str:
    """A text on one line, without tags."""
    text = html.unescape(_TAG.sub("", value)) if isinstance(value, str) else ""
    return " ".join(text.split())
