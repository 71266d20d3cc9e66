"""What comes from the web: a page, and what a search found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebPage:
    """What an address answered.

    Attributes:
        url: where it came from in the end, after redirects.
        kind: the type that the server named, such as `text/html`; may be empty.
        title: of an HTML page; empty where it has none.
        text: Markdown of an HTML page, any other text as it is; None where it is none.
        data: what is no text.
    """

    url: str
    kind: str
    title: str = ""
    text: str | None = None
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search."""

    title: str
    url: str
    snippet: str
