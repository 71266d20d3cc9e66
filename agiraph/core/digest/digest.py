"""What is kept of one text: its counts, central sentences, headings, terms, figures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from agiraph.core.digest.blocks import BlockKind, blocks
from agiraph.core.digest.figures import Figure, figures
from agiraph.core.digest.rank import central
from agiraph.core.digest.sentences import sentences
from agiraph.core.digest.stopwords import language_of, stop_words
from agiraph.core.digest.terms import Reading, Term, telling_terms, vocabulary
from agiraph.core.digest.words import folds, lowered, word_count, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.digest.blocks import Block

MOST_SENTENCES = 9
MOST_TERMS = 12
MOST_HEADINGS = 60
MOST_FIGURES = 24
VOCABULARY = 150
# A sentence shorter or longer than this, in words, is not offered as a central one.
_SHORTEST = 6
_LONGEST = 45


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its level, from 1."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """What was found in one text.

    Attributes:
        name: short name, for headings and tables.
        source: the path that was read.
        language: its code, or "" where it is not known.
        central: sentences of the text, in its order.
        first: the most central of them; "" where there is none.
        vocabulary: the most frequent telling words, for comparing texts.
        notes: what of the text was not read as it stands.
        left_out: why the text could not be read; then everything else is empty.
    """

    name: str
    source: str
    language: str = ""
    characters: int = 0
    words: int = 0
    sentences: int = 0
    headings: tuple[Heading, ...] = ()
    central: tuple[str, ...] = ()
    first: str = ""
    terms: tuple[Term, ...] = ()
    vocabulary: tuple[Term, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def title(self) -> str:
        """The text's own title, else its name."""
        return self.headings[0].text if self.headings else self.name


def digest(name: str, source: str, text: str) -> Digest:
    """The digest of a text; the same text gives the same digest."""
    found = blocks(text)
    prose = [block.text for block in found if block.kind is not BlockKind.HEADING]
    reading, language = _reading(prose)
    lines = [line for block in prose for line in sentences(block, language)]
    chosen = _central(lines, reading)
    return Digest(
        name=name,
        source=source,
        language=language,
        characters=len(text),
        words=sum(word_count(block.text) for block in found),
        sentences=len(lines),
        headings=_headings(found),
        central=tuple(lines[at] for at in sorted(chosen)),
        first=lines[chosen[0]] if chosen else "",
        terms=telling_terms(lines, reading, wanted=MOST_TERMS),
        vocabulary=vocabulary(lines, reading, wanted=VOCABULARY),
        figures=figures(lines, wanted=MOST_FIGURES, stops=reading.stops),
    )


def _reading(prose: Sequence[str]) -> tuple[Reading, str]:
    counts = Counter(low for block in prose for low in lowered(words(block)))
    language = language_of(counts)
    return Reading(stop_words(language), folds(counts, language)), language


def _central(lines: Sequence[str], reading: Reading) -> list[int]:
    """Places of the central sentences, the best first."""
    wanted = max(1, min(MOST_SENTENCES, round(sqrt(len(lines)))))
    bags = [
        reading.bag(line) if _SHORTEST <= word_count(line) <= _LONGEST else frozenset()
        for line in lines
    ]
    if not any(bags):
        bags = [reading.bag(line) for line in lines]
    return central(bags, wanted)


def _headings(found: Sequence[Block]) -> tuple[Heading, ...]:
    return tuple(
        Heading(block.level, block.text)
        for block in found
        if block.kind is BlockKind.HEADING
    )[:MOST_HEADINGS]
