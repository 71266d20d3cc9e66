"""A tool of a tool server: asked for, called, and its answer fenced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol

from agiraph.core.approval import Need, permitted, shown
from agiraph.core.hosts import most_exact
from agiraph.core.scopes import reading
from agiraph.core.untrusted import fence
from agiraph.model.tool import Effect, ToolResult, Who

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.model.json import JsonObject
    from agiraph.model.server import ServerReply, ServerTool
    from agiraph.ports import Intent, Seat
    from agiraph.runtime.desk import Desk

_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "audio/wav": "wav"}
ARGUMENTS: Final = "arguments"


class Calls(Protocol):
    """Calls tools of servers."""

    async def call(self, tool: ServerTool, arguments: JsonObject) -> ServerReply:
        """Call one; raises ToolRefused."""


class OutsideTool:
    """One tool of a server, under the name that models call it by."""

    effect = Effect.OUTSIDE
    who = Who.ALL

    def __init__(self, servers: Calls, desk: Desk, tool: ServerTool) -> None:
        """Called by `servers`; what is no text goes into `outputs/`."""
        self._servers = servers
        self._desk = desk
        self._tool = tool
        self.spec = tool.spec

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the permission."""
        allowed = seat.permissions
        permission = most_exact(self._tool.subject, allowed.tools, allowed.mcp)
        words = json.dumps(arguments, indent=1, ensure_ascii=False)
        texts = {ARGUMENTS: words}
        need = Need(
            "mcp",
            (self._tool.subject,),
            shown(self.spec.name, self._tool.subject, texts),
        )
        return {ARGUMENTS: arguments, **permitted(permission, need)}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Call it; its words are a stranger's."""
        arguments = intent.get(ARGUMENTS)
        given = arguments if isinstance(arguments, dict) else {}
        reply = await self._servers.call(self._tool, given)
        source = f"tool {self._tool.subject}"
        notes = await self._kept(reply.files, source, seat)
        text = "\n".join([reply.text, *notes]).strip() or "[no text]"
        return ToolResult(fence(text, source, seed=seat.step), error=reply.error)

    async def _kept(
        self, files: Sequence[tuple[str, bytes]], source: str, seat: Seat
    ) -> list[str]:
        """Put what is no text into `outputs/`, and say where."""
        notes, pen = [], self._desk.world.pen
        for number, (kind, data) in enumerate(files, 1):
            facts = f"{kind}, {len(data):,} bytes"
            if seat.run is None:
                notes.append(f"[{facts}; no run is open: not kept]")
                continue
            name = f"{seat.step.replace('/', '-')}-{number}.{_ENDINGS.get(kind, 'bin')}"
            place = reading(f"outputs/{name}", seat)
            await pen.write(place.path, data, within=place.within)
            notes.append(f"[{facts}, from {source}; kept in {place.shown}]")
        return notes
