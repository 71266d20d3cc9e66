# ruff: noqa: RUF001 (the marks of many scripts are the subject of this module)
"""Where one sentence ends and the next begins."""

from __future__ import annotations

import re

# A full stop in scripts with spaces needs a space behind it; in others it stands alone.
_END = re.compile(r"(?:[.!?…؟۔।॥]+[\"'”’»›)\]]*)(?=\s|$)|[。！？]+[」』”’）]*")
_LAST_WORD = re.compile(r"(\S+)$")
_OPENERS = "\"'“‘„‚«‹([—–-¿¡ "
_INITIAL = re.compile(r"^(?:[^\W\d_]\.)+$|^[^\W\d_]$")
_ORDINAL = re.compile(r"^\d{1,2}$")

# Characters before and behind a mark that are looked at.
_BACK = 40
_AHEAD = 12

# Written with a full stop, and something nearly always follows in the same sentence.
_WITH_A_STOP = """
mr mrs ms dr prof st jr rev gen col capt lt sgt hon gov pres sen rep messrs mme mlle
vs viz cf ca approx eds trans ft lb temp dept univ assn bros
jan feb apr jun jul aug sept oct nov dec
e.g i.e a.m p.m a.d b.c
bzw ggf vgl z.b d.h u.a o.ä u.ä s.o s.u evtl inkl exkl bzgl sog hrsg nr
mio mrd jh jhdt chr v.chr n.chr geb gest dipl
c.-à-d éd n° apr j.-c
sra srta ud uds pág págs núm p.ej aprox
"""
# Words, or ends of sentences, unless a number follows: "no. 4", "fig. 12".
_BEFORE_NUMBERS = """
no nos fig figs eq eqs vol vols ch chap sec pp p par art abb bd str max min
"""
_ABBREVIATIONS = frozenset(_WITH_A_STOP.split())
_NUMBERED = frozenset(_BEFORE_NUMBERS.split())
# These often end a sentence as well: a capital behind them decides.
_OFTEN_LAST = frozenset({"a.m", "p.m", "a.d", "b.c"})


def sentences(text: str, language: str = "") -> list[str]:
    """The sentences of one block of text, in order, as they stand.

    Abbreviations, initials, decimals, ellipses in mid-sentence and German ordinals
    ("am 3. Mai") do not end one.

    Args:
        text: one line, as `plain` gives it.
        language: the code of its language, or "".
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        before = text[max(start, end.start() - _BACK) : end.start()]
        after = text[end.end() : end.end() + _AHEAD]
        if _goes_on(before, end.group(), after, language):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _goes_on(before: str, mark: str, after: str, language: str) -> bool:
    """Whether the sentence goes on behind this mark."""
    following = after.lstrip(_OPENERS)
    if not following or mark[0] not in ".…?!":
        return False
    if following[0].islower():
        return True
    if mark != ".":
        return False
    last = _LAST_WORD.search(before)
    word = last.group(1).lstrip("(\"'“‘„«[").casefold() if last else ""
    if word in _OFTEN_LAST:
        return False
    if word in _NUMBERED:
        return following[0].isdigit()
    if word in _ABBREVIATIONS or _INITIAL.match(word):
        return word != "i"
    return language == "de" and _ORDINAL.match(word) is not None
