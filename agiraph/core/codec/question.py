"""`_questions/q-001.md`: a question with its options, and the place for the answer.

The question's words come from a model. Lines of it that would look like a ticked box or
like the answer's heading are written with a backslash before them, so that nobody but
the person who edits the file can answer it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Problem, Rejected
from agiraph.model.message import Question, QuestionKind

if TYPE_CHECKING:
    from agiraph.core.codec.page import Page
    from agiraph.model.json import Json

_NAME = re.compile(r"q-([0-9]{1,9})\.md")
_HEADING = re.compile(r" {0,3}##\s+Answer\s*", re.IGNORECASE)
_BOX = re.compile(r"\s*[-*+] \[([ xX])\] ?(.*)")
_HINT = "# one line here is enough"
_BEHIND_HINT = re.compile(rf"^answer:[ \t]*{_HINT}[ \t]*(\S.*)$", re.M)
_CLOSE = re.compile(r"^answer:(?=[^\s:])", re.M)
_ALIKE = re.compile(r"^(\s*)(\\*)(##\s+Answer\s*$|[-*+] \[[ xX]\])", re.I | re.M)
_ESCAPED = re.compile(r"^(\s*)\\(\\*)(##\s+Answer\s*$|[-*+] \[[ xX]\])", re.I | re.M)


def write_question(question: Question) -> str:
    """The text of a question file; an answer of one line stands in the settings."""
    keys: dict[str, Json] = {"from": question.sender}
    if question.node is not None:
        keys["node"] = question.node
    keys |= {"asked": question.asked, "kind": question.kind.value}
    if question.channel:
        keys["channel"] = question.channel
    short = question.answer if "\n" not in question.answer else ""
    answer = emit.scalar(short) if short else f"          {_HINT}"
    boxes = "\n".join(f"- [ ] {' '.join(each.split())}" for each in question.options)
    parts = [_ALIKE.sub(r"\1\\\2\3", question.text.strip()), boxes, "## Answer"]
    below = "" if short else question.answer.strip()
    return (
        f"---\n{emit.settings(keys)}answer: {answer}\n---\n"
        + "\n\n".join(part for part in [*parts, below] if part)
        + "\n"
        + ("" if below else "\n")
    )


def read_question(text: str, name: str) -> Good[Question] | Rejected:
    """A question and what a person has answered.

    Args:
        text: the whole file.
        name: of the file, e.g. `q-001.md`.
    """
    findings = Findings.none_yet()
    page = read_page(_typed(text), findings)
    asked, options, ticked, below = _parts(page.body)
    number = _NAME.fullmatch(name)
    if number is None:
        findings.problems.append(Problem(1, 1, "", f"'{name}'", "a name like q-001.md"))
    top = page.settings
    question = Question(
        number=int(number[1]) if number else 0,
        sender=top.get("from", kinds.line, ""),
        node=top.get("node", kinds.line, None),
        asked=top.get("asked", kinds.line, ""),
        kind=top.get("kind", kinds.choice(QuestionKind), QuestionKind.QUESTION),
        text=asked,
        options=options,
        channel=top.get("channel", kinds.line, ""),
    )
    ticks = _ticks(ticked, question.kind)
    question = replace(question, answer=_answer(page, ticks, below, findings))
    top.close()
    if findings.problems:
        return findings.rejected()
    return Good(question, tuple(findings.remarks))


def _typed(text: str) -> str:
    """The text with an answer where a cursor at the end of its line leaves it.

    Behind the hint it would be a part of a remark, and right behind the colon no YAML.
    """
    front = text.find("\n---", 3)
    if front < 0:
        return text
    head = _BEHIND_HINT.sub(r"answer: \1", text[:front])
    return _CLOSE.sub("answer: ", head) + text[front:]


def _parts(body: str) -> tuple[str, tuple[str, ...], list[str], str]:
    """The question, its options, those that are ticked, and what stands below."""
    lines = body.split("\n")
    at = next((i for i, each in enumerate(lines) if _HEADING.fullmatch(each)), None)
    above = lines if at is None else lines[:at]
    below = "" if at is None else "\n".join(lines[at + 1 :]).strip()
    while above and not above[-1].strip():
        above.pop()
    boxes: list[re.Match[str]] = []
    while above and (box := _BOX.fullmatch(above[-1])):
        boxes.insert(0, box)
        above.pop()
    ticked = [box[2].strip() for box in boxes if box[1] in "xX"]
    options = tuple(box[2].strip() for box in boxes)
    return _ESCAPED.sub(r"\1\2\3", "\n".join(above)).strip(), options, ticked, below


def with_answer(text: str, answer: str) -> str:
    """A question file's text with an answer filled in, the rest as it stands."""
    short = answer.strip()
    if "\n" not in short:
        place = re.compile(r"^answer:.*$", re.MULTILINE)
        return place.sub(lambda _: f"answer: {emit.scalar(short)}", text, count=1)
    lines = text.split("\n")
    at = next((i for i, each in enumerate(lines) if _HEADING.fullmatch(each)), None)
    above = [*lines, "## Answer"] if at is None else lines[: at + 1]
    return "\n".join([*above, "", short, ""])


def _ticks(ticked: list[str], kind: QuestionKind) -> list[str]:
    """Several ticked boxes are one answer; of an approval they are none."""
    if kind is QuestionKind.APPROVAL or len(ticked) < 2:
        return ticked
    return [", ".join(ticked)]


def _answer(page: Page, ticked: list[str], below: str, findings: Findings) -> str:
    place = page.settings.place("answer")
    short = ""
    if place is not None and not place.empty:
        short = (place.read(kinds.text) or "").strip()
    said = [each for each in (short, *ticked, below) if each]
    if len({" ".join(each.split()).casefold() for each in said}) > 1:
        line = place.value.line if place is not None else page.body_line
        found = "answers that differ: " + ", ".join(f"'{each[:60]}'" for each in said)
        allowed = "one answer: in `answer:`, by one ticked box, or below `## Answer`"
        findings.problems.append(Problem(line, 1, "answer", found, allowed))
        return ""
    return said[0] if said else ""
