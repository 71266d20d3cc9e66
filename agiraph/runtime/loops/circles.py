"""A worker that goes in circles waits until somebody says how to go on.

The person is asked and the coordinator told; an answer, a message or a changed task
lets the work go on, with all that it had. While the question is open, the worker waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph import prompts
from agiraph.core import turn as rules
from agiraph.core.brief import notice
from agiraph.model.conversation import Kind, UserLine
from agiraph.model.message import Message, Question, QuestionKind
from agiraph.model.names import AGIRAPH, COORDINATOR, question_id
from agiraph.model.node import NodeState
from agiraph.runtime.people import questions
from agiraph.runtime.people.questions import IN_CIRCLES

if TYPE_CHECKING:
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.loops.loop import Loop
    from agiraph.runtime.loops.role import Role

_HOW: Final = (
    "The person was asked the same ({question}). I wait: a message to me that says "
    "another way lets me go on, cancel_node ends it."
)


async def work(
    desk: Desk, talk: Conversation, worker: Role, loop: Loop, *, node: str, most: int
) -> rules.End:
    """One assignment to its end, with a rest wherever it goes in circles.

    Args:
        most: the turns that it may take; without one left it ends as stuck.
    """
    asked = questions.about_circles(desk, node)
    while True:
        if asked is not None:
            await _wait(desk, talk, worker, asked)
        turns = worker.turns_so_far()
        end = await loop.run(turns=turns, max_turns=most)
        if end.why is not rules.Why.STUCK or worker.turns_so_far() >= most:
            return end
        asked = await _ask(desk, worker, node, end.note)


async def _ask(desk: Desk, worker: Role, node: str, why: str) -> int:
    """Ask the person; the question's number."""
    number = questions.next_number(desk)
    words = f"{IN_CIRCLES} in node {node}: {why}"
    question = Question(
        number=number,
        sender=worker.name,
        node=node,
        asked=desk.world.stamp(),
        kind=QuestionKind.QUESTION,
        text=f"{words} (`{worker.log}` has it all). What should I do instead?",
    )
    await questions.ask(desk, question)
    return number


async def _wait(desk: Desk, talk: Conversation, worker: Role, asked: int) -> None:
    """Parked until it hears something; then it is told to try another way."""
    ident = question_id(asked)
    await _tell_coordinator(desk, worker, asked)
    if not worker.called():
        words = f"an answer to {ident}"
        async with worker.parked(NodeState.WAITING_FOR_HUMAN, words):
            await desk.until(worker.called)
    line = UserLine(
        desk.world.stamp(), notice(prompts.words("stuck")), Kind.NOTICE, AGIRAPH
    )
    await talk.append(line, flush=True)
    if asked in desk.questions:
        why = f"{worker.name} goes on by what it was told since"
        await questions.withdraw(desk, asked, why)


async def _tell_coordinator(desk: Desk, worker: Role, asked: int) -> None:
    """Once for each question: by a message, which wakes it where it waits."""
    question = desk.questions.get(asked)
    if question is None or not desk.settings.coordinator:
        return
    await desk.mail.post(
        Message(
            id=f"circles:{desk.run_folder().name}:{question.id}",
            sender=worker.name,
            to=COORDINATOR,
            ts=desk.world.stamp(),
            text=f"{question.text}\n\n{_HOW.format(question=question.id)}",
        )
    )
