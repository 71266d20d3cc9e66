"""What has been told and not answered: to the model's caller, and to the person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.model.conversation import AssistantLine, Kind, ToolLine, UserLine
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agiraph.model.conversation import Spoken

GRANTED: Final = "granted:"  # how the id of a person's word on a call begins
_TOLD: Final = (Kind.MAIL, Kind.NOTICE)


def unanswered(
    lines: Sequence[Spoken], by_a_person: Callable[[str], bool]
) -> tuple[UserLine, ...]:
    """What the model has not answered: the newest texts, and what a person is owed.

    Args:
        lines: of the session, without those of the compaction.
        by_a_person: whether an id is that of a person's message or answer.
    """
    owed: list[UserLine] = []
    answered = False
    for line in reversed(lines):
        if isinstance(line, AssistantLine):
            if not line.tool_calls:
                break
            answered = True
        elif isinstance(line, ToolLine):
            if any(map(by_a_person, line.ids)):
                mail = UserLine(line.ts, line.content, Kind.MAIL, HUMAN, line.ids)
                owed.append(mail)
        elif line.kind in _TOLD and (not answered or _is_owed(line, by_a_person)):
            owed.append(line)
    return tuple(reversed(owed))


def owes_reply(lines: Sequence[Spoken], by_a_person: Callable[[str], bool]) -> bool:
    """Whether the last line is a text that a person has waited for.

    Args:
        lines: of the session.
        by_a_person: whether an id is that of a person's message or answer.
    """
    last = lines[-1] if lines else None
    if not isinstance(last, AssistantLine) or last.tool_calls:
        return False
    owed = unanswered(lines[:-1], by_a_person)
    return bool(last.content.strip()) and (
        any(_is_owed(line, by_a_person) for line in owed) or _after_a_word(lines[:-1])
    )


def _after_a_word(lines: Sequence[Spoken]) -> bool:
    """Whether a person has allowed or refused a call since the last text.

    The call's result tells of it; it is never taken for the person's own words.
    """
    for line in reversed(lines):
        if isinstance(line, AssistantLine) and not line.tool_calls:
            return False
        if isinstance(line, ToolLine) and any(x.startswith(GRANTED) for x in line.ids):
            return True
    return False


def _is_owed(line: UserLine, by_a_person: Callable[[str], bool]) -> bool:
    """Whether it holds what a person wrote; an answer comes in a notice."""
    return line.sender == HUMAN or any(map(by_a_person, line.ids))
