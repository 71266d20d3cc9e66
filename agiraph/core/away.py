"""The file AWAY: whether the person is away, until when, and in which words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_UNTIL = re.compile(r"\s*until:\s*(\S.*?)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Away:
    """The person is away.

    Attributes:
        until: when that ends by itself; None where the file has to go for that.
        words: the person's own, in one line.
    """

    until: datetime | None = None
    words: str = ""

    def left(self, now: datetime) -> float | None:
        """Seconds until it ends by itself; None where it does not."""
        if self.until is None:
            return None
        return max((self.until - now).total_seconds(), 0.0)

    def told(self) -> str:
        """What others are told of it."""
        until = f"until {self.until:%Y-%m-%d %H:%M}" if self.until else "for now"
        return f"{until} ({self.words})" if self.words else until


def read_away(text: str, zone: tzinfo) -> Away:
    """What the file says; anything that is no time is words.

    Args:
        text: the file's; a line `until: 2026-11-25T09:00` gives the end.
        zone: of times that name none.
    """
    until, words = None, []
    for line in text.splitlines():
        match = _UNTIL.fullmatch(line)
        found = moment(match[1], zone) if match else None
        if found is not None and until is None:
            until = found
        elif line.strip():
            words.append(line.strip())
    return Away(until, " ".join(words)[:200])


def moment(text: str, zone: tzinfo) -> datetime | None:
    """A date, or a date with its time; None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=zone)
