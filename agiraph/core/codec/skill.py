"""SKILL.md: what a skill is called, and when it helps (agentskills.io)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import kinds
from agiraph.core.codec.marked import Listing
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Rejected, Remark
from agiraph.model.skill import Skill

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST: Final = 1024
# `Bash(git log:*)` is one word, its spaces included.
_TOOL: Final = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
# Keys of the standard, and of programs that share these files, which change nothing.
_OTHERS: Final = ("license", "compatibility", "metadata", "version", "model")


def read_skill(text: str, folder: str) -> Good[Skill] | Rejected:
    """What a SKILL.md says of itself.

    Args:
        text: the whole file.
        folder: the name of its folder, by which it is read.
    """
    findings = Findings.none_yet()
    top = read_page(text, findings).settings
    stated = top.get("name", kinds.line, folder)
    if stated != folder:
        words = f"`name` is ignored: the folder names the skill, '{folder}'"
        findings.remarks.append(Remark(1, words))
    elif not _NAME.fullmatch(stated):
        words = "a skill's name is best of small letters, digits and hyphens"
        findings.remarks.append(Remark(1, words))
    allowed = "when it helps, in a sentence or two"
    description = top.need("description", kinds.text, allowed) or ""
    none: tuple[str, ...] = ()
    tools = top.get("allowed-tools", _tools, none)
    for key in _OTHERS:
        top.get(key, kinds.json, None)
    top.close()
    if findings.problems:
        return findings.rejected()
    words = " ".join(description.split())[:_LONGEST]
    return Good(Skill(folder, words, tools), tuple(findings.remarks))


def _tools(place: Place) -> tuple[str, ...]:
    if isinstance(place.value, Listing):
        return kinds.many(kinds.line)(place)
    return tuple(_TOOL.findall(kinds.text(place)))
