"""A digest of one text as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.core.digest.figures import FigureKind
from agiraph.core.digest.stopwords import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.digest.digest import Digest
    from agiraph.core.digest.figures import Figure

HONEST: Final = (
    "No language model was used: rules chose the sentences below, "
    "and each stands in its text word for word."
)
KINDS: Final = {
    FigureKind.MONEY: "money",
    FigureKind.SHARE: "share",
    FigureKind.YEAR: "year",
    FigureKind.MEASURE: "measure",
    FigureKind.COUNT: "number",
}
# Silent reading of English non-fiction: M. Brysbaert, "How many words do we read per
# minute?", Journal of Memory and Language 109, 2019.
_WORDS_A_MINUTE = 238
_MOST_FIGURES = 16


def digest_page(one: Digest) -> str:
    """The digest of one text, as a page; its first line says how it was made."""
    parts = [HONEST, f"# Digest: {cell(one.title)}"]
    if one.left_out:
        return "\n\n".join([*parts, f"`{one.source}` was left out: {one.left_out}\n"])
    parts.append(_counts(one))
    if one.notes:
        parts.append("\n".join(f"- Not read as it stands: {n}" for n in one.notes))
    if one.first:
        parts.append(f"## The most central sentence\n\n{quote(one.first)}")
    parts.extend(_sections(one))
    return "\n\n".join(parts) + "\n"


def reading_time(words: int) -> str:
    """How long a reader takes for so many words."""
    minutes = words / _WORDS_A_MINUTE
    return "under 1 min" if minutes < 1 else f"{round(minutes)} min"


def term_list(one: Digest, most: int) -> str:
    """The most telling terms in one line."""
    return ", ".join(cell(term.text) for term in one.terms[:most])


def quote(text: str) -> str:
    """A sentence as a block quote."""
    return f"> {escaped(text)}"


def cell(text: str) -> str:
    """A text that can stand in a table."""
    return escaped(text).replace("|", "\\|")


def escaped(text: str) -> str:
    """A text that Markdown shows as it is: no tags, no pictures, no code."""
    return (
        text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("`", "'")
        .replace("*", "\\*")
        .replace("![", "[")
    )


def figure_rows(found: Sequence[Figure], *, most: int) -> list[str]:
    """A table of figures, a row for each sentence in which some stand."""
    together: dict[str, list[Figure]] = {}
    for one in found:
        together.setdefault(one.sentence, []).append(one)
    rows = ["| figures | kind | where they stand |", "|---|---|---|"]
    for group in list(together.values())[:most]:
        texts = "; ".join(one.text for one in group)
        kinds = ", ".join(dict.fromkeys(KINDS[one.kind] for one in group))
        rows.append(f"| {cell(texts)} | {kinds} | {cell(_around(group[0]))} |")
    return rows


def _counts(one: Digest) -> str:
    rows = [
        ("source", f"`{one.source}`"),
        ("language", LANGUAGES[one.language]),
        ("words", f"{one.words:,}"),
        ("sentences", f"{one.sentences:,}"),
        ("reading time", reading_time(one.words)),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


def _sections(one: Digest) -> list[str]:
    sections: list[str] = []
    if len(one.central) > 1:
        lines = [f"{at}. {escaped(line)}" for at, line in enumerate(one.central, 1)]
        sections.append(
            "## Central sentences, in the order of the text\n\n" + "\n".join(lines)
        )
    if one.terms:
        terms = [f"- {escaped(term.text)} ({term.count})" for term in one.terms]
        sections.append(
            "## Most telling terms, and how often they stand\n\n" + "\n".join(terms)
        )
    if one.headings:
        top = min(heading.level for heading in one.headings)
        lines = [
            f"{'  ' * min(4, heading.level - top)}- {escaped(heading.text)}"
            for heading in one.headings
        ]
        sections.append(_section("Headings", lines))
    if one.figures:
        rows = figure_rows(one.figures, most=_MOST_FIGURES)
        sections.append(_section("Figures", rows))
    return sections


def _section(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines)


def _around(figure: Figure, width: int = 160) -> str:
    """The sentence; of a long one only what stands around the figure."""
    sentence = figure.sentence
    if len(sentence) <= width:
        return sentence
    flat = " ".join(sentence.split())
    at = max(0, flat.find(figure.text))
    start = max(0, min(at - width // 2, len(flat) - width))
    end = min(len(flat), start + width)
    start = flat.rfind(" ", 0, start) + 1 if start else 0
    end = flat.find(" ", end) if end < len(flat) else end
    end = len(flat) if end < 0 else end
    return ("… " if start else "") + flat[start:end] + (" …" if end < len(flat) else "")
