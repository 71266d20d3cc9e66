"""A trigger's command under `permissions: bash: ask`: the person's word comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.core.approval import Need, Verdict, permitted, shown, verdict
from agiraph.model.agent import Permission
from agiraph.model.names import question_id
from agiraph.runtime.people import approvals, questions
from agiraph.runtime.triggers.deeds import may_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.runtime.desk import Desk

CHANGED: Final = "it was taken away, or changed"
_OVER: Final = "not asked any longer"


def may_now(desk: Desk, command: str) -> bool:
    """Whether a command may run without a word from the person."""
    if desk.settings.permissions.bash is Permission.ASK:
        return approvals.is_covered(desk, _need("", command))
    return not may_run(desk)


def _need(step: str, command: str) -> Need:
    return Need("bash", (command,), shown("trigger", step, {"command": command}))


async def consent(
    desk: Desk, step: str, command: str, stands: Callable[[], bool]
) -> str:
    """Wait until a command may run, or it is known that it may not.

    Args:
        step: what it is for; the same step asks once, over restarts too.
        command: what would run, whole.
        stands: whether the trigger is still as it was.

    Returns:
        Why it may not run; empty where it may, and nothing is paused.
    """
    need = _need(step, command)

    def is_asked() -> bool:
        asks = desk.settings.permissions.bash is Permission.ASK
        return asks and not may_now(desk, command)

    if not is_asked():
        return may_run(desk)
    if not stands():
        return CHANGED
    number = await _ask(desk, step, need)
    await desk.bell.until(
        lambda: number not in desk.questions or not is_asked() or not stands()
    )
    why = await _outcome(
        desk, number, "" if is_asked() else may_run(desk), stands=stands()
    )
    await desk.bell.until(lambda: not (desk.is_paused or desk.hold))
    return why


async def _ask(desk: Desk, step: str, need: Need) -> int:
    """Ask, unless the step is answered already; the question's number."""
    intent = desk.journal.intent(step)
    if intent is None:
        number = questions.next_number(desk)
        asked = permitted(Permission.ASK, need)
        intent = approvals.numbered(asked, number, desk.world.stamp())
        await desk.journal.intend(step, "trigger", intent)
    question = approvals.question_of(intent, need)
    if desk.journal.mark_of(question.id, questions.ANSWERED) is None:
        await questions.ask(desk, question)
    return question.number


async def _outcome(desk: Desk, number: int, against: str, *, stands: bool) -> str:
    """Why the command may not run, now that something has happened; else empty."""
    ident = question_id(number)
    said = desk.journal.mark_of(ident, questions.ANSWERED)
    if said is not None:
        await questions.settled(desk, number)
        if not stands:
            return CHANGED
        if verdict(said) in (Verdict.YES, Verdict.ALWAYS):
            return ""
        return f"refused by the person ({ident})" if said else _OVER
    words = "permissions have changed" if stands else f"the trigger: {CHANGED}"
    await questions.withdraw(desk, number, words)
    return against if stands else CHANGED
