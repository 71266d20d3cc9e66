"""The coordinator's last steps, and what it can say to a person."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.offline.board import news_of, report_attempts
from agiraph.core.offline.listing import first_line
from agiraph.core.offline.pages import readout
from agiraph.core.offline.talk import CHECKPOINT, Move

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.talk import Talk
    from agiraph.model.json import JsonObject

NO_MODEL = "No language model was used."
ENDED = f"{NO_MODEL} The work is done; there is nothing to do."
_REPORT = "scratch/report.md"
_PUBLISHED = "published/report.md"
_AGAIN = (
    "To have texts read, put them into inputs/ and write another number behind `run:` "
    "in GOAL.md. For an answer by a language model, set a key and `model:` there."
)
# The rules of an agent that does not end say so in its system prompt.
_ENDLESS = re.compile(r"\bgoal does not end\b", re.IGNORECASE)
_TOTALS = re.compile(r"^\d+ texts?, .*$", re.MULTILINE)
_LEFT_OUT = re.compile(r"^## Left out\n\n((?:- .*\n?)+)", re.MULTILINE)
_LONGEST = 1500
_ENDS = ("finish", CHECKPOINT)


@dataclass(frozen=True, slots=True)
class Ending:
    """What a run or cycle ends with.

    Attributes:
        report: where the report was published; "" for none.
        missing: what is not in the result, one line each.
        pages: digests that stand for themselves where there is no report.
        nothing: whether there was no text at all.
    """

    report: str = ""
    missing: Sequence[str] = ()
    pages: Sequence[str] = ()
    nothing: bool = False


def end_move(talk: Talk, ending: Ending) -> Move:
    """Fetch the report, if there is one, and end the run or the cycle."""
    last = talk.last
    if last is not None and last.error and last.name in _ENDS and not talk.fresh:
        words = f"{last.name} was refused: {first_line(last.result)}"
        return Move(f"{NO_MODEL} {words}")
    if ending.nothing:
        return Move(calls=(_end(talk, nothing_words(ending.missing), []),))
    if not ending.report:
        words = _summary("", ending.missing, ending.pages)
        return Move(calls=(_end(talk, words, ending.pages),))
    read = readout(talk, ending.report)
    copied = talk.call("write_file", path=_REPORT)
    if read.calls:
        return Move(calls=read.calls)
    if read.left_out or (copied is not None and copied.error):
        lost = replace(
            ending,
            report="",
            pages=(ending.report,),
            missing=(*ending.missing, "a copy of the report: it could not be made"),
        )
        return end_move(talk, lost)
    if copied is None:
        return Move(calls=(("write_file", {"path": _REPORT, "content": read.text}),))
    words = _summary(read.text, ending.missing, (), place=_place(talk))
    return Move(calls=(_end(talk, words, [_PUBLISHED]),))


def unchanged_move(talk: Talk) -> Move:
    """A cycle in which there is nothing new: the last result, and that it stands."""
    before = _last_checkpoint(talk) or NO_MODEL
    line = "Nothing in inputs/ has changed since."
    words = before if before.endswith(line) else f"{before}\n\n{line}"
    return Move(calls=((CHECKPOINT, {"summary": words}),))


def _last_checkpoint(talk: Talk) -> str:
    """The result of the last cycle; "" where there was none."""
    last = [done for done in talk.earlier if done.name == CHECKPOINT and not done.error]
    return str(last[-1].arguments.get("summary", "")) if last else ""


def nothing_words(left: Sequence[str]) -> str:
    """The result where there was nothing to read."""
    parts: list[str] = [
        (
            f"{NO_MODEL} There was nothing to read: inputs/ holds no text, and the "
            "goal is too short to be digested itself."
        ),
        _AGAIN,
    ]
    return "\n\n".join(parts + _list("Left out:", left))


def reply(talk: Talk) -> str:
    """What can be said to a person who wrote."""
    finished = talk.succeeded("finish")
    if finished:
        so_far = f"The run is finished. {finished.arguments.get('summary', '')}"
    else:
        so_far = _so_far(talk)
    return (
        f"{NO_MODEL} I am offline/digest: fixed rules that digest texts, so I cannot "
        f"understand what you wrote. {so_far}\n\n{_AGAIN}"
    )


def _so_far(talk: Talk) -> str:
    news = news_of(talk)
    nodes = [
        str(done.arguments.get("id"))
        for done in talk.calls_of("create_work_node")
        if not done.error
    ]
    if not nodes:
        before = _last_checkpoint(talk)
        return f"The last result: {before}" if before else "Nothing is digested yet."
    ended = [node for node in nodes if news.completed(node)]
    words = f"So far {len(ended)} of {len(nodes)} nodes are complete"
    words += f": {', '.join(ended)}." if ended else "."
    made = any(not done.error for done in report_attempts(talk))
    return words + (" The report comes last." if made else "")


def _place(talk: Talk) -> str:
    """Where the report will stand: a run's end moves it, a cycle's end does not."""
    return _REPORT if _is_endless(talk) else _PUBLISHED


def _is_endless(talk: Talk) -> bool:
    return CHECKPOINT in talk.tools and bool(_ENDLESS.search(talk.system))


def _end(talk: Talk, words: str, artifacts: Sequence[str]) -> tuple[str, JsonObject]:
    if _is_endless(talk):
        return CHECKPOINT, {"summary": words}
    if artifacts:
        return "finish", {"summary": words, "artifacts": list(artifacts)}
    return "finish", {"summary": words}


def _summary(
    report: str, missing: Sequence[str], pages: Sequence[str], *, place: str = ""
) -> str:
    """The result in a few lines: what there is, and what is missing."""
    totals = _TOTALS.search(report)
    left = _LEFT_OUT.search(report)
    if left:
        missing = [line.removeprefix("- ") for line in left.group(1).splitlines()]
    if totals:
        head = f"{NO_MODEL} The report stands in {place}. {totals.group()}"
    elif report:
        head = f"{NO_MODEL} The report stands in {place}."
    elif pages:
        head = f"{NO_MODEL} There is no report over all texts, but these pages."
    else:
        head = f"{NO_MODEL} No text could be digested."
    text = "\n\n".join([head, *_list("Left out:", missing)])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _list(title: str, lines: Sequence[str]) -> list[str]:
    return [title + "\n\n" + "\n".join(f"- {line}" for line in lines)] if lines else []
