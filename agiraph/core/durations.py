"""How long something may take, as models say it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from agiraph.model.json import Json

_WORDS: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
_UNITS: Final = {
    "": 1.0, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
_LONGEST: Final = 100 * 366 * 86400.0


def seconds(value: Json, name: str = "timeout") -> float:
    """Seconds from a number or from words such as `90s`, `30m`, `2h`.

    Raises:
        ToolRefused: it is neither, or not more than none.
    """
    found = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = float(value)
    elif isinstance(value, str) and (match := _WORDS.fullmatch(value)):
        unit = _UNITS.get(match[2].casefold())
        found = float(match[1]) * unit if unit else None
    if found is None or not 0 < found <= _LONGEST:
        raise ToolRefused(
            f"`{name}` must be seconds, or a duration such as 90s, 30m or 2h; "
            f"found {value!r}"
        )
    return found
