"""Cron lines, as cron itself reads them; cronsim does the reading.

Monday is 1 and Sunday 0 or 7; where both days are restricted either may match; `L` is
the last day of the month, `5L` its last Friday, `5#2` its second. A line with a fixed
time is due once in an hour that the clocks repeat, and at the next minute that exists
where they leave one out; one that runs more often goes by the time that passes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_ANY_DAY: Final = datetime(2024, 1, 1, tzinfo=UTC)  # a leap year; any would do


def fields_of(line: str) -> str:
    """The five fields of a line; a name stands for those that it means."""
    return NAMED.get(line.strip().lower(), line.strip())


def cron_problem(line: str) -> str | None:
    """What is wrong with a cron line, in words; None when it is a good one."""
    from cronsim import CronSim, CronSimError  # noqa: PLC0415 - only where one is read

    fields = fields_of(line)
    if len(fields.split()) != 5:
        return "it has not five fields"
    try:
        next(CronSim(fields, _ANY_DAY))
    except CronSimError as error:
        return f"its {str(error).removeprefix('Bad ')} is impossible"
    except StopIteration:
        return "that day never comes"
    return None


def cron_slots(line: str, *, after: datetime, zone: tzinfo) -> Iterator[datetime]:
    """The instants at which a good line is due, in order, all after an instant.

    Args:
        after: with an offset; not due itself.
        zone: in which the line is read; the instants have its offsets.
    """
    from cronsim import CronSim  # noqa: PLC0415 - only where there are cron lines

    last = after.astimezone(UTC)
    for slot in CronSim(fields_of(line), after.astimezone(zone)):
        # In the repeat of a repeated hour the first one is found again.
        if slot.astimezone(UTC) > last:
            last = slot.astimezone(UTC)
            yield slot
