"""Which runs are old enough to be put away."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.run import Run

_NAME: Final = re.compile(r"(\d{4}-\d{2}-\d{2})-\d+")
_ASIDE: Final = re.compile(r"\.(\d{4}-\d{2}-\d{2}-\d+)\.put-away")
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
