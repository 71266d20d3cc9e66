"""What a loop asks of its side: the coordinator's, or a worker's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import PurePosixPath

    from agiraph.core import turn as rules
    from agiraph.core.compaction import Shares
    from agiraph.model.conversation import Answer, SystemLine, UserLine
    from agiraph.model.node import NodeState
    from agiraph.ports import Seat, Tool
    from agiraph.runtime.loops.bearings import Bearings
    from agiraph.runtime.records import Where


@dataclass(frozen=True, slots=True)
class Notes:
    """What a loop may do in its one turn for notes: the words, and the tools."""

    words: str
    tools: frozenset[str]


class Role(Protocol):
    """What differs between the coordinator and a worker."""

    name: str
    tools: Mapping[str, Tool]
    log: PurePosixPath | None

    def seat(self, step: str) -> Seat:
        """Who calls a tool."""

    async def before(self, tool: str) -> None:
        """Before a tool is prepared: open a run where it needs one."""

    def where(self) -> Where:
        """What the records are about."""

    def loop_name(self) -> str:
        """The first part of the ids of its steps."""

    async def ready(self) -> None:
        """Before a call or a tool: wait while nothing may start; take a place."""

    async def renew(self) -> None:
        """Open a session with what was said so far, where what is frozen changed."""

    async def take_in(self) -> None:
        """Before a model call: append what has come."""

    def urgent(self) -> bool:
        """Whether something has come that goes ahead of the calls left."""

    def called(self) -> bool:
        """Whether something has come that the model should hear of while it waits."""

    def parked(self, state: NodeState, words: str) -> AbstractAsyncContextManager[None]:
        """Parked inside a call for as long as the context lasts."""

    async def ask(self, instead: UserLine | None = None) -> Answer | None:
        """One model call, under budgets and limits; waits where it is held.

        None when what is in force changed meanwhile: take in, then ask again.

        Args:
            instead: what is sent in the place of the conversation.
        """

    async def said(self, answer: Answer, *, counts: bool = True) -> None:
        """After an answer is recorded: what it cost; whether it was a turn."""

    def held(self, words: str) -> AbstractAsyncContextManager[None]:
        """Held for as long as the context lasts."""

    # --- for a conversation that is put away

    @property
    def notes(self) -> Notes | None:
        """What it may do before; None where its conversation is never put away."""

    def prefix(self) -> SystemLine:
        """The frozen first line that its session would have now."""

    def turns_so_far(self) -> int:
        """The turns of this assignment, where they are counted."""

    def bearings(self, shares: Shares) -> Bearings:
        """What the tree says of where it stands, for a rebuilt conversation."""

    async def rest(self, text: str) -> rules.Woken | rules.Idle | None:
        """The model ended its turn with text; None ends the loop quietly."""

    def nudge(self, nudge: rules.Nudge, count: int) -> str:
        """The words for a reminder."""
