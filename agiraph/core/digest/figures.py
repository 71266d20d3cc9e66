# ruff: noqa: RUF001 (the marks of many scripts are the subject of this module)
"""The figures of a text: numbers with what they measure, and where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


class FigureKind(Enum):
    """What a figure measures."""

    MONEY = "money"
    SHARE = "share"
    YEAR = "year"
    MEASURE = "measure"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as the text writes it, and the sentence in which it stands first."""

    kind: FigureKind
    text: str
    sentence: str


_NUMBER = r"(?<![\w.,])[-−+±~≈<>]?\d+(?:[.,'’\u202f\u00a0 ]\d{3})*(?:[.,]\d+)?"
_RANGE = rf"{_NUMBER}(?:\s?(?:[-–—]|to|bis|à|a|and|und|et|y)\s?\d+(?:[.,]\d+)*)?"
_LARGE = (
    r"(?:\s?(?:hundred|thousand|million|billion|trillion|Tausend|Millionen|Milliarden|"
    r"Mio\.?|Mrd\.?|mille|millions?|milliards?|mil|millones)\b)?"
)
_COIN = (
    r"(?:US\$|[$€£¥₹]|(?:EUR|USD|GBP|CHF|JPY)\b|(?:euros?|Euro|dollars?|pounds?|francs?|"
    r"Franken|pesos|cents?|pence|shillings?)\b)"
)
_UNIT = (
    r"(?:°\s?[CFK]?|[kMGT]?Wh?|[kMG]?Hz|[kMGT]i?B|(?:k|c|m|d|µ|n)?m[²³23]?|k?g|mg|t|"
    r"[mch]?l|k?Pa|h?Pa|bar|k?J|k?cal|km/h|m/s|mph|kn|V|A|lx|lm|cd|dB|pH|ha|s|ms|h|min|"
    r"kilomet(?:re|er)s?|Kilometer[n]?|millimet(?:re|er)s?|centimet(?:re|er)s?|"
    r"met(?:re|er)s?|Metern?|mètres?|kilomètres?|metros?|kilómetros?|miles?|feet|foot|"
    r"inch(?:es)?|yards?|knots?|grams?|grammes?|Gramm|gramos?|kilograms?|kilos?|tonn?es?|"
    r"tons?|Tonnen?|lit(?:re|er)s?|Litern?|litros?|gallons?|watts?|kilowatts?|megawatts?|"
    r"degrees?|Grad|degrés|grados|seconds?|Sekunden?|secondes?|segundos?|minutes?|"
    r"Minuten?|minutos?|hours?|Stunden?|heures?|horas?|days?|Tagen?|jours?|días?|weeks?|"
    r"Wochen?|semaines?|semanas?|months?|Monaten?|mois|meses|years?|Jahren?|ans|années?|"
    r"años?|centuries|decades?|horsepower|PS|hectares?|acres?|Hektar)"
)
_PATTERNS: tuple[tuple[FigureKind, re.Pattern[str]], ...] = (
    (
        FigureKind.MONEY,
        re.compile(
            rf"(?:US\$|[$€£¥₹])\s?\d[\d.,]*\d?{_LARGE}|{_RANGE}{_LARGE}\s?{_COIN}"
        ),
    ),
    (
        FigureKind.SHARE,
        re.compile(
            rf"{_RANGE}\s?(?:%|‰|(?:per ?cent|percent|percentage points?|Prozent|"
            r"pour ?cent|por ?ciento)\b)"
        ),
    ),
    (FigureKind.YEAR, re.compile(r"(?<![\w.,])(?:1[0-9]|20)[0-9]0s(?!\w)")),
    (
        FigureKind.MEASURE,
        re.compile(
            rf"{_RANGE}{_LARGE}(?:\s|-)?(?:square |cubic )?{_UNIT}"
            r"(?:/[A-Za-z]+[²³]?)?(?!\w)"
        ),
    ),
    (
        FigureKind.YEAR,
        re.compile(r"(?<![\w.,])(?:1[0-9]{3}|20[0-9]{2})(?![\w%]|[.,]\d)"),
    ),
    (FigureKind.COUNT, re.compile(rf"{_RANGE}{_LARGE}(?:\s[^\W\d_]{{3,}})?")),
)

_PLURALS = frozenset(("people", "men", "women", "children", "mice", "feet", "teeth"))


def figures(
    sentences: Iterable[str], *, wanted: int, stops: Collection[str] = ()
) -> tuple[Figure, ...]:
    """The figures, each once, in the order of the text.

    Money, shares and measures go before years, and those before bare counts, where
    there are more than are wanted.

    Args:
        stops: words that name nothing that could be counted.
    """
    found: dict[str, Figure] = {}
    for sentence in sentences:
        for figure in _in(sentence, stops):
            found.setdefault(figure.text.casefold(), figure)
    places = {figure.text: at for at, figure in enumerate(found.values())}
    rank = {kind: at for at, (kind, _) in enumerate(_PATTERNS)}
    best = sorted(found.values(), key=lambda one: (rank[one.kind], places[one.text]))
    return tuple(sorted(best[:wanted], key=lambda one: places[one.text]))


def _in(sentence: str, stops: Collection[str]) -> Iterator[Figure]:
    """The figures of one sentence; what one pattern took, the next does not see."""
    if not any(character.isdigit() for character in sentence):
        return
    taken = [False] * len(sentence)
    spans: list[tuple[int, Figure]] = []
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(sentence):
            if any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = [True] * len(match.group())
            text = _trimmed(match.group(), kind, stops)
            if text:
                spans.append((match.start(), Figure(kind, text, sentence)))
    for _, figure in sorted(spans, key=lambda span: span[0]):
        yield figure


def _trimmed(text: str, kind: FigureKind, stops: Collection[str]) -> str:
    """A count needs something that is counted: a word behind it, or a length."""
    text = " ".join(text.split())
    if kind is not FigureKind.COUNT:
        return text
    number, _, noun = text.rpartition(" ")
    if not noun.isalpha():
        number = text
    elif _is_counted(noun) and noun.casefold() not in stops:
        return text
    return number if sum(character.isdigit() for character in number) > 2 else ""


def _is_counted(noun: str) -> bool:
    """Whether a word behind a number looks like what is counted: a plural or a noun."""
    return noun[-1] in "sx" or noun[0].isupper() or noun in _PLURALS
