"""A fetcher on a real tree, and a loopback web."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.clock import SystemClock
from agiraph.tree.pen import DiskPen
from agiraph.tree.reader import DiskReader
from agiraph.web.cache import PageCache
from agiraph.web.fetching import Fetcher
from tests.support.web import WebServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path


@pytest.fixture
async def pen(tmp_path: Path) -> AsyncIterator[DiskPen]:
    (tmp_path / "agents" / ".agiraph").mkdir(parents=True)
    pen = DiskPen(str(tmp_path / "agents"))
    yield pen
    await pen.close()


@pytest.fixture
def cache(tmp_path: Path, pen: DiskPen) -> PageCache:
    return PageCache(DiskReader(str(tmp_path / "agents"), SystemClock()), pen)


@pytest.fixture
def fetcher(cache: PageCache) -> Fetcher:
    return Fetcher(cache, SystemClock(), version="0", loopback=True)


@pytest.fixture
def served() -> Iterator[Callable[..., WebServer]]:
    running: list[WebServer] = []

    def serve(**pages: object) -> WebServer:
        named = {f"/{name.replace('__', '.')}": page for name, page in pages.items()}
        running.append(WebServer(named).__enter__())  # type: ignore[arg-type]
        return running[-1]

    yield serve
    for each in running:
        each.__exit__(None, None, None)
