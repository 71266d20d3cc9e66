"""When a cap is reached: the person is asked once, and told what it went on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.budget import a_price, longer, more, purse_refuses
from agiraph.core.costs import spent_on
from agiraph.core.limits import GO_ON
from agiraph.model.message import Question, QuestionKind
from agiraph.model.names import AGIRAPH
from agiraph.runtime import purses
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.core.budget import Refused
    from agiraph.runtime.desk import Desk


async def ask(desk: Desk, refused: Refused) -> None:
    """Ask the person for more, unless that was asked under the same cap."""
    told = desk.world.told_over
    if told.get(refused.remedy) == refused.cap or _open(desk, refused.remedy):
        return
    told[refused.remedy] = refused.cap
    await questions.ask(
        desk,
        Question(
            number=questions.next_number(desk),
            sender=AGIRAPH,
            node=refused.node or None,
            asked=desk.world.stamp(),
            kind=QuestionKind.QUESTION,
            text=_text(desk, refused),
        ),
    )


async def withdraw(desk: Desk, node: str | None, model: str) -> None:
    """Take back what was asked for and is there by now, as a call has shown.

    Args:
        node: on whose account the call is made.
        model: the one that is called.
    """
    asked = {
        question.text.partition("\n")[0]: number
        for number, question in desk.questions.items()
        if question.sender == AGIRAPH
    }
    if not any(remedy.endswith(GO_ON) for remedy in asked):
        return
    for remedy in _settled(desk, node, model):
        if remedy in asked:
            desk.world.told_over.pop(remedy, None)
            why = "there is room by now"
            await questions.withdraw(desk, asked[remedy], why)


def _settled(desk: Desk, node: str | None, model: str) -> Iterator[str]:
    """What need not be asked for, now that a call is allowed."""
    for purse in purses.purses(desk, node):
        yield a_price(purse, model)
        if not purse_refuses(purse):
            yield more(purse)
    if purses.over(desk) is None:
        for limit in ("run_turns", "run_time"):
            yield longer(limit, str(desk.home.goal))


def _open(desk: Desk, remedy: str) -> bool:
    return any(each.text.startswith(remedy) for each in desk.questions.values())


def _text(desk: Desk, refused: Refused) -> str:
    nodes = {
        refused.node,
        *(each.id for each in board.descendants(refused.node, desk.nodes)),
    }
    table = spent_on(desk.tally, lambda spot: not refused.node or spot.node in nodes)
    said = f"{refused.words[0].upper()}{refused.words[1:]}."
    return "\n\n".join(part for part in (refused.remedy, said, table) if part)
