"""Whether a weak model's summary of one paragraph can be used, by rules alone.

What is asked for is narrow, so that what comes back can be looked at: a sentence,
about this paragraph, with no figure that is not in it.
"""

from __future__ import annotations

import re
from collections import Counter

from agiraph.core.digest.sentences import sentences
from agiraph.core.digest.stopwords import language_of, stop_words
from agiraph.core.digest.words import lowered, words

FEWEST_WORDS = 5
MOST_WORDS = 70
# Share of an answer's telling words that must stand in the paragraph.
FROM_TEXT = 0.5
_RUN = 5
_STEM = 5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Counts that a weak model makes up; "one" is no count in most sentences.
_COUNTS = "two three four five six seven eight nine ten eleven twelve hundred thousand"
_PREFACE = re.compile(
    r"\A\s*(?:\**(?:summary|answer|the sentence is|here(?:'s| is)[^.\n]{0,60}"
    r"|the (?:paragraph|text) (?:can be )?summari[sz]e[sd][^.\n]{0,40}))\**\s*:\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\bas an ai\b|\bi (?:cannot|can't|am unable|am sorry|apologi[sz]e)\b"
    r"|\bi(?:'m| am) (?:a|an|ready|happy|here)\b|\bplease provide\b",
    re.IGNORECASE,
)


def plain_answer(answer: str) -> str:
    """An answer as one line, without a preface, quotes or marks around it."""
    text = " ".join(_PREFACE.sub("", answer).split())
    return text.strip("\"'“”*_> ").strip()


def first_sentence(answer: str) -> str:
    """The one sentence that was asked for, where a model goes on to further ones.

    What it adds is seldom true; but a first one that is hardly a sentence needs what
    comes behind it.
    """
    found = ""
    for sentence in sentences(answer):
        found = f"{found} {sentence}".strip()
        if len(words(found)) >= FEWEST_WORDS:
            break
    return found


def fault_of(answer: str, paragraph: str) -> str:
    """Why an answer cannot be used, in a few words; "" when it can."""
    said = words(answer)
    if not said:
        return "it was empty"
    if _REFUSAL.search(answer):
        return "it spoke of itself instead"
    if len(said) < FEWEST_WORDS:
        return f"it had {len(said)} words"
    if len(said) > min(MOST_WORDS, max(FEWEST_WORDS, len(words(paragraph)))):
        return f"it had {len(said)} words, for a paragraph of {len(words(paragraph))}"
    if _repeats(said):
        return "it said the same again and again"
    invented = [number for number in _numbers(answer) if number not in paragraph]
    invented += _counts(answer) - _counts(paragraph)
    if invented:
        return f"it named {invented[0]}, which is not in the text"
    return _elsewhere(answer, paragraph)


def _numbers(text: str) -> list[str]:
    return [number.rstrip(".,") for number in _NUMBER.findall(text)]


def _counts(text: str) -> set[str]:
    return set(_COUNTS.split()).intersection(lowered(words(text)))


def _repeats(said: list[str]) -> bool:
    runs = [tuple(said[at : at + _RUN]) for at in range(len(said) - _RUN + 1)]
    return len(set(runs)) < len(runs)


def _elsewhere(answer: str, paragraph: str) -> str:
    found = lowered(words(paragraph))
    stops = stop_words(language_of(Counter(found)))
    there = {word[:_STEM] for word in found}
    said = {word for word in lowered(words(answer)) if word not in stops}
    known = sum(word[:_STEM] in there for word in said)
    return "it was about something else" if known < FROM_TEXT * len(said) else ""
