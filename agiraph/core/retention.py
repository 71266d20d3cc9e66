"""Which runs and which beginnings of logs are old enough to be put away."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from math import inf
from typing import TYPE_CHECKING, Final

from agiraph.core.loglines import record_of, time_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agiraph.model.run import Run

_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-\d+")
_ASIDE: Final = re.compile(r"\.(\d{4}-\d{2}-\d{2}-\d+)\.put-away")
_RUN: Final = re.compile(r"\d{4}-\d{2}-\d{2}-\d+(?:\.\d+)?\.tar\.gz")
_PART: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\.([2-9]|[1-9]\d+))?\.jsonl\.gz")
_TALK: Final = re.compile(r"(\d{4,})(?:-(\d+))?\.jsonl")
_TALK_AWAY: Final = re.compile(r"\d{4,}(?:-\d+)?\.jsonl(?:\.\d+)?\.gz")
_DAY: Final = 86_400.0
_ZONES: Final = timedelta(hours=26)  # a name's day began so much later at most


def candidates(
    names: Iterable[str], newest: str, now: datetime, keep: float
) -> tuple[str, ...]:
    """The runs that may be old enough, by their names alone; the oldest first.

    Args:
        names: what lies in `runs/`.
        newest: the agent's newest run on record; it and what follows stay.
        now: with an offset.
        keep: seconds for which a run stays after its end.
    """
    if keep == inf:
        return ()
    latest = now - timedelta(seconds=keep)
    found = [name for name in names if (day := _day(name)) and day <= latest]
    return tuple(sorted(name for name in found if name < newest))


def is_due(run: Run, now: datetime, keep: float) -> bool:
    """Whether a run that is not the newest has ended so long ago."""
    if run.state.open:
        return False
    try:
        ended = datetime.fromisoformat(run.ended or run.opened)
    except ValueError:
        return False
    if ended.tzinfo is None:
        return False
    return ended + timedelta(seconds=keep) <= now


def aside(name: str) -> str:
    """What a run's folder is called once its archive is on the disk."""
    return f".{name}.put-away"


def is_aside(name: str) -> bool:
    """Whether a folder is such a one, which only has to be taken away."""
    return _ASIDE.fullmatch(name) is not None


# --- logs


@dataclass(frozen=True, slots=True)
class Span:
    """The beginning of a log that is to be put away.

    Attributes:
        start: behind the log's head; end: behind its last line; both in the file.
        ts: of its last line.
        last: that line's bytes, by which the place is known again.
    """

    start: int
    end: int
    ts: str
    last: bytes

    @property
    def day(self) -> str:
        """The day of its last line, by which its archive is named."""
        return datetime.fromisoformat(self.ts).date().isoformat()


def is_long(first: float, now: float, keep: float) -> bool:
    """Whether enough of a log is old that it is worth writing it anew.

    A third of the time that lines stay goes at once: a month's lines where they stay
    for three.

    Args:
        first: when its first line was written, in seconds since 1970.
        now: likewise.
        keep: seconds for which a line stays.
    """
    return first + keep + max(keep / 3, _DAY) <= now


def span(
    lines: Iterable[bytes], start: int, before: float, now: float = inf
) -> Span | None:
    """The lines at the beginning of a log that are old enough.

    A line without a time goes with the one behind it. So does one of the future, when
    the clock was wrong: it would keep the log from ever becoming shorter.

    Args:
        lines: from `start` on, with their ends.
        start: the offset of the first.
        before: lines that were written then or later stay, and all behind them.
        now: later than this is the future.

    Returns:
        None where there are none.
    """
    found, at = None, start
    for line in lines:
        if not line.endswith(b"\n"):
            break
        at += len(line)
        ts = (record_of(line) or {}).get("ts")
        when = time_of(ts)
        if before <= when <= now:
            break
        if when and when < before:
            found = Span(start, at, str(ts), line)
    return found


def part_order(name: str) -> tuple[str, int] | None:
    """What archives of a log are ordered by; None where a name is none of them."""
    match = _PART.fullmatch(name)
    return None if match is None else (match[1], int(match[2] or 1))


def parts(names: Iterable[str], newest: str) -> list[str]:
    """The archives of a log that count, the oldest first.

    Args:
        names: what lies in the folder.
        newest: the last one of which the log's head tells. What is named later was not
            taken from the log yet.
    """
    last = part_order(newest)
    found = _ordered(names)
    return [name for order, name in found if last is not None and order <= last]


def unfinished(names: Iterable[str], newest: str) -> list[str]:
    """The archives that were made while the log still holds their lines."""
    counting = set(parts(names, newest))
    return [name for name in ordered(names) if name not in counting]


def ordered(names: Iterable[str]) -> list[str]:
    """The archives of a log, the oldest first."""
    return [name for _, name in _ordered(names)]


def part_name(day: str, newest: str, names: Collection[str]) -> str:
    """A name for the next archive of a log, which none has and which is the newest."""
    date_, number = max((day, 1), part_order(newest) or ("", 0))
    while True:
        name = f"{date_}{f'.{number}' if number > 1 else ''}.jsonl.gz"
        if name not in names and name != newest:
            return name
        number += 1


def _ordered(names: Iterable[str]) -> list[tuple[tuple[str, int], str]]:
    return sorted((order, name) for name in names if (order := part_order(name)))


# --- conversations, and archives


def talks(names: Iterable[str]) -> list[str]:
    """The files that compaction has put aside, the oldest first."""
    found = ((match, name) for name in names if (match := _TALK.fullmatch(name)))
    return [name for _, name in sorted((_talk(match), name) for match, name in found)]


def _talk(match: re.Match[str]) -> tuple[int, int]:
    return int(match[1]), int(match[2] or 1)


def is_archive(name: str) -> bool:
    """Whether a name is that of an archive that Agiraph makes."""
    kinds = (_RUN, _PART, _TALK_AWAY)
    return any(kind.fullmatch(name) is not None for kind in kinds)


def _day(name: str) -> datetime | None:
    """The earliest moment at which a run of this name can have been opened."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    try:
        day = date.fromisoformat(match[1])
        return datetime.combine(day, time(), UTC) - _ZONES
    except (ValueError, OverflowError):
        return None
