"""What the coordinator over a weak model reads, and what it writes about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.digest.blocks import BlockKind, blocks
from agiraph.core.digest.render import escaped
from agiraph.core.digest.words import word_count
from agiraph.core.offline.material import short_name

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST: Final = 12
FEWEST_WORDS: Final = 40
MOST_WORDS: Final = 160


@dataclass(frozen=True, slots=True)
class Part:
    """One paragraph; node: what its first node is called."""

    path: str
    number: int
    text: str
    node: str


@dataclass(frozen=True, slots=True)
class Told:
    """A paragraph's summary, and how it came about."""

    part: Part
    summary: str
    faults: tuple[str, ...]
    by_rule: bool


def parts_of(pages: Sequence[tuple[str, str]], suffix: str) -> list[Part]:
    """The first paragraphs of each text, a round at a time, up to the most.

    Args:
        pages: path and text of each file.
        suffix: behind each node's id.
    """
    found = [_paragraphs(path, text, suffix) for path, text in pages]
    rounds = max((len(parts) for parts in found), default=0)
    picked = [parts[at] for at in range(rounds) for parts in found if at < len(parts)]
    return sorted(picked[:MOST], key=lambda part: (part.path, part.number))


def _paragraphs(path: str, text: str, suffix: str) -> list[Part]:
    fit = [
        block.text
        for block in blocks(text)
        if block.kind is BlockKind.PARAGRAPH
        and FEWEST_WORDS <= word_count(block.text) <= MOST_WORDS
    ]
    return [
        Part(path, number, one, f"{short_name(path)}-{number}{suffix}")
        for number, one in enumerate(fit, start=1)
    ]


def plan_page(parts: Sequence[Part], model: str) -> str:
    """The coordinator's plan, as `_plan.md`."""
    rows = [
        f"| {part.node} | `{part.path}` | {word_count(part.text)} |" for part in parts
    ]
    return "\n\n".join(
        [
            f"This plan follows fixed rules; the summaries are {model}'s.",
            "# Plan",
            (
                f"{len(parts)} paragraphs, each a node with one answer and no tools. "
                "A bad or empty answer is asked for once more, then the paragraph is "
                "done by rule."
            ),
            "\n".join(["| node | text | words |", "|---|---|--:|", *rows]),
        ]
    )


def totals(model: str, told: Sequence[Told]) -> str:
    """How many summaries came about in which way."""
    rule = sum(one.by_rule for one in told)
    again = sum(bool(one.faults) and not one.by_rule for one in told)
    first = len(told) - rule - again
    return (
        f"{len(told)} paragraphs: {first} summarised by {model} at once, {again} when "
        f"it was asked again, {rule} by rule because no answer of it could be used. "
        "Planned, judged and put together by fixed rules (offline/digest); of an "
        "answer that went on, the first sentence is kept."
    )


def report_page(words: str, told: Sequence[Told], left: Sequence[str]) -> str:
    """The report: each paragraph's summary, and whose it is."""
    parts = ["# Summaries, paragraph by paragraph", words]
    for path in dict.fromkeys(one.part.path for one in told):
        rows = [_row(one) for one in told if one.part.path == path]
        parts.append(f"## {path}\n\n" + "\n".join(rows))
    if left:
        parts.append("## Left out\n\n" + "\n".join(f"- {line}" for line in left))
    return "\n\n".join(parts) + "\n"


def _row(one: Told) -> str:
    said = f"{one.part.number}. {escaped(one.summary)}"
    if not one.faults:
        return f"{said} *(the model)*"
    faults = dict.fromkeys(escaped(fault) for fault in one.faults)
    why = "; then ".join(faults)
    why += ", both times" if len(one.faults) > len(faults) else ""
    how = "by rule, its most central sentence" if one.by_rule else "asked again"
    return f"{said} *({how}; the model's answer: {why})*"
