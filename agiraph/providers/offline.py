"""`offline/digest`: fixed rules behind the port of a model; no network, no model.

It gets the messages and tools that a model gets, and acts by calling tools alone. Each
answer is worked out from the conversation in the request, so a restart changes nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core.offline.coordinator import coordinator_move
from agiraph.core.offline.single import single_move
from agiraph.core.offline.talk import talk_of
from agiraph.core.offline.worker import worker_move
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Answer, AssistantLine, Stop
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage

if TYPE_CHECKING:
    from agiraph.core.offline.talk import Move
    from agiraph.model.conversation import Request

MODEL = "offline/digest"


class OfflineProvider:
    """Answers by rules; costs nothing and remembers nothing."""

    async def ask(self, request: Request) -> Answer:
        """The next move in this conversation.

        Raises:
            ProviderFault: the model is another one than `offline/digest`.
        """
        if request.model != MODEL:
            words = f"There is no model {request.model!r}; without a key: {MODEL}."
            raise ProviderFault(Fault.MODEL, words)
        # A text of a megabyte takes a second or two; others go on meanwhile.
        move = await asyncio.to_thread(move_for, request)
        return _answer(move, request)

    async def close(self) -> None:
        """Nothing is open."""


def move_for(request: Request) -> Move:
    """What is said next, by who is asked: coordinator, worker, or without tools."""
    talk = talk_of(request)
    if not talk.tools:
        return single_move(talk)
    if talk.node is None:
        return coordinator_move(talk)
    return worker_move(talk)


def _answer(move: Move, request: Request) -> Answer:
    turn = sum(isinstance(line, AssistantLine) for line in request.lines) + 1
    calls = tuple(
        ToolCall(f"offline_{turn}_{index}", name, arguments)
        for index, (name, arguments) in enumerate(move.calls)
    )
    return Answer(
        text=move.text,
        calls=calls,
        stop=Stop.TOOLS if calls else Stop.END,
        usage=Usage(),
        own={"wire": "offline", "content": move.text},
    )
