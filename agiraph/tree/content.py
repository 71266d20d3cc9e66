"""Whether the bytes of a person's file are text that can be taken at its word."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

_OTHER_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_OURS: Final = b"<<<<<<< "
_MIDDLE: Final = b"======="
_THEIRS: Final = b">>>>>>> "


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why bytes are no such text, and where.

    Attributes:
        words: for the person: what was found and what to do.
        line: from 1; None where it is about the whole.
    """

    words: str
    line: int | None = None


def text_of(data: bytes) -> str | Unfit:
    """The text without a byte order mark, or what is wrong with it."""
    for mark, name in _OTHER_MARKS:
        if data.startswith(mark):
            return Unfit(f"the file is written in {name}; save it as UTF-8")
    nul = data.find(b"\0")
    if nul >= 0:
        return Unfit(
            "the file holds a NUL byte: it is no text, or was only half written; "
            "save it again as text",
            _line_at(data, nul),
        )
    conflict = _conflict(data)
    if conflict is not None:
        return Unfit(
            "a merge left its conflict markers here; choose one version and take "
            "the lines with <<<<<<<, ======= and >>>>>>> out",
            conflict,
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unfit(
            f"byte 0x{data[error.start]:02x} is not valid UTF-8; save it as UTF-8",
            _line_at(data, error.start),
        )


def _conflict(data: bytes) -> int | None:
    """The line of the first conflict marker of git.

    A line of `=======` alone is a heading in Markdown, and `>>>>>>> ` alone can be a
    quotation, so these count only together.
    """
    if _OURS not in data and _THEIRS not in data:
        return None
    middle = False
    for number, line in enumerate(data.splitlines(), start=1):
        if line.startswith(_OURS) or (middle and line.startswith(_THEIRS)):
            return number
        middle = middle or line == _MIDDLE
    return None


def _line_at(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1
