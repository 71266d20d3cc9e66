"""A small real tree with one open run, and the tools on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from agiraph.clock import SystemClock
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permissions, SearchSettings
from agiraph.model.worker import AgentMemory
from agiraph.ports import Intent, Seat, Tool
from agiraph.tools.execution import LocalShell
from agiraph.tools.kit import shell_tools, tree_tools, web_tools
from agiraph.tools.seen import LastSeen
from agiraph.tree.beneath import Beneath
from agiraph.tree.pen import DiskPen
from agiraph.tree.reader import DiskReader
from agiraph.tree.shelf import SqliteShelf
from agiraph.web.cache import PageCache
from agiraph.web.fetching import Fetcher
from agiraph.web.searching import WebSearch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from agiraph.model.json import Json
    from agiraph.model.tool import ToolResult

RUN = "2026-11-21-01"
SECRET = "sk-this-is-secret"


@dataclass
class Bench:
    """The tree below `root`, its tools by name, and two seats."""

    root: Path
    tools: dict[str, Tool]
    seen: LastSeen
    shell: LocalShell
    alice: Seat
    boss: Seat

    @property
    def home(self) -> Path:
        return self.root / "chips"

    @property
    def run(self) -> Path:
        return self.home / "runs" / RUN

    @property
    def node(self) -> Path:
        return self.run / "nodes" / "nvidia"

    @property
    def scratch(self) -> Path:
        return self.node / "scratch"

    async def prepare(self, tool: str, seat: Seat, **arguments: Json) -> Intent:
        return await self.tools[tool].prepare(arguments, seat)

    async def perform(self, tool: str, intent: Intent, seat: Seat) -> ToolResult:
        return await self.tools[tool].perform(intent, seat)

    async def call(self, tool: str, seat: Seat | None = None, **arguments: Json) -> str:
        """What the model reads; raises ToolRefused as the tool does."""
        by = seat or self.alice
        intent = await self.prepare(tool, by, **arguments)
        return (await self.perform(tool, intent, by)).content

    async def refused(
        self, tool: str, seat: Seat | None = None, **arguments: Json
    ) -> str:
        with pytest.raises(ToolRefused) as refusal:
            await self.call(tool, seat, **arguments)
        return str(refusal.value)


@pytest.fixture
def seat() -> Callable[..., Seat]:
    def make(
        worker: str | None = "Alice",
        *,
        node: str = "nvidia",
        permissions: Permissions | None = None,
        memory: str = "none",
        step: str = "alice/1.2.0",
    ) -> Seat:
        return Seat(
            "chips",
            RUN,
            node if worker else None,
            worker,
            step,
            permissions or Permissions(),
            frozenset({"open"}),
            AgentMemory(memory),
        )

    return make


@pytest.fixture
async def bench(tmp_path: Path, seat: Callable[..., Seat]) -> AsyncIterator[Bench]:
    root = tmp_path / "agents"
    home = root / "chips"
    for node in ("nvidia", "amd", "open"):
        for room in ("scratch", "published", "outputs"):
            (home / "runs" / RUN / "nodes" / node / room).mkdir(parents=True)
    (home / "runs" / RUN / "scratch").mkdir()
    (home / "runs" / RUN / "workers" / "Alice").mkdir(parents=True)
    (home / "inputs").mkdir()
    (home / "memory").mkdir()
    (home / "GOAL.md").write_text("Compare them.")
    (tmp_path / "secret.txt").write_text(SECRET)
    pen = DiskPen(str(root))
    reader = DiskReader(str(root), SystemClock())
    seen = LastSeen()
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "ANTHROPIC_API_KEY": SECRET,
    }
    programs = "/opt/agiraph/bin"
    shell = LocalShell(Beneath(str(root)), pen, environment, programs=programs)
    pages = Fetcher(PageCache(reader, pen), SystemClock(), version="0", loopback=True)
    search = WebSearch(SystemClock(), {})
    settings = SearchSettings()
    tools = (
        *tree_tools(reader, pen, SqliteShelf(str(root)), seen),
        *shell_tools(shell, str(root)),
        *web_tools(pages, search, pen, lambda: settings),
    )
    by_name = {tool.spec.name: tool for tool in tools}
    yield Bench(
        root, by_name, seen, shell, seat(), seat(None, step="coordinator/1.1.0")
    )
    await pen.close()
