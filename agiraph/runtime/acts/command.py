"""The coordinator's `bash`: what takes long goes on in the background."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agiraph.core.given import text_of
from agiraph.runtime.jobs import Job, shown

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import Effect, ToolResult, ToolSpec, Who
    from agiraph.ports import Intent, Seat, Tool
    from agiraph.runtime.desk import Desk


class CoordinatorsBash:
    """`bash` for whoever must be able to answer meanwhile."""

    def __init__(self, desk: Desk, bash: Tool) -> None:
        """`bash` runs the command."""
        self.spec: ToolSpec = bash.spec
        self.effect: Effect = bash.effect
        self.who: Who = bash.who
        self._desk = desk
        self._bash = bash

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """As the tool itself does."""
        return await self._bash.prepare(arguments, seat)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Its result, or after a few seconds the word that it goes on."""
        desk = self._desk
        job = Job(
            seat.step,
            shown(text_of(intent, "command")),
            PurePosixPath(text_of(intent, "keep")),
            text_of(intent, "kept"),
            desk.world.clock.monotonic(),
        )
        return await desk.jobs.run(job, self._bash.perform(intent, seat))
