"""Reflection: one short text-only call after a node is complete."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.brief import notice
from agiraph.errors import ProviderFault
from agiraph.model.conversation import Kind, ToolLine, UserLine
from agiraph.model.names import AGIRAPH
from agiraph.runtime.conversation import as_line

if TYPE_CHECKING:
    from agiraph.model.conversation import Answer
    from agiraph.model.usage import Usage
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.loops.asker import Asker, Spender

LOOK_BACK_SECONDS = 120.0
_TEXT_ONLY = "not run: only a few lines of text were asked for"


@dataclass(frozen=True, slots=True)
class Learned:
    """What a worker learned, and what it took to say so."""

    text: str
    usage: Usage
    cost: float | None


async def look_back(
    desk: Desk, talk: Conversation, asker: Asker, spender: Spender, mark: str
) -> Learned | None:
    """Ask what was learned; None where nobody answered.

    What is said is recorded like every other turn. It is never worth waiting for: when
    the service is held or slow, the worker goes on without it.

    Args:
        mark: the id under which it is asked, once.
    """
    stamp, words = desk.world.stamp, notice(prompts.words("reflect"))
    line = UserLine(stamp(), words, Kind.NOTICE, AGIRAPH, (mark,))
    await talk.append(line, flush=True)
    try:
        async with asyncio.timeout(LOOK_BACK_SECONDS):
            answered = await asker.ask(spender)
    except (TimeoutError, ProviderFault):
        return None
    if answered is None:
        return None
    answer, cost = answered
    await _record(talk, answer, stamp())
    text = answer.text.strip()
    nothing = text.lower().rstrip(".") == "nothing"
    return Learned("" if nothing else text, answer.usage, cost)


async def _record(talk: Conversation, answer: Answer, stamp: str) -> None:
    await talk.append(as_line(talk, answer, stamp), flush=False)
    for index, call in enumerate(answer.calls):
        refusal = ToolLine(
            stamp, talk.turn, index, call.id, call.name, _TEXT_ONLY, error=True
        )
        await talk.append(refusal, flush=False)
    await talk.flush()
