"""HTML as Markdown: title, links, tables, code; without scripts and menus."""

from __future__ import annotations

import html
import re
from typing import Final

_TITLE: Final = re.compile(r"<title\b[^>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_DEEPEST: Final = 1000
_DATA_IMAGE: Final = re.compile(r"!\[([^\]\n]{0,500})\]\(<?data:[^)]*\)")
_SCRIPT_LINK: Final = re.compile(
    r"\[([^\]\n]{0,500})\]\(<?(?:javascript|data|vbscript):[^)]*\)", re.IGNORECASE
)
_GAPS: Final = re.compile(r"\n{3,}")


def title_of(page: str) -> str:
    """What an HTML page calls itself, on one line; empty where it does not."""
    found = _TITLE.search(page)
    return " ".join(html.unescape(found[1]).split())[:200] if found else ""


def to_markdown(page: str, url: str) -> str:
    """An HTML page as Markdown, its links whole."""
    text = _by_rust(page, url)
    if text is None:
        text = _by_python(page, url)
    text = _DATA_IMAGE.sub(r"\1", text)
    text = _SCRIPT_LINK.sub(r"\1", text)
    return _GAPS.sub("\n\n", text).strip() + "\n"


def _by_rust(page: str, url: str) -> str | None:
    """By html-to-markdown; None where this machine has no wheel of it, or it fails."""
    try:
        from html_to_markdown import (  # noqa: PLC0415 - 40 ms, for fetches alone
            ConversionOptions,
            convert,
        )
    except ImportError:
        return None
    options = ConversionOptions(
        base_url=url, extract_metadata=False, max_depth=_DEEPEST
    )
    try:
        return convert(page, options).content
    except (ValueError, RuntimeError):
        return None


def _by_python(page: str, url: str) -> str:
    """By html2text: slower, and menus stay."""
    from html2text import HTML2Text  # noqa: PLC0415 - for fetches alone

    maker = HTML2Text(baseurl=url, bodywidth=0)
    maker.ignore_images = True
    maker.mark_code = False
    found: str = maker.handle(page)
    return found
