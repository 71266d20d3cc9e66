"""When a budget is used up: the person is asked once, and told what it went on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.costs import spent_on
from agiraph.core.limits import purse_refuses
from agiraph.model.message import Question, QuestionKind
from agiraph.runtime import purses
from agiraph.runtime.people import questions

if TYPE_CHECKING:
    from agiraph.core.limits import Purse, Refused
    from agiraph.runtime.desk import Desk

AGIRAPH = "agiraph"
_USED_UP = "is used up"


async def ask(desk: Desk, refused: Refused) -> None:
    """Ask the person for more, unless that was asked under the same budget."""
    purse = refused.purse
    if purse is None:
        return
    head, told = _head(purse), desk.world.told_over
    if told.get(head) == purse.budget or _open(desk, head):
        return
    told[head] = purse.budget
    await questions.ask(
        desk,
        Question(
            number=questions.next_number(desk),
            sender=AGIRAPH,
            node=purse.node or None,
            asked=desk.world.stamp(),
            kind=QuestionKind.QUESTION,
            text=_text(desk, purse, refused.words),
        ),
    )


async def withdraw(desk: Desk, node: str | None) -> None:
    """Take back what was asked about budgets that have room again."""
    for number, question in list(desk.questions.items()):
        if question.sender != AGIRAPH or _USED_UP not in question.text:
            continue
        head = question.text.partition("\n")[0]
        mine = [each for each in purses.purses(desk, node) if _head(each) == head]
        if mine and not purse_refuses(mine[0]):
            desk.world.told_over.pop(head, None)
            await questions.withdraw(desk, number, "there is room under the budget")


def _open(desk: Desk, head: str) -> bool:
    return any(each.text.startswith(head) for each in desk.questions.values())


def _head(purse: Purse) -> str:
    return (
        f"The {purse.name} {_USED_UP}: raise the number under `budget` in "
        f"`{purse.where}`, and the work goes on where it was."
    )


def _text(desk: Desk, purse: Purse, words: str) -> str:
    nodes = {
        purse.node,
        *(each.id for each in board.descendants(purse.node, desk.nodes)),
    }
    table = spent_on(desk.tally, lambda spot: not purse.node or spot.node in nodes)
    said = f"{words[0].upper()}{words[1:]}."
    return "\n\n".join(part for part in (_head(purse), said, table) if part)
