"""The lines of a log of JSON objects, and the first one that cannot be explained.

A crash leaves marks at the end of a log only: half a line, or NUL bytes where the
length was recorded and the content was not. Anything else that is no record is damage.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agiraph.model.json import Json, JsonObject


NUL_BYTES: Final = "there are NUL bytes in it"


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a log; number: from 1; size: in bytes, without its line end."""

    number: int
    size: int
    found: JsonObject


class BadLine(Exception):
    """A line in the middle of a log is no record; number: from 1."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.why = why


def records(data: bytes) -> Iterator[Record]:
    """Every record of a log, in order; what a crash tore at its end is left out.

    Raises:
        BadLine: a line is no record, and no crash explains it.
    """
    *lines, rest = data.split(b"\n")
    torn = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if b"\0" in line:
            torn = torn or number
            continue
        found = meaning(line)
        if torn:
            raise BadLine(torn, NUL_BYTES)
        if isinstance(found, str):
            raise BadLine(number, found)
        yield Record(number, len(line), found)
    last = meaning(rest) if rest.strip() and b"\0" not in rest else ""
    if not isinstance(last, str):  # whole but for its line end, which is added
        if torn:
            raise BadLine(torn, NUL_BYTES)
        yield Record(len(lines) + 1, len(rest), last)


def bad_lines(
    lines: Iterable[bytes], wrong: Callable[[JsonObject], str]
) -> Iterator[BadLine]:
    """Every line that is no record and that no crash explains.

    Args:
        lines: of the whole log, with their ends.
        wrong: what is wrong with a JSON object in this log; empty where nothing is.
    """
    torn: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if b"\0" in line:
            torn.append(number)
            continue
        found = meaning(line.removesuffix(b"\n"))
        if isinstance(found, str) and not line.endswith(b"\n"):
            return
        yield from (BadLine(each, NUL_BYTES) for each in torn)
        torn.clear()
        why = found if isinstance(found, str) else wrong(found)
        if why:
            yield BadLine(number, why)


def record_of(line: bytes) -> JsonObject | None:
    """What one line says; None where it is no record."""
    found = meaning(line)
    return None if isinstance(found, str) else found


def time_of(stamp: object) -> float:
    """A record's time stamp in seconds since 1970; what is none is long ago."""
    try:
        return datetime.fromisoformat(str(stamp)).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def meaning(line: bytes) -> JsonObject | str:
    """What a line says, or why it is no record."""
    try:
        said: Json = json.loads(line)
    except ValueError as error:
        return f"it is no JSON ({error})"
    except RecursionError:
        return "it is nested too deeply"
    return said if isinstance(said, dict) else "it is no JSON object"
