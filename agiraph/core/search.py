"""Finds the sections of texts that say most about a few words.

Texts are split at Markdown headings and scored by BM25 (Robertson and Zaragoza, The
Probabilistic Relevance Framework, 2009) with its usual constants. Scripts that write
without spaces are compared by pairs of characters.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import PurePosixPath

_K1: Final = 1.2
_B: Final = 0.75
_TITLE_WEIGHT: Final = 2
_LONGEST: Final = 4_000
_HEADING: Final = re.compile(r"^#{1,6} ", re.MULTILINE)
# Vowel signs of Indic and other scripts are no letters to `re`, and yet parts of words.
_WORD: Final = re.compile(
    r"[\w\u0900-\u0963\u0966-\u0dff\u0e00-\u0e4e\u0e50-\u0eff\u0f71-\u0fbc"
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17d7-\u17ff]+"
)
# Han, kana, Thai, Lao, Khmer, Myanmar: no spaces between words; Hangul: none before
# particles.
_UNSPACED: Final = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff]+)"
)
_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
# Accents, Hebrew points, Arabic vowel marks: often left out, so they do not count.
_ACCENT: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a text below one heading.

    Attributes:
        source: the file that it is from.
        title: its heading, without the marks; empty before the first one.
        text: the piece as it stands, its heading included.
    """

    source: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """A text file that may be searched.

    Attributes:
        path: relative to the root; it is the file's name in the index.
        shown: the path as its reader knows it.
        size, changed: how it stood when it was listed.
    """

    path: PurePosixPath
    shown: str
    size: int
    changed: float


def sections(source: str, text: str) -> tuple[Section, ...]:
    """A text cut at its headings, and long pieces at empty lines."""
    starts = [match.start() for match in _HEADING.finditer(text)]
    bounds = [0, *starts, len(text)]
    pieces = [text[a:b].strip() for a, b in itertools.pairwise(bounds)]
    return tuple(
        Section(source, _title(piece), part)
        for piece in pieces
        if piece
        for part in _parts(piece)
    )


def best(query: str, pool: Sequence[Section], most: int) -> tuple[Section, ...]:
    """The sections that fit a query, best first; none that share no word with it."""
    wanted = set(terms(query))
    bags = [_bag(section) for section in pool]
    sizes = [sum(bag.values()) for bag in bags]
    average = (sum(sizes) / len(sizes) if sizes else 0) or 1
    weights = {word: _rarity(word, bags) for word in wanted}
    scores = [
        sum(
            weights[word] * _presence(bag[word], size / average)
            for word in wanted
            if bag[word]
        )
        for bag, size in zip(bags, sizes, strict=True)
    ]
    order = sorted(range(len(pool)), key=lambda index: (-scores[index], index))
    return tuple(pool[index] for index in order[:most] if scores[index] > 0)


def terms(text: str) -> Iterable[str]:
    """What a text is found by: its words, and each Han character, a word by itself."""
    for word in words(text):
        yield word
        if not word.isascii() and len(word) > 1:
            yield from _HAN.findall(word)


def words(text: str) -> Iterable[str]:
    """The words of a text in the form in which they are compared."""
    plain = text.casefold()
    if not plain.isascii():
        plain = _ACCENT.sub("", unicodedata.normalize("NFKD", plain))
        plain = unicodedata.normalize("NFKC", plain).casefold()
    for word in _WORD.findall(plain):
        for run in _UNSPACED.split(word):
            if _UNSPACED.fullmatch(run) and len(run) > 1:
                yield from (run[at : at + 2] for at in range(len(run) - 1))
            elif run:
                yield _stem(run)


def _stem(word: str) -> str:
    """A plural's `s` taken off: enough for most of what memory holds."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if plural else word


def _bag(section: Section) -> Counter[str]:
    bag = Counter(terms(section.text))
    for word in terms(f"{section.title} {section.source}"):
        bag[word] += _TITLE_WEIGHT
    return bag


def _rarity(word: str, bags: Sequence[Counter[str]]) -> float:
    holding = sum(word in bag for bag in bags)
    return math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))


def _presence(count: int, relative_size: float) -> float:
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative_size))


def _title(piece: str) -> str:
    first = piece.split("\n", 1)[0]
    return first.lstrip("# ").strip() if _HEADING.match(first) else ""


def _parts(piece: str) -> Iterable[str]:
    part = ""
    for paragraph in piece.split("\n\n"):
        if part and len(part) + len(paragraph) > _LONGEST:
            yield part
            part = ""
        part = f"{part}\n\n{paragraph}" if part else paragraph
    if part:
        yield part
