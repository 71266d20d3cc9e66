"""A file read page by page, as far as the conversation has come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.offline.listing import first_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.talk import Done, Talk
    from agiraph.model.json import JsonObject

# What `read_file` adds behind a page, and what it says instead of one.
_RANGE = re.compile(r"^\[lines (\d+)-(\d+) of (\d+|more)\b[^\]]*\]$")
_REMARK = re.compile(r"^\[(line \d+ (?:is|has) .+)\]$")
_INSTEAD = re.compile(r"^\[[^\n]+ is (no text: [^\n]+|empty)\]$")
# Pages differ in size, so the next ones are asked for a little smaller than the first.
_CAUTION = 0.7
_PAGES_AT_ONCE = 40
_MOST_PAGES = 240


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a file; total is None while the number of lines is not known."""

    first: int
    last: int
    total: int | None
    text: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Readout:
    """What is known of a file.

    Attributes:
        calls: the pages that are still to be read; none when it is done.
        text: what was read, in order.
        left_out: why there is nothing to read; "" where there is.
        remarks: what is not shown as it stands in the file.
    """

    calls: tuple[tuple[str, JsonObject], ...] = ()
    text: str = ""
    left_out: str = ""
    remarks: tuple[str, ...] = ()


def readout(talk: Talk, path: str) -> Readout:
    """How far the reading of one file has come, and what is to be read next."""
    reads = [d for d in talk.calls_of("read_file") if d.arguments.get("path") == path]
    if not reads:
        return Readout(calls=(("read_file", {"path": path}),))
    if reads[0].error:
        return Readout(left_out=first_line(reads[0].result))
    instead = _INSTEAD.match(reads[0].result.strip())
    if instead:
        return Readout(left_out=f"it is {instead.group(1)}")
    pages = sorted((page_of(done) for done in reads if not done.error), key=_start)
    calls = () if len(reads) >= _MOST_PAGES else _missing(path, pages)
    if calls and not _repeats(calls, reads):
        return Readout(calls=calls)
    return _joined(pages)


def page_of(done: Done) -> Page:
    """The page that a result shows, without the notes behind it."""
    lines = done.result.split("\n")
    asked = done.arguments.get("offset")
    first = asked if isinstance(asked, int) else 1
    remarks: list[str] = []
    span: re.Match[str] | None = None
    while lines:
        found, remark = _RANGE.match(lines[-1]), _REMARK.match(lines[-1])
        if not found and not remark:
            break
        span = found or span
        remarks += [remark.group(1)] if remark else []
        lines.pop()
    text = "\n".join(lines)
    if span is None:
        last = first + text.rstrip("\n").count("\n")
        return Page(first, last, last, text, tuple(remarks))
    total = None if span.group(3) == "more" else int(span.group(3))
    return Page(int(span.group(1)), int(span.group(2)), total, text, tuple(remarks))


def _start(page: Page) -> int:
    return page.first


def _missing(path: str, pages: Sequence[Page]) -> tuple[tuple[str, JsonObject], ...]:
    """The calls for the lines that no page shows yet."""
    gaps = _gaps(pages)
    if gaps is None:
        following = max(page.last for page in pages) + 1
        return (("read_file", {"path": path, "offset": following}),)
    size = max(1, int(_CAUTION * (pages[0].last - pages[0].first + 1)))
    calls: list[tuple[str, JsonObject]] = [
        ("read_file", {"path": path, "offset": at, "limit": min(size, last - at + 1)})
        for first, last in gaps
        for at in range(first, last + 1, size)
    ]
    return tuple(calls[:_PAGES_AT_ONCE])


def _gaps(pages: Sequence[Page]) -> list[tuple[int, int]] | None:
    """Runs of lines that are not read; None while the end is not known."""
    total = max((page.total for page in pages if page.total is not None), default=None)
    if total is None:
        return None
    gaps: list[tuple[int, int]] = []
    following = 1
    for page in pages:
        if page.first > following:
            gaps.append((following, page.first - 1))
        following = max(following, page.last + 1)
    if following <= total:
        gaps.append((following, total))
    return gaps


def _repeats(calls: Sequence[tuple[str, JsonObject]], reads: Sequence[Done]) -> bool:
    """Whether a page would be asked for that was asked for already."""
    asked = [done.arguments for done in reads]
    return any(arguments in asked for _, arguments in calls)


def _joined(pages: Sequence[Page]) -> Readout:
    texts: list[str] = []
    remarks: list[str] = []
    following = 1
    for page in pages:
        lines = page.text.split("\n")
        texts.extend(lines[max(0, following - page.first) : page.last - page.first + 1])
        remarks.extend(page.remarks)
        following = max(following, page.last + 1)
    gaps = _gaps(pages)
    if gaps is None or gaps:
        remarks.append(f"only the first {len(texts):,} lines were read")
    return Readout(text="\n".join(texts) + "\n", remarks=tuple(remarks))
