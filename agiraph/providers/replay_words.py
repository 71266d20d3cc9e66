"""What people wrote and answered during a recorded run, and where it was heard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import read_message
from agiraph.core.codec.report import Good
from agiraph.core.loglines import record_of
from agiraph.model.conversation import AssistantLine, UserLine
from agiraph.model.event import EventType
from agiraph.model.names import HUMAN
from agiraph.providers.replay_files import events, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agiraph.model.conversation import Line
    from agiraph.model.json import JsonObject
    from agiraph.model.message import Message

ANSWER: Final = "answer:"  # how the id of an answer begins, before its question's


@dataclass(frozen=True, slots=True)
class Word:
    """One thing that a person said.

    Attributes:
        id: of the message, or `answer:` and the question's; ts: when it was said.
        who: who heard it: the coordinator, or a node; empty where a call waited for it.
        after: how many answers the hearer had given before.
        to: the addressee of a message.
        question: the text of the question that it answers; empty for a message.
    """

    id: str
    ts: str
    who: str
    after: int
    text: str
    to: str = ""
    urgent: bool = False
    question: str = ""


def words(run: str, said: Mapping[str, Iterable[Line]]) -> tuple[Word, ...]:
    """All that people said in a run, in order, as far as it can be said again.

    Args:
        run: the path of the run's folder.
        said: its conversations, by who was spoken to.
    """
    folder = Path(run)
    letters = _letters(folder / "_messages")
    asked, answered = _answers(events(folder.parent.parent), folder.name)
    found = []
    for who, given, ident in _heard(said):
        letter = letters.get(ident)
        question = ident.removeprefix(ANSWER)
        if letter is not None:
            ts, text, to = letter.ts, letter.text, letter.to
            found.append(Word(ident, ts, who, given, text, to, letter.urgent))
        elif ident != question and question in answered:
            ts, text = answered.pop(question)
            found.append(Word(ident, ts, who, given, text, question=asked[question]))
    for question, (ts, text) in answered.items():
        ident = f"{ANSWER}{question}"
        found.append(Word(ident, ts, "", 0, text, question=asked[question]))
    return tuple(sorted(found, key=lambda word: word.ts))


def heard(lines: Iterable[Line]) -> tuple[str, ...]:
    """The ids of all that people said, as these lines tell it, in order."""
    return tuple(ident for _, _, ident in _heard({"": lines}))


def _heard(said: Mapping[str, Iterable[Line]]) -> Iterator[tuple[str, int, str]]:
    """Who heard what, and after how many answers of its own."""
    for who, lines in said.items():
        given = 0
        for line in lines:
            given += isinstance(line, AssistantLine)
            if isinstance(line, UserLine):
                for ident in line.ids:
                    if _by_a_person(ident):
                        yield who, given, ident


def _by_a_person(ident: str) -> bool:
    inbox, _, number = ident.rpartition("#")
    return ident.startswith(ANSWER) or (bool(inbox) and number.isdigit())


def _letters(folder: Path) -> dict[str, Message]:
    """What people wrote, by id."""
    found = {}
    for path in sorted(folder.glob("*.md")):
        try:
            read = read_message(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(read, Good) and read.value.sender == HUMAN:
            found[read.value.id] = read.value
    return found


def _answers(
    logs: list[Path], run: str
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """The texts of a run's questions, and when people answered what, by their ids."""
    asked: dict[str, str] = {}
    answered: dict[str, tuple[str, str]] = {}
    for event in _events(logs):
        data = event.get("data")
        if event.get("run") != run or not isinstance(data, dict):
            continue
        ident, text = str(data.get("id")), str(data.get("text", ""))
        match event.get("type"):
            case EventType.HUMAN_QUESTION.value:
                asked.setdefault(ident, text)
            case EventType.HUMAN_RESPONSE.value if ident in asked:
                answered[ident] = (str(event.get("ts", "")), text)
    return asked, answered


def _events(logs: list[Path]) -> Iterator[JsonObject]:
    for line in lines_of(*logs):
        event = record_of(line)
        if event is not None:
            yield event
