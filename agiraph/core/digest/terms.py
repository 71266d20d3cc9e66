# ruff: noqa: RUF001 (the marks of many scripts are the subject of this module)
"""The terms that tell most about a text.

Candidates and their scores after S. Rose, D. Engel, N. Cramer and W. Cowley, "Automatic
keyword extraction from individual documents" (RAKE), in: Text Mining, 2010: phrases are
what stands between stop words and marks; a word counts by its degree over its
frequency. Unlike there a phrase must come back to count, as rare long phrases win
otherwise. Among several texts a term counts by frequency times rarity, after K. Spärck
Jones, "A statistical interpretation of term specificity", 1972.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from agiraph.core.digest.words import lowered, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PARTS = re.compile(r"[.,;:!?…()\[\]{}\"“”„«»|/\\–—。、，！？；：]+|\d+|\s-\s")
_LONGEST_PHRASE = 3
_LEAST_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase as the text writes it most often, and how often it stands."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How words are to be taken.

    Attributes:
        stops: words without a subject, in lower case.
        folds: a word in lower case -> the plainer one that it is counted as.
    """

    stops: frozenset[str]
    folds: Mapping[str, str]

    def key(self, word: str) -> str:
        """The form in which a word, already in lower case, is counted."""
        return self.folds.get(word, word)

    def tells(self, word: str) -> bool:
        """Whether a word, already in lower case, can be a term."""
        long = len(word) >= _LEAST_LETTERS or (len(word) == 2 and ord(word[0]) > 0x2E80)
        return long and word not in self.stops and self.key(word) not in self.stops

    def bag(self, sentence: str) -> frozenset[str]:
        """The telling words of a sentence, each once."""
        return frozenset(self.key(w) for w in lowered(words(sentence)) if self.tells(w))


def telling_terms(
    texts: Iterable[str], reading: Reading, *, wanted: int
) -> tuple[Term, ...]:
    """The most telling words and phrases, the best first."""
    phrases, spellings = _phrases(texts, reading)
    weights = _word_weights(phrases)
    counts = _candidates(phrases)
    values = {
        key: sum(weights[word] for word in key) * count
        for key, count in counts.items()
        if len(key) == 1 or count > 1
    }
    order = sorted(values, key=lambda key: (-values[key], key))
    return tuple(
        Term(spellings[key].most_common(1)[0][0], counts[key])
        for key in _without_echoes(order, counts, wanted)
    )


def vocabulary(
    texts: Iterable[str], reading: Reading, *, wanted: int
) -> tuple[Term, ...]:
    """The telling single words, the most frequent first."""
    counts = Counter(
        reading.key(word)
        for text in texts
        for word in lowered(words(text))
        if reading.tells(word)
    )
    order = sorted(counts, key=lambda key: (-counts[key], key))[:wanted]
    return tuple(Term(key, counts[key]) for key in order)


Key = tuple[str, ...]


def distinctive(
    own: Sequence[Term], others: Sequence[Sequence[Term]], *, wanted: int
) -> tuple[Term, ...]:
    """The words of one text that the other texts use least, the best first."""
    held = [frozenset(term.text for term in terms) for terms in others]
    total = len(others) + 1

    def value(term: Term) -> float:
        holders = 1 + sum(term.text in texts for texts in held)
        return term.count * log(1 + total / holders)

    return tuple(sorted(own, key=lambda term: (-value(term), term.text))[:wanted])


def _phrases(
    texts: Iterable[str], reading: Reading
) -> tuple[list[Key], dict[Key, Counter[str]]]:
    """Every run of telling words, and how each piece of it is written."""
    phrases: list[Key] = []
    spellings: dict[Key, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for part in _PARTS.split(text):
            found = words(part)
            low = lowered(found)
            for start, end in _runs(low, reading):
                key = tuple(reading.key(word) for word in low[start:end])
                phrases.append(key)
                for piece, at in _pieces(key):
                    spelling = " ".join(found[start + at : start + at + len(piece)])
                    spellings[piece][spelling] += 1
    return phrases, spellings


def _runs(low: Sequence[str], reading: Reading) -> Iterable[tuple[int, int]]:
    start = 0
    for at, word in enumerate(low):
        if not reading.tells(word):
            if at > start:
                yield start, at
            start = at + 1
    if len(low) > start:
        yield start, len(low)


def _pieces(key: Key) -> Iterable[tuple[Key, int]]:
    """Every run of one to three words within a phrase, and where it begins."""
    for size in range(1, _LONGEST_PHRASE + 1):
        for at in range(len(key) - size + 1):
            yield key[at : at + size], at


def _word_weights(phrases: Iterable[Key]) -> dict[str, float]:
    """RAKE's degree over frequency, for each word."""
    frequency: Counter[str] = Counter()
    degree: Counter[str] = Counter()
    for phrase in phrases:
        for word in phrase:
            frequency[word] += 1
            degree[word] += min(len(phrase), _LONGEST_PHRASE)
    return {word: degree[word] / count for word, count in frequency.items()}


def _candidates(phrases: Iterable[Key]) -> Counter[Key]:
    return Counter(piece for phrase in phrases for piece, _ in _pieces(phrase))


def _without_echoes(
    order: Sequence[Key], counts: Mapping[Key, int], wanted: int
) -> list[Key]:
    """Without words that stand mostly inside a better phrase, and the reverse."""
    chosen: list[Key] = []
    for key in order:
        if len(chosen) == wanted:
            break
        if not any(_echoes(key, other, counts) for other in chosen):
            chosen.append(key)
    return chosen


def _echoes(key: Key, other: Key, counts: Mapping[Key, int]) -> bool:
    if len(key) < len(other):
        return set(key) <= set(other) and counts[key] < 2 * counts[other]
    return bool(set(other) & set(key)) and 2 * counts[key] < counts[other]
