"""A Markdown file as its frontmatter and its body, each with its first line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from frontmatter.default_handlers import YAMLHandler

from agiraph.core.codec.fields import Section
from agiraph.core.codec.marked import Group, Scalar, parse
from agiraph.core.codec.report import Findings, Problem

_LINE_END = re.compile("\r\n?")
_BLANK = re.compile(r"\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    """A file in its two parts; lines count from 1 in the whole file.

    Attributes:
        settings: the frontmatter's keys; without any, where there is none.
        body: the text below, without blank lines around it.
    """

    settings: Section
    body: str
    body_line: int


def plain_lines(text: str) -> str:
    r"""The text with `\\n` line ends and without a byte order mark."""
    return _LINE_END.sub("\n", text.removeprefix("\ufeff"))


def read_page(text: str, findings: Findings) -> Page:
    """Split a file; problems of the frontmatter go to `findings`."""
    text = plain_lines(text)
    front, body, front_line, body_line = _split(text, findings)
    settings = read_section(front, findings, first_line=front_line)
    lead = len(body) - len(body.lstrip())
    return Page(settings, body.strip(), body_line + body.count("\n", 0, lead))


def read_section(text: str, findings: Findings, *, first_line: int = 1) -> Section:
    """The keys at the top of a YAML text."""
    value = parse(text, findings, first_line=first_line)
    match value:
        case Group():
            return Section.top(value, findings)
        case None:
            pass
        case Scalar() if value.empty:
            pass
        case _:
            found = "text or a list where settings should be"
            place = (value.line, value.column)
            findings.problems.append(Problem(*place, "", found, "`key: value` lines"))
    return Section.top(Group((), first_line, 1), findings)


def _split(text: str, findings: Findings) -> tuple[str, str, int, int]:
    boundary = YAMLHandler.FM_BOUNDARY
    blank = _BLANK.match(text)
    opening = boundary.match(text, blank.end() if blank else 0)
    if opening is None:
        return "", text, 1, 1
    front_line = 1 + text.count("\n", 0, opening.end())
    closing = boundary.search(text, opening.end())
    if closing is None:
        found = "settings opened by `---` and never closed"
        line = 1 + text.count("\n", 0, opening.start())
        allowed = "a line `---` after the last setting"
        findings.problems.append(Problem(line, 1, "", found, allowed))
        return "", text[opening.end() :], front_line, front_line
    front = text[opening.end() : closing.start()]
    body_line = 1 + text.count("\n", 0, closing.end())
    return front, text[closing.end() :], front_line, body_line
