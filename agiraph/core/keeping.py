"""Which lines of a journal still matter; the others may be left out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.approval import APPROVAL
from agiraph.model.names import question_id

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agiraph.model.json import JsonObject

# `coordinator/3.12.0`, `2026-11-21-01/alice/1.2.0`; without a call's index it is the
# model call that is next.
_STEP: Final = re.compile(r"(?P<loop>.+)/(?P<turn>\d+\.\d+)(?:\.\d+)?")
_QUESTION: Final = re.compile(r"q-\d+")
_CRASHES: Final = frozenset({"again", "unharmed", "crash", "quarantined"})
_OF_STEPS: Final = _CRASHES | {"intent", "mark"}
_JOB: Final = "job"  # how the marks of long commands begin
_RUNS: Final = 2
_ANSWERS: Final = 500
_ACCEPTED: Final = 500


@dataclass(frozen=True, slots=True)
class _Line:
    """One line, and which loop and turn it is about; empty where it is about none."""

    at: int
    entry: JsonObject
    kind: str
    step: str
    loop: str = ""
    turn: str = ""


def still_matters(
    entries: Sequence[JsonObject], questions: Collection[str]
) -> list[JsonObject]:
    """The lines that a restart may have to know, in their order.

    A loop goes on only with the calls of its last answer, so what is on record of the
    turns before is settled. What this does not know is kept.

    Args:
        entries: all lines of the journal.
        questions: those whose files are not put away, such as `q-001`.
    """
    lines = [_line(at, entry) for at, entry in enumerate(entries)]
    begun = _last_turns(lines)
    jobs = _jobs(lines)
    released = max((line.at for line in lines if line.kind == "released"), default=-1)
    kept = [
        line
        for line in lines
        if line.kind != "asked"
        and line.at != released
        and not (line.kind in _CRASHES | {"released"} and line.at < released)
        and (line.at >= begun.get(line.loop, -1) or _is_open(line, questions, jobs))
    ]
    # What is asked for may be asked anew, and is then known by its answer.
    asking = {question_id(n) for line in kept for n in _numbers(line.entry)}
    known = asking.union(questions)
    kept = [
        line
        for line in kept
        if line.kind != "mark"
        or not _QUESTION.fullmatch(line.step)
        or line.step in known
    ]
    kept = _newest(kept, [line for line in kept if _is_answer(line)], _ANSWERS)
    kept = _newest(kept, _accepted(kept), _ACCEPTED)
    return [*_highest(lines), *(line.entry for line in kept)]


def _line(at: int, entry: JsonObject) -> _Line:
    kind, step = str(entry.get("kind")), str(entry.get("step", ""))
    found = _STEP.fullmatch(step) if kind in _OF_STEPS else None
    if found is None:
        return _Line(at, entry, kind, step)
    return _Line(at, entry, kind, step, found["loop"], found["turn"])


def _last_turns(lines: Sequence[_Line]) -> dict[str, int]:
    """Where the last turn of each loop that may go on begins.

    The last in the file: numbers begin again where a conversation was taken away.
    """
    turns = {line.loop: line.turn for line in lines if line.kind == "intent"}
    begun: dict[str, int] = {}
    for line in lines:
        if line.loop and turns.get(line.loop) == line.turn:
            begun.setdefault(line.loop, line.at)
    runs = dict.fromkeys(loop.partition("/")[0] for loop in begun if "/" in loop)
    old = set(list(runs)[:-_RUNS])
    return {
        loop: len(lines) if loop.partition("/")[0] in old else at
        for loop, at in begun.items()
    }


def _is_open(line: _Line, questions: Collection[str], jobs: Collection[str]) -> bool:
    """Whether a line of a turn that is over is about something that goes on."""
    if line.kind == "mark":
        return line.step in jobs and _what(line).startswith(_JOB)
    asks = line.kind == "intent" and APPROVAL in _intent(line.entry)
    return asks and any(question_id(n) in questions for n in _numbers(line.entry))


def _jobs(lines: Sequence[_Line]) -> set[str]:
    """The steps of long commands of which nothing was told, and of the last one.

    The last one has the highest number, after which the next one is numbered.
    """
    begun = [line.step for line in lines if _is_mark(line, f"{_JOB}: ")]
    told = {line.step for line in lines if _is_mark(line, f"{_JOB} told")}
    return {step for step in begun if step not in told} | set(begun[-1:])


def _is_mark(line: _Line, beginning: str) -> bool:
    return line.kind == "mark" and _what(line).startswith(beginning)


def _what(line: _Line) -> str:
    return str(line.entry.get("what", ""))


def _is_answer(line: _Line) -> bool:
    """Whether it only tells, after a crash, that a letter was taken as an answer."""
    return not line.loop and _is_mark(line, "answer ")


def _accepted(lines: Sequence[_Line]) -> list[_Line]:
    return [line for line in lines if line.kind == "accepted"]


def _newest(lines: list[_Line], some: Sequence[_Line], most: int) -> list[_Line]:
    """All lines, but of some of them only the newest."""
    old = {line.at for line in some[:-most]}
    return [line for line in lines if line.at not in old]


def _intent(entry: JsonObject) -> JsonObject:
    intent = entry.get("intent")
    return intent if isinstance(intent, Mapping) else {}


def _numbers(entry: JsonObject) -> list[int]:
    """The numbers of the questions that an intent has decided to ask."""
    intent, found = _intent(entry), []
    approval = intent.get(APPROVAL)
    if "asked" in intent:
        found.append(intent.get("number"))
    if isinstance(approval, Mapping):
        found.append(approval.get("number"))
    return [number for number in found if isinstance(number, int)]


def _highest(lines: Sequence[_Line]) -> list[JsonObject]:
    """The highest number of a question so far, which no other may have."""
    numbers = [number for line in lines for number in _numbers(line.entry)]
    known = [line.entry.get("number") for line in lines if line.kind == "asked"]
    numbers += [number for number in known if isinstance(number, int)]
    highest = max(numbers, default=0)
    return [{"kind": "asked", "number": highest}] if highest else []
