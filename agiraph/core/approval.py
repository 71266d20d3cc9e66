"""What a person is asked to allow: in which words, and what counts as their answer.

The words of a call come from a model. They are shown whole, in a fence that they
cannot close; characters that do not show are named; long gaps, which would push the
rest out of sight, are counted. (Hidden and turning characters: Boucher and Anderson,
"Trojan Source: Invisible Vulnerabilities", 2021.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from agiraph.errors import ToolRefused
from agiraph.model.agent import Permission

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

LONGEST_SHOWN: Final = 200_000
APPROVAL: Final = "approval"  # the key of an intent that says what is asked
_GAP: Final = 40
_FENCE = re.compile(r"`{3,}")
_SPACES = re.compile(rf" {{{_GAP},}}")
_PLAIN_START = re.compile(r"[\w./$\"'(]")
_ODD = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Verdict(Enum):
    """What a person says to an approval."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"


_WORDS: Final = {
    "yes": Verdict.YES,
    "y": Verdict.YES,
    "no": Verdict.NO,
    "n": Verdict.NO,
    "always": Verdict.ALWAYS,
}


def verdict(answer: str) -> Verdict | None:
    """What an answer says; None for whatever is not one of the five words."""
    return _WORDS.get(answer.strip().lower())


@dataclass(frozen=True, slots=True)
class Need:
    """What a person has to allow before a call is performed.

    Attributes:
        kind: the permission that asks, in a word: `bash`, `web`, `write`, `mcp` …
        subjects: what an `always` covers from then on, exactly: a command, a host, a
            path, `server/tool`. Each becomes a line of `_approvals.yaml`.
        shown: the whole of what would be done, in Markdown, as `shown` writes it.
    """

    kind: str
    subjects: tuple[str, ...]
    shown: str


def permitted(permission: Permission, need: Need) -> JsonObject:
    """What an intent says of a permission: nothing, or what the person is asked.

    A tool calls it in `prepare` and adds the result to its intent; the loop then asks,
    and performs the call after a yes.

    Args:
        permission: what is in force for this call.
        need: what would be asked.

    Raises:
        ToolRefused: it is denied, or there is too much of it to be shown to a person.
    """
    if permission is Permission.DENY:
        raise ToolRefused(denied(need.kind))
    if permission is not Permission.ASK:
        return {}
    if len(need.shown) > LONGEST_SHOWN:
        raise ToolRefused(
            f"permissions.{need.kind} is ask, and this is too much to be shown to the "
            f"person ({len(need.shown):,} characters); do it in smaller parts"
        )
    asked = {
        "kind": need.kind,
        "subjects": list(need.subjects),
        "shown": need.shown,
    }
    return {APPROVAL: asked}


def denied(family: str) -> str:
    """The words for a call that permissions do not allow."""
    return (
        f"The person does not allow this (permissions: {family}: deny in GOAL.md). Do "
        "not look for a way round; go on without it, or tell the person what you need "
        "it for."
    )


def needed(intent: JsonObject) -> Need | None:
    """What an intent says must be asked; None where nothing is."""
    asked = intent.get(APPROVAL)
    if not isinstance(asked, Mapping):
        return None
    subjects = asked.get("subjects")
    return Need(
        kind=str(asked.get("kind", "")),
        subjects=tuple(map(str, subjects)) if isinstance(subjects, Sequence) else (),
        shown=str(asked.get("shown", "")),
    )


# --- the words


def shown(tool: str, where: str, texts: Mapping[str, str]) -> str:
    """The whole of a call for a person.

    Args:
        tool: its name.
        where: where it would act: a folder, a path, an address.
        texts: its arguments by name, each shown whole.
    """
    parts = [f"Tool: {span(tool)}", f"Where: {span(where)}"]
    return "\n\n".join([*parts, *(fenced(*each) for each in texts.items())])


def fenced(name: str, text: str) -> str:
    """One argument in a fence that it cannot close, each of its characters visible.

    Where there is more than one line each has its number, so that none can pass for a
    line of the page, or be missed.
    """
    clear = visible(text)
    lines = clear.split("\n")
    note = "" if clear == text else "; what does not show is written in ⟨⟩"
    count = f"{len(lines):,} lines, " if len(lines) > 1 else ""
    if len(lines) > 1 or not _PLAIN_START.match(clear):
        width = len(str(len(lines)))
        lines = [f"{at:>{width}}| {line}" for at, line in enumerate(lines, 1)]
    longest = max((len(each) for each in _FENCE.findall(clear)), default=2)
    fence = "`" * max(3, longest + 1)
    head = f"{name} ({count}{len(text):,} characters{note}):"
    return "\n".join([head, "", fence, *lines, fence])


def span(text: str) -> str:
    """A short text on one line, as code."""
    clear = visible(text).replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")
    return f"`{clear.replace('`', '⟨U+0060⟩')}`"


def visible(text: str) -> str:
    """A text with every character that does not show named, and long gaps counted."""
    clear = "".join(_named(each) for each in text)
    return _SPACES.sub(lambda gap: f"⟨{len(gap[0])} spaces⟩", clear)


def _named(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _ODD:
        return character
    return f"⟨U+{ord(character):04X}⟩"


def question_text(need: Need) -> str:
    """The text of an approval's question file; its first line says the most."""
    covered = "\n".join(f"- {need.kind}: {span(each)}" for each in need.subjects)
    return (
        f"May this be done? {need.kind}: {_short(need.subjects)}\n\n"
        f"{need.shown}\n\n"
        f"You are asked because of `permissions: {need.kind}: ask`. Answer `yes` (this "
        "once), `no`, or `always`; anything else leaves it open and undone. `always` "
        "also adds to `_approvals.yaml`, where you can delete it again, exactly:\n\n"
        f"{covered}\n\nIf you do not know it, say `no`."
    )


def _short(subjects: Sequence[str]) -> str:
    first = " ".join(subjects[0].split()) if subjects else ""
    more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
    return span(first if len(first) <= 60 else first[:59] + "…") + more
