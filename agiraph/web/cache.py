"""Pages kept in `.agiraph/web/`, with what their server knows them by.

Nothing is taken from here without asking the server whether it still holds; what is
lost is only fetched again.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.errors import AgiraphError
from agiraph.model.layout import MACHINE
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath

    from agiraph.ports import Pen, Reader

FOLDER: Final = MACHINE / "web"
MOST_FILES: Final = 300
_LARGEST: Final = 6 * 1024 * 1024
_ROOM: Final = 50  # how many are taken away at once


@dataclass(frozen=True, slots=True)
class Kept:
    """A page as it came.

    Attributes:
        etag, modified: what the server called this version, one of them at least.
    """

    url: str
    content_type: str
    etag: str
    modified: str
    body: bytes

    def question(self) -> dict[str, str]:
        """The headers that ask whether this version still holds."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in asked.items() if value}


class PageCache:
    """The pages kept on this machine. A full disk makes it forget, never fail."""

    def __init__(self, reader: Reader, pen: Pen) -> None:
        self._reader = reader
        self._pen = pen

    def find(self, url: str) -> Kept | None:
        """What is kept of an address."""
        try:
            data = self._reader.read(_place(url), limit=_LARGEST, within=FOLDER)
            head, _, body = data.partition(b"\n")
            known = json.loads(head)
        except (AgiraphError, ValueError):
            return None
        if not isinstance(known, dict) or known.get("url") != url:
            return None
        if known.get("sha") != hashlib.sha256(body).hexdigest():
            return None
        return Kept(
            url=url,
            content_type=str(known.get("content_type", "")),
            etag=str(known.get("etag", "")),
            modified=str(known.get("modified", "")),
            body=body,
        )

    async def keep(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Keep a page, if its server gave it a name and allows it."""
        etag, modified = headers.get("etag", ""), headers.get("last-modified", "")
        if not (etag or modified) or "no-store" in headers.get("cache-control", ""):
            return
        known = {
            "url": url,
            "content_type": headers.get("content-type", ""),
            "etag": etag,
            "modified": modified,
            "sha": hashlib.sha256(body).hexdigest(),
        }
        try:
            await self._make_room()
            await self._pen.write(
                _place(url), json.dumps(known).encode() + b"\n" + body
            )
        except AgiraphError:
            return

    async def _make_room(self) -> None:
        """Take the oldest away where there are too many."""
        if self._reader.entry(FOLDER) is None:
            return
        files = [
            each for each in self._reader.entries(FOLDER) if each.kind is EntryKind.FILE
        ]
        if len(files) < MOST_FILES:
            return
        files.sort(key=lambda each: each.changed)
        for each in files[: len(files) - MOST_FILES + _ROOM]:
            await self._pen.remove(FOLDER / each.name)


def _place(url: str) -> PurePosixPath:
    return FOLDER / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.page"
