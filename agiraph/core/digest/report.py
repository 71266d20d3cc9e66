"""Several digests brought together as one report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.digest.figures import FigureKind
from agiraph.core.digest.render import (
    HONEST,
    cell,
    escaped,
    figure_rows,
    quote,
    reading_time,
    term_list,
)
from agiraph.core.digest.terms import distinctive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.digest.digest import Digest
    from agiraph.core.digest.figures import Figure
    from agiraph.core.digest.terms import Term

_SENTENCES = 3
_FIGURES = 6
_MOST_SHARED = 12
# A word belongs to what texts have in common when each of them says it this often.
_SHARED_AT_LEAST = 2


@dataclass(frozen=True, slots=True)
class Shared:
    """A term that stands in several texts: their names, and how often in each."""

    text: str
    counts: tuple[tuple[str, int], ...]


def report_page(
    digests: Sequence[Digest], *, title: str = "", missing: Sequence[str] = ()
) -> str:
    """The report over several digests; its first line says how it was made.

    Args:
        title: of the report.
        missing: what should be here and is not, one line for each.
    """
    read = [one for one in digests if not one.left_out]
    gone = [f"`{one.source}`: {one.left_out}" for one in digests if one.left_out]
    gone += [f"`{one.source}`, in part: {n}" for one in digests for n in one.notes]
    parts = [HONEST, f"# {title or _title(read)}"]
    if read:
        parts += ["## Side by side", _table(read), _totals(read)]
        parts += [_shared_section(read)] if len(read) > 1 else []
        parts += ["## Text by text", *(_text_section(one, read) for one in read)]
    else:
        parts.append("There was no text to read.")
    if gone or missing:
        lines = "\n".join(f"- {line}" for line in (*gone, *missing))
        parts.append(f"## Left out\n\n{lines}")
    parts.append(_method())
    return "\n\n".join(parts) + "\n"


def shared_terms(digests: Sequence[Digest], *, wanted: int) -> tuple[Shared, ...]:
    """The words that several texts say repeatedly: in most texts first."""
    counts: dict[str, list[tuple[str, int]]] = {}
    for one in digests:
        for term in one.vocabulary:
            if term.count >= _SHARED_AT_LEAST:
                counts.setdefault(term.text, []).append((one.name, term.count))
    shared = [
        Shared(text, tuple(held)) for text, held in counts.items() if len(held) > 1
    ]
    shared.sort(key=lambda one: (-len(one.counts), -_total(one), one.text))
    return tuple(shared[:wanted])


def _total(one: Shared) -> int:
    return sum(count for _, count in one.counts)


def _title(read: Sequence[Digest]) -> str:
    if len(read) == 1:
        return f"Report on {cell(read[0].title)}"
    return f"Report on {len(read)} texts"


def _table(read: Sequence[Digest]) -> str:
    rows = [
        (
            "| text | words | sentences | reading time | most telling terms "
            "| figures | such as |"
        ),
        "|---|--:|--:|--:|---|--:|---|",
    ]
    rows.extend(
        f"| {cell(one.title)} | {one.words:,} | {one.sentences:,} "
        f"| {reading_time(one.words)} | {term_list(one, 4)} "
        f"| {len(one.figures)} | {_examples(one)} |"
        for one in read
    )
    return "\n".join(rows)


def _examples(one: Digest) -> str:
    return cell("; ".join(figure.text for figure in _telling_figures(one)[:3]))


def _telling_figures(one: Digest) -> list[Figure]:
    """What measures something first; years and bare numbers after."""
    weak = (FigureKind.YEAR, FigureKind.COUNT)
    return sorted(one.figures, key=lambda figure: figure.kind in weak)


def _totals(read: Sequence[Digest]) -> str:
    total = sum(one.words for one in read)
    longest = max(read, key=lambda one: one.words)
    shortest = min(read, key=lambda one: one.words)
    line = f"{len(read)} {'text' if len(read) == 1 else 'texts'}, {total:,} words"
    line += f", {reading_time(total)} to read."
    if longest is not shortest:
        line += (
            f" The longest is {cell(longest.title)} ({longest.words:,} words), "
            f"the shortest {cell(shortest.title)} ({shortest.words:,})."
        )
    return line


def _shared_section(read: Sequence[Digest]) -> str:
    shared = shared_terms(read, wanted=_MOST_SHARED)
    if not shared:
        return "## Terms in several texts\n\nNo term comes back in more than one text."
    titles = {one.name: one.title for one in read}
    rows = ["| term | texts | where, and how often |", "|---|--:|---|"]
    for term in shared:
        places = ", ".join(
            f"{cell(titles[name])} ({count})" for name, count in term.counts
        )
        rows.append(f"| {cell(term.text)} | {len(term.counts)} | {places} |")
    return "## Terms in several texts\n\n" + "\n".join(rows)


def _text_section(one: Digest, read: Sequence[Digest]) -> str:
    parts = [f"### {cell(one.title)}", f"`{one.source}`"]
    if one.first:
        parts.append(quote(one.first))
    others = [line for line in one.central if line != one.first][:_SENTENCES]
    if others:
        parts.append("\n".join(f"- {escaped(line)}" for line in others))
    if len(read) > 1:
        own = _own_words(one, read)
        if own:
            words = ", ".join(f"{cell(term.text)} ({term.count})" for term in own)
            parts.append(f"Said here more than in the other texts: {words}.")
    if one.figures:
        parts.append("\n".join(figure_rows(_telling_figures(one), most=_FIGURES)))
    return "\n\n".join(parts)


def _own_words(one: Digest, read: Sequence[Digest]) -> tuple[Term, ...]:
    others = [other.vocabulary for other in read if other is not one]
    return distinctive(one.vocabulary, others, wanted=6)


def _method() -> str:
    return (
        "## How this was made\n\n"
        "By counting, with nothing rephrased. Central sentences: a graph of the "
        "sentences of each text, joined by the words that they share, ranked by "
        "TextRank (Mihalcea and Tarau 2004). Telling terms: what stands between stop "
        "words, scored after RAKE (Rose and others 2010). Words that one text says "
        "more than the others: frequency times rarity (Spärck Jones 1972). Reading "
        "time: 238 words a minute (Brysbaert 2019). Rules do not understand: whether "
        "a text is right, and what it leaves unsaid, they cannot tell."
    )
