# ruff: noqa: RUF001 (the marks of many scripts are the subject of this module)
"""A text as its blocks: headings, paragraphs and list items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class BlockKind(Enum):
    """What a block is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines that belong together, on one line, without marks.

    Attributes:
        level: of a heading, from 1; 0 for everything else.
    """

    kind: BlockKind
    text: str
    level: int = 0


_HASH = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_RULE = re.compile(r"^\s*([-*_=~#+])(\s*\1){2,}\s*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
_ITEM = re.compile(
    r"^\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+(?:\[[ xX]\]\s+)?(?=\S)"
)
_NUMBERED = re.compile(
    r"^\s*(?:(\d{1,2}(?:\.\d{1,2})+)\.?|(\d{1,2})[.)]|([IVXL]{1,7})\.|"
    r"(?:Chapter|Part|Section|Kapitel|Teil|Abschnitt|Chapitre|Partie|Capítulo|Parte)"
    r"\s+[\dIVXLC]+[.:]?)(?:\s+\S.*)?$"
)
_TABLE = re.compile(r"^\s*\|.*\|\s*$")
# Each is bounded, so that a stray mark in a very long line costs little.
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\]\([^()\s]{0,600}[^()]{0,100}\)")
_LINK = re.compile(r"\[([^\[\]]{1,300})\](?:\([^()]{0,700}\)|\[[^\[\]]{0,100}\])")
_ADDRESS = re.compile(r"<(?:https?|mailto):[^<>]{0,600}>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,2000}?-->")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.{1,300}?)(?<=\S)\1(?![\w*])")
_LONGEST_HEADING = 100


def blocks(text: str) -> list[Block]:
    """The blocks in order; code, tables and a frontmatter are left out."""
    lines = _without_frontmatter(text.replace("\r\n", "\n").replace("\r", "\n"))
    found: list[Block] = []
    groups = [group for group in _groups(lines) if group]
    for at, group in enumerate(groups):
        before = groups[at - 1] if at else []
        after = groups[at + 1] if at + 1 < len(groups) else []
        title = _lone_heading(group, before, after)
        found.extend([title] if title else _blocks_of(group))
    return [block for block in found if block.text]


def plain(text: str) -> str:
    """A text on one line, without Markdown's marks."""
    text = _TAG.sub(" ", _ADDRESS.sub(" ", _LINK.sub(r"\1", _IMAGE.sub(" ", text))))
    for _ in range(2):
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.replace("`", "").split())


def _without_frontmatter(text: str) -> list[str]:
    lines = text.lstrip("\ufeff").split("\n")
    if lines[0].strip() != "---":
        return lines
    for at, line in enumerate(lines[1:60], start=1):
        if line.strip() == "---":
            return lines[at + 1 :]
        if line and ":" not in line and not line.startswith((" ", "-", "#")):
            break
    return lines


def _groups(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank line; fenced code is dropped."""
    group: list[str] = []
    fence = ""
    for line in lines:
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
            continue
        opening = _FENCE.match(line)
        if opening or not line.strip():
            fence = opening.group(1) if opening else ""
            yield group
            group = []
        elif not _TABLE.match(line):
            group.append(re.sub(r"^ {0,3}(?:>\s?)+", "", line))
    yield group


def _lone_heading(
    group: Sequence[str], before: Sequence[str], after: Sequence[str]
) -> Block | None:
    """A line between blank lines that is a heading by its look.

    A numbered line counts only where its neighbours are not numbered too: those
    are the items of a list.
    """
    if len(group) != 1 or len(group[0].strip()) > _LONGEST_HEADING or not after:
        return None
    line = group[0].strip()
    if _is_capitals(line):
        return Block(BlockKind.HEADING, plain(line), 2)
    numbered = _NUMBERED.match(line)
    if numbered is None or line[-1] in ".;,:":
        return None
    deep = numbered.group(1)
    if deep is None and any(_ITEM.match(side[0]) for side in (before, after) if side):
        return None
    return Block(BlockKind.HEADING, plain(line), 2 + (deep.count(".") if deep else 0))


def _is_capitals(line: str) -> bool:
    letters = [character for character in line if character.isalpha()]
    return (
        len(letters) >= 4
        and all(letter.isupper() for letter in letters)
        and line[-1] not in ".,;"
    )


def _blocks_of(group: Sequence[str]) -> Iterator[Block]:
    """The blocks of a run of lines: marked headings and items part it."""
    pending: list[str] = []
    kind = BlockKind.PARAGRAPH
    for line in group:
        heading = _HASH.match(line)
        under = _UNDERLINE.match(line)
        if heading:
            yield _joined(kind, pending)
            level = len(heading.group(1))
            yield Block(BlockKind.HEADING, plain(heading.group(2)), level)
        elif under and len(pending) == 1 and len(pending[0]) <= _LONGEST_HEADING:
            level = 1 if under.group(1)[0] == "=" else 2
            yield Block(BlockKind.HEADING, plain(pending[0]), level)
        elif _RULE.match(line) or under:
            yield _joined(kind, pending)
        elif _ITEM.match(line):
            yield _joined(kind, pending)
            pending, kind = [_ITEM.sub("", line, count=1)], BlockKind.ITEM
            continue
        else:
            pending.append(line)
            continue
        pending, kind = [], BlockKind.PARAGRAPH
    yield _joined(kind, pending)


def _joined(kind: BlockKind, lines: Sequence[str]) -> Block:
    return Block(kind, plain(" ".join(lines)))
