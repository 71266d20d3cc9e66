"""Tools: who calls one, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agiraph.model.json import Json, JsonObject
from agiraph.model.names import COORDINATOR
from agiraph.model.worker import AgentMemory

if TYPE_CHECKING:
    from agiraph.model.agent import Permissions
    from agiraph.model.tool import Effect, ToolResult, ToolSpec, Who


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is calling a tool, and from where.

    Attributes:
        agent, run: where; run is None while no run is open (coordinator only).
        node, worker: both None for the coordinator.
        step: our own id of this call: `<loop>/<session>.<turn>.<index>`.
        permissions: what is allowed.
        shared: nodes whose `scratch/` is open to all.
        agent_memory: a worker's access to the agent's memory.
        shared_skills: names of skills that lie in the tree's own `skills/`.
        said: what people wrote to the caller: the goal, their messages.
    """

    agent: str
    run: str | None
    node: str | None
    worker: str | None
    step: str
    permissions: Permissions
    shared: frozenset[str]
    agent_memory: AgentMemory = AgentMemory.NONE
    shared_skills: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        return self.worker or COORDINATOR


Intent: TypeAlias = Mapping[str, Json]


class Tool(Protocol):
    """One tool. `prepare` changes nothing; `perform` does what the intent says."""

    spec: ToolSpec
    effect: Effect
    who: Who

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the call and decide all that is needed to know its effect again.

        The intent is recorded before `perform` starts (not for READS).

        Raises:
            ToolRefused: the call cannot be done; the text says what was expected.
        """

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Do it. For OWN tools harmless to repeat with the same intent.

        Raises:
            ToolRefused: it could not be done.
        """
