"""The shape that all acts share: one tool of one loop, acting on the agent's desk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

from agiraph.tools.registry import DEFINITIONS

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agiraph.model.json import Json, JsonObject
    from agiraph.model.node import NodeState
    from agiraph.model.tool import Effect, ToolResult, ToolSpec, Who
    from agiraph.ports import Intent, Seat
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


class Parker(Protocol):
    """The loop that calls: it gives up its place while a tool waits."""

    name: str

    def parked(self, state: NodeState, words: str) -> AbstractAsyncContextManager[None]:
        """Parked for as long as the context lasts."""


class Act(ABC):
    """One tool; a sub-class says what `prepare` decides and what `perform` does."""

    name: str

    def __init__(self, desk: Desk, talk: Conversation, loop: Parker) -> None:
        """For the loop whose conversation is `talk`."""
        definition = DEFINITIONS[self.name]
        self.spec: ToolSpec = definition.spec
        self.effect: Effect = definition.effect
        self.who: Who = definition.who
        self._desk = desk
        self._talk = talk
        self._loop = loop

    @abstractmethod
    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the call and decide what makes its effect known again."""

    @abstractmethod
    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Do it; harmless to repeat with the same intent."""


def spelled(value: Json) -> Json:
    """A duration as files spell it: a bare number of seconds becomes `90s`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return f"{value:g}s"
