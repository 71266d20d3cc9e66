"""The coordinator over a weak model: many narrow questions, each answer looked at.

The goal says `paragraph` and by which model. Each paragraph is a node with one answer
and no tools; a bad or empty answer is asked for once more, in other words; after that
the paragraph's most central sentence is taken by rule. The report says which it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.digest.digest import digest
from agiraph.core.offline.board import news_of, status_calls
from agiraph.core.offline.judge import fault_of, first_sentence, plain_answer
from agiraph.core.offline.listing import first_line
from agiraph.core.offline.narrow_pages import (
    Part,
    Told,
    parts_of,
    plan_page,
    report_page,
    totals,
)
from agiraph.core.offline.pages import readout
from agiraph.core.offline.talk import Move
from agiraph.core.turn import CUT_OFF, NOTHING_SAID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.board import News
    from agiraph.core.offline.listing import Found
    from agiraph.core.offline.talk import Talk
    from agiraph.model.json import JsonObject

REPORT: Final = "report.md"
READERS: Final = 2
_WISH = re.compile(
    r"\bparagraphs?\b[^#]{0,400}?\bby\s+`((?!inputs/|nodes/|run/)[a-z][\w.-]*/[^`\s]+)`"
)
_AGAIN = "-again"
_TASK = (
    "Summarise this paragraph in one short sentence. Write the sentence alone. Use "
    "only what the paragraph says.\n\n{text}"
)
_TASK_AGAIN = (
    "What does this paragraph say? Answer with one plain sentence of at most 25 words, "
    "in its own words and with no figure that is not in it.\n\n{text}"
)


def model_wanted(brief: str) -> str:
    """The model by which the goal wants paragraphs done; "" where it wants none."""
    found = _WISH.search(brief)
    return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class _Try:
    """How one attempt at a paragraph stands.

    Attributes:
        calls: what is to be done before it can go on.
        answer: what the model said, fit to be used.
        fault: why there is no such answer; "" while it is open, or good.
    """

    calls: tuple[tuple[str, JsonObject], ...] = ()
    answer: str = ""
    fault: str = ""


def narrow_move(
    talk: Talk, model: str, texts: Sequence[Found], left: Sequence[str], suffix: str
) -> Move:
    """The next step of the coordinator.

    Args:
        texts: the files to read.
        left: what is left out, a line each.
        suffix: behind each node's id, to keep later rounds apart.
    """
    reads = [(text.path, readout(talk, text.path)) for text in texts]
    calls = tuple(call for _, read in reads for call in read.calls)
    if calls:
        return Move(calls=calls)
    pages = [(path, read.text) for path, read in reads if not read.left_out]
    parts = parts_of(pages, suffix)
    if talk.call("write_file", path="_plan.md") is None:
        page: JsonObject = {"path": "_plan.md", "content": plan_page(parts, model)}
        return Move(calls=(("write_file", page),))
    return _with_parts(talk, model, parts, left)


def _with_parts(
    talk: Talk, model: str, parts: Sequence[Part], left: Sequence[str]
) -> Move:
    news = news_of(talk)
    told: list[Told] = []
    calls: list[tuple[str, JsonObject]] = []
    waiting: list[str] = []
    for at, part in enumerate(parts):
        reader = f"reader-{at % READERS + 1}"
        stand = _stand(talk, news, part, {"name": reader, "model": model})
        if isinstance(stand, Told):
            told.append(stand)
        elif isinstance(stand, str):
            waiting.append(stand)
        else:
            calls += stand
    if not calls and waiting and (news.stuck or news.looked):
        calls += _freed(waiting, news)
    if calls:
        return Move(calls=tuple(calls))
    if waiting:
        return Move(f"{len(told)} of {len(parts)} paragraphs are summarised.")
    return _end(talk, model, told, left)


def _freed(waiting: Sequence[str], news: News) -> Sequence[tuple[str, JsonObject]]:
    """Look how the open nodes stand; having looked, give them up."""
    if not news.looked:
        return status_calls(waiting)
    why = "nothing can bring it to its end; its paragraph is done by rule"
    return [("cancel_node", {"node_id": node, "reason": why}) for node in waiting]


def _stand(
    talk: Talk, news: News, part: Part, worker: JsonObject
) -> Told | str | tuple[tuple[str, JsonObject], ...]:
    """A paragraph's summary, or the node that is waited for, or what is to be done."""
    faults: list[str] = []
    for node, task in ((part.node, _TASK), (part.node + _AGAIN, _TASK_AGAIN)):
        tried = _tried(talk, news, node, part)
        if tried is None:
            create: JsonObject = {
                "task": task.format(text=part.text),
                "id": node,
                "max_turns": 1,
                "worker": worker,
            }
            return (("create_work_node", create),)
        if tried.calls:
            return tried.calls
        if tried.answer:
            return Told(part, tried.answer, tuple(faults), by_rule=False)
        if not tried.fault:
            return node
        faults.append(tried.fault)
    found = digest(part.node, part.path, part.text)
    sentence = found.first or part.text
    return Told(part, sentence, tuple(faults), by_rule=True)


def _tried(talk: Talk, news: News, node: str, part: Part) -> _Try | None:
    """How an attempt stands; None where it is still to be made."""
    made = talk.call("create_work_node", id=node)
    if made is None:
        return None
    if made.error:
        return _Try(fault=f"its node could not be made ({first_line(made.result)})")
    if news.completed(node):
        read = readout(talk, f"nodes/{node}/published/answer.md")
        if read.calls:
            return _Try(calls=read.calls)
        answer = first_sentence(plain_answer(read.text))
        fault = fault_of(answer, part.text)
        return _Try(answer="" if fault else answer, fault=fault)
    if news.ended(node) or talk.call("cancel_node", node_id=node):
        return _Try(fault=_no_answer(news.words.get(node) or "its node was given up"))
    return _Try()


def _no_answer(why: str) -> str:
    for words in (CUT_OFF, NOTHING_SAID):
        if words in why:
            return words.replace("the answer", "it")
    return f"there was none: {first_line(why)}"


def _end(talk: Talk, model: str, told: Sequence[Told], left: Sequence[str]) -> Move:
    path = f"scratch/{REPORT}"
    words = totals(model, told)
    written = talk.call("write_file", path=path)
    if written is None:
        page: JsonObject = {"path": path, "content": report_page(words, told, left)}
        return Move(calls=(("write_file", page),))
    last = talk.last
    if last is not None and last.error and not talk.fresh:
        return Move(f"{last.name} was refused: {first_line(last.result)}")
    end: JsonObject = {"summary": words, "artifacts": [] if written.error else [REPORT]}
    return Move(calls=(("finish", end),))
