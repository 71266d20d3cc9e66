"""The definitions of the tools that reach the web."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import define, record, text

WEB_SEARCH: Final = define(
    "web_search",
    "Search the web: five results with title, address and snippet.",
    Who.ALL,
    Effect.OWN,
    record({"query": text("What to look for, in a few words.")}),
)
WEB_FETCH: Final = define(
    "web_fetch",
    "Fetch a page of the public web as Markdown, marked as untrusted.",
    Who.ALL,
    Effect.OWN,
    record({"url": text("The whole address, with https:// or http://.")}),
)
