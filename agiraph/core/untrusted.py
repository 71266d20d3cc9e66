"""The fence round what strangers wrote: labelled with its source, closed only by us.

A page can say anything, "ignore your instructions" included. What came from it is
shown between two marks with the same id. The id is drawn from the text and the call,
so a replay writes the same bytes, and a page cannot hold an id that depends on every
letter of itself; words in the page that look like a mark are made harmless besides.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

_ID: Final = 16  # hex digits
_LONGEST_SOURCE: Final = 500
_MARK: Final = re.compile(
    r'<\s*/?\s*untrusted\b[^>\n]{0,600}\bid="[0-9a-f]{16}"\s*>', re.IGNORECASE
)
_OPENING: Final = re.compile(r'<untrusted from="([^"\n]*)" id="([0-9a-f]{16})">\n')
_CLOSING: Final = re.compile(r'</untrusted id="[0-9a-f]{16}">\s*\Z')
# What a reader does not see, but a model does: control characters, the tag block,
# zero-width and direction marks, and variation selectors in a row, which can carry any
# text behind one letter (Unicode 16, general categories Cc, Cf and Mn).
_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f"
    r"\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"
)
# What stays, as some scripts are written with it, and shows nothing inside a word.
_BLANK: Final = (
    r"[\u034f\u115f\u1160\u17b4\u17b5\u200c\u200d\u3164\uffa0\ufe00-\ufe0f"
    r"\U000e0100-\U000e01ef]*"
)


def _like(word: str) -> str:
    """A word however it is spaced out, in ASCII or in full-width letters."""
    letters = (f"[{one}{chr(ord(one) + 0xFEE0)}]" for one in word)
    return _BLANK.join(letters)


def _like_a_mark(*words: str) -> re.Pattern[str]:
    """What opens a mark of one of these words, or its end."""
    begins = rf"[<\ufe64\uff1c](?=(?:[\s/\\\u2044\u2215\uff0f\uff3c]|{_BLANK[:-1]})*"
    named = "|".join(map(_like, words))
    return re.compile(rf"{begins}(?:{named})(?!\w))", re.IGNORECASE)


_LIKE_A_NOTICE: Final = _like_a_mark("agiraph")
_LIKE_A_MARK: Final = _like_a_mark("untrusted", "agiraph")


def fence(text: str, source: str, *, seed: str = "") -> str:
    """A stranger's text between two marks that name its source.

    Args:
        text: what came; invisible characters are left out.
        source: the address it came from.
        seed: what tells this call from others, such as its step id.
    """
    shown = _harmless(text)
    label = _label(source)
    whole = "\0".join((seed, label, shown)).encode("utf-8", "surrogatepass")
    mark = hashlib.sha256(whole).hexdigest()[:_ID]
    gap = "" if shown.endswith("\n") else "\n"
    return (
        f'<untrusted from="{label}" id="{mark}">\n{shown}{gap}</untrusted id="{mark}">'
    )


def fenced(text: str) -> bool:
    """Whether a text carries a mark of a fence, whole or not."""
    return _MARK.search(text) is not None


def source_of(text: str) -> str | None:
    """The source that a text which begins with a fence names; None where none does."""
    found = _OPENING.match(text)
    return None if found is None else found.group(1)


def refenced(text: str, source: str) -> str:
    """A part of a text that a fence begins, fenced by itself.

    Args:
        text: some of its lines; marks of the old fence at its ends are left out.
        source: that of the old fence.
    """
    first = _OPENING.match(text)
    text = text[first.end() :] if first is not None else text
    return fence(_CLOSING.sub("", text), source)


def blocks(text: str) -> list[tuple[str, str]]:
    """The source and the inside of each fence in a text; one cut short goes on."""
    found = []
    for opening in _OPENING.finditer(text):
        label, mark = opening.groups()
        inside, _, _ = text[opening.end() :].partition(f'</untrusted id="{mark}">')
        found.append((label, inside))
    return found


def quoted(text: str) -> str:
    """What the daemon quotes within its own mark, which it can neither open nor end."""
    return _LIKE_A_NOTICE.sub("&lt;", text)


def _harmless(text: str) -> str:
    """The text without what is not seen, and without anything like our marks."""
    return _LIKE_A_MARK.sub("&lt;", _UNSEEN.sub("", text))


def _label(source: str) -> str:
    """An address that cannot leave the quotes it is put into."""
    kept = "".join(_escaped(one) for one in _UNSEEN.sub("", source))
    return kept[:_LONGEST_SOURCE]


def _escaped(one: str) -> str:
    return f"%{ord(one):02X}" if one in '"<>\n\r\t ' else one
