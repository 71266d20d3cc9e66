"""Writing memory, with what the loop alone knows: where the words came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.given import text_of
from agiraph.core.remembering import CURATED, copied, sources
from agiraph.core.untrusted import fenced
from agiraph.errors import ToolRefused
from agiraph.model.event import EventType
from agiraph.runtime.material import Material
from agiraph.runtime.memorybook import traced_change

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolResult
    from agiraph.ports import Intent, Seat, Tool
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


class Remember:
    """`memory_write`: what strangers wrote passes through the writer's own words."""

    def __init__(self, desk: Desk, talk: Conversation, tool: Tool) -> None:
        """Around the tool that writes the file."""
        self.spec, self.effect, self.who = tool.spec, tool.effect, tool.who
        self._desk = desk
        self._talk = talk
        self._tool = tool

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """As the tool does; then hold the words against what was read.

        Raises:
            ToolRefused: MEMORY.md would repeat a stranger word for word.
        """
        intent = await self._tool.prepare(arguments, seat)
        if text_of(intent, "shown") == CURATED:
            self._in_own_words(text_of(arguments, "content"))
        return intent

    def _in_own_words(self, content: str) -> None:
        if fenced(content):
            raise ToolRefused(
                f"{CURATED} takes nothing that carries the mark of untrusted text; say "
                "in your own words what is worth keeping, and where it is from. A "
                "quotation may stand in memory/knowledge/<subject>.md."
            )
        source = copied(content, sources(self._talk.lines))
        if source is not None:
            raise ToolRefused(
                f"{CURATED} is shown to you as your own memory, so it takes nothing "
                "word for word that a stranger wrote; a passage of this stands so in "
                f"{source.name}. Say in your own words what is worth keeping, and "
                "where it is from."
            )

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Put it into the book, then write it, then tell."""
        desk, shown = self._desk, text_of(intent, "shown")
        agents = shown == CURATED or shown.startswith("memory/")
        if agents:
            await self._book(intent, seat, shown)
        result = await self._tool.perform(intent, seat)
        await desk.records.event(
            EventType.MEMORY_WRITTEN, desk.where(seat.node, seat.worker), path=shown
        )
        return result

    async def _book(self, intent: Intent, seat: Seat, shown: str) -> None:
        desk = self._desk
        old = Material(desk.world.reader, desk.home).text(desk.home.path / shown)
        lines = traced_change(
            old, text_of(intent, "content"), sources(self._talk.lines)
        )
        hashes = (text_of(intent, "was"), text_of(intent, "becomes"))
        await desk.memory.own(desk.memory.change(seat, shown, hashes, lines))
