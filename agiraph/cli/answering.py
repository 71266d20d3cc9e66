"""Answers in place: what is typed in a chat, as the inbox reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.cli.view import QuestionView

_NUMBERED = re.compile(r"\s*(?:q-)?0*(\d{1,9})\s*:\s*(.+)", re.DOTALL)
_CHOICE = re.compile(r"\s*(\d{1,3})\s*")


def answering(text: str, questions: Iterable[QuestionView]) -> str:
    """What was typed, as the inbox reads it: an answer names its question.

    `1: yes` answers q-001 while that is open; a number alone picks an option where
    just one question has any. Everything else stays as it is.
    """
    known = {int(each.id.removeprefix("q-")): each for each in questions}
    numbered = _NUMBERED.fullmatch(text)
    if numbered and int(numbered[1]) in known:
        asked = known[int(numbered[1])]
        return f"{asked.id}: {_option(asked, numbered[2].strip())}"
    choosing = [each for each in known.values() if each.options]
    chosen = _CHOICE.fullmatch(text)
    if chosen and len(choosing) == 1 and len(known) == 1:
        picked = _option(choosing[0], chosen[1])
        if picked != chosen[1]:
            return f"{choosing[0].id}: {picked}"
    return text


def _option(asked: QuestionView, typed: str) -> str:
    """The words of the option whose number was typed."""
    if typed.isdigit() and 1 <= int(typed) <= len(asked.options):
        return asked.options[int(typed) - 1]
    return typed
