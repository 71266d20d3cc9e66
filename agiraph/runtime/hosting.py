"""What the runtime needs of whoever starts tool servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agiraph.model.json import JsonObject
    from agiraph.model.server import ServerReply, ServerSettings, ServerTool


class Connection(Protocol):
    """A server that runs; `tools` are those that it has now."""

    tools: tuple[ServerTool, ...]

    async def call(self, tool: str, arguments: JsonObject) -> ServerReply:
        """Call one of its tools; raises ToolRefused."""

    async def changed(self) -> bool:
        """Wait until its tools are others; False once it runs no more."""


class Host(Protocol):
    """Starts tool servers. May not start one that the person has not allowed."""

    def open(
        self, settings: ServerSettings, agent: str
    ) -> AbstractAsyncContextManager[Connection]:
        """A server, for as long as the context lasts; raises ToolRefused."""
