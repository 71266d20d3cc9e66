"""Results too large for the context: a file with the whole, its ends for the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.compaction import longest_result
from agiraph.core.excerpt import excerpt
from agiraph.core.scopes import reading
from agiraph.runtime.loops.window import window_of

if TYPE_CHECKING:
    from agiraph.model.tool import ToolResult
    from agiraph.ports import Seat
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


async def bounded(
    desk: Desk, talk: Conversation, seat: Seat, result: ToolResult
) -> ToolResult:
    """A result that fits into the context; the whole of a larger one is kept."""
    text = result.content
    most = longest_result(window_of(desk, talk), talk.size)
    if len(text) <= most:
        return result
    place = reading(f"outputs/{seat.step.replace('/', '-')}.txt", seat)
    world, data = desk.world, text.encode("utf-8", "replace")
    await world.write(place.path, data)
    return replace(result, content=excerpt(text, kept=place.shown, most=most))
