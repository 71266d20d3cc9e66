# ruff: noqa: RUF001 (the marks of many scripts are the subject of this module)
"""Words of a text, in any script, and the forms in which they are compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

# Vowel signs are no letters to `re`, so the Indic blocks are named as a whole.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0971-\u0dff"
_LETTER = f"(?:[^\\W\\d_]|[{_MARKS}])"
_WORD = re.compile(f"{_LETTER}+(?:['’\\-]{_LETTER}+)*")
# Scripts that are written without spaces: Han, Hiragana, Katakana.
_UNSPACED = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "en": ("es", "s"),
    "de": ("en", "es", "er", "n", "s", "e"),
    "fr": ("es", "s", "x", "e"),
    "es": ("es", "s"),
}
_SHORTEST_STEM = 4


def words(text: str) -> list[str]:
    """The words as they stand; runs without spaces come as pairs of characters.

    Pairs are the usual stand-in for words where a script does not mark them.
    """
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if _UNSPACED.search(word):
            found.extend(_pairs(word))
        else:
            found.append(word)
    return found


def word_count(text: str) -> int:
    """How many words a text has; in scripts without spaces each character counts."""
    unspaced = sum(len(run) for run in _UNSPACED.findall(text))
    return unspaced + len(_WORD.findall(_UNSPACED.sub(" ", text)))


def folds(counts: Counter[str], language: str) -> dict[str, str]:
    """Which words are a plainer word of the same text with an ending.

    A word is folded only onto a word that the text itself uses, so that no list
    of stems is needed and nothing is cut to a form that nobody wrote.

    Args:
        counts: the words in lower case and how often they stand.
        language: its code, or "" for unknown: then nothing is folded.
    """
    folded: dict[str, str] = {}
    for word in counts:
        for ending in _ENDINGS.get(language, ()):
            stem = word.removesuffix(ending)
            if stem != word and len(stem) >= _SHORTEST_STEM and stem in counts:
                folded[word] = stem
                break
    return {word: _root(word, folded) for word in folded}


def lowered(found: Iterable[str]) -> list[str]:
    """Words in the form in which they are compared, without a possessive ending."""
    return [
        word.casefold().replace("’", "'").removesuffix("'s").removesuffix("'")
        for word in found
    ]


def _root(word: str, folded: Mapping[str, str]) -> str:
    while word in folded:
        word = folded[word]
    return word


def _pairs(word: str) -> list[str]:
    found: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        found.extend(_WORD.findall(word[end : run.start()]))
        text = run.group()
        found.extend(text[at : at + 2] for at in range(max(1, len(text) - 1)))
        end = run.end()
    found.extend(_WORD.findall(word[end:]))
    return found
