"""The alarms of the agents whose triggers wait for a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.ports import Alarm


class Alarms:
    """Keeps one alarm for each agent; what rings is made when the first one is set."""

    def __init__(
        self,
        make: Callable[[Callable[[str], None]], Alarm] | None,
        ring: Callable[[str], None],
    ) -> None:
        """`ring` is told for whom; nothing rings where nothing is made."""
        self._make = make
        self._ring = ring
        self._alarm: Alarm | None = None
        self._set: dict[str, float] = {}

    def set(self, name: str, at: datetime | float | None) -> None:
        """Ring for an agent at a moment, or at seconds since 1970; 0 is never."""
        due = at.timestamp() if isinstance(at, datetime) else at or 0.0
        if self._set.get(name, 0.0) == due or self._make is None:
            return
        if self._alarm is None:
            self._alarm = self._make(self._rung)
        if due:
            self._set[name] = due
            self._alarm.set(name, datetime.fromtimestamp(due, UTC))
        else:
            self._set.pop(name, None)
            self._alarm.clear(name)

    def _rung(self, name: str) -> None:
        self._set.pop(name, None)  # the same moment may be set again
        self._ring(name)

    async def close(self) -> None:
        """No alarm rings any more."""
        if self._alarm is not None:
            await self._alarm.close()
