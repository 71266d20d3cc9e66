"""What the headers of an answer say of an account's limits.

The names are Anthropic's (docs: API, rate limits, response headers) and those of
OpenAI, which most that are compatible with it send too. Both tell each limit's size,
what is left of it, and when all of it will be there again: Anthropic as a moment,
OpenAI as a duration, `6m0s`.
"""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from agiraph.model.usage import Headroom

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.usage import Usage

_ANTHROPIC: Final = "anthropic-ratelimit-{what}-{part}"
_OPENAI: Final = "x-ratelimit-{part}-{what}"
_KINDS: Final = ("requests", "tokens", "input-tokens", "output-tokens")
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def headroom(headers: Mapping[str, str], usage: Usage) -> tuple[Headroom, ...]:
    """Each limit that the headers tell of, and what the answered call took of it."""
    said = {name.lower(): headers[name] for name in headers if _tells(name)}
    found = (
        _limit(said, names, what, usage)
        for names in (_ANTHROPIC, _OPENAI)
        for what in _KINDS
    )
    return tuple(room for room in found if room is not None)


def _tells(name: str) -> bool:
    return "ratelimit" in name.lower() or name.lower() == "date"


def _limit(
    headers: Mapping[str, str], names: str, what: str, usage: Usage
) -> Headroom | None:
    limit, left, reset = (
        headers.get(names.format(what=what, part=part), "").strip()
        for part in ("limit", "remaining", "reset")
    )
    if not (_is_number(limit) and _is_number(left) and float(limit) > 0):
        return None
    took = _took(what, usage, anthropic=names is _ANTHROPIC)
    resets = _resets(reset, headers.get("date", ""))
    return Headroom(what, float(limit), float(left), resets, took)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _took(what: str, usage: Usage, *, anthropic: bool) -> float:
    """What a call took of a limit; Anthropic's do not count what its cache served."""
    fresh = usage.input + usage.cache_write + (0 if anthropic else usage.cache_read)
    match what:
        case "requests":
            return 1.0
        case "input-tokens":
            return float(fresh)
        case "output-tokens":
            return float(usage.output)
        case _:
            return float(fresh + usage.output)


def _resets(reset: str, date: str) -> float | None:
    """Seconds until a limit is whole again; a moment counts from the answer's date."""
    if _DURATION.fullmatch(reset):
        parts = _PART.findall(reset)
        return sum(float(count) * _UNITS[unit] for count, unit in parts)
    try:
        moment, sent = datetime.fromisoformat(reset), parsedate_to_datetime(date)
        seconds = (moment - sent).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(seconds, 0.0)
