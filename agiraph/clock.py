"""The time of this machine, as the port `Clock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agiraph.errors import YourError


class SystemClock:
    """The machine's clocks; days are counted in one zone, a named one or its own."""

    def __init__(self, zone: str | None = None) -> None:
        self._named = named_zone(zone) if zone else None

    def now(self) -> datetime:
        """The wall clock, with an offset."""
        if self._named is not None:
            return datetime.now(self._named)
        return datetime.now(UTC).astimezone()  # with the offset of this moment

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def zone(self) -> tzinfo:
        """The time zone in which days are counted."""
        return self._named or SystemZone()

    async def sleep(self, seconds: float) -> None:
        """Wait; may be cancelled."""
        import asyncio  # noqa: PLC0415 - slow, and those who only read never wait

        await asyncio.sleep(seconds)


def named_zone(name: str) -> tzinfo:
    """The time zone of a name such as `Europe/Berlin`.

    Raises:
        YourError: no zone has this name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise YourError(
            f"{name!r} is no time zone; write a name such as Europe/Berlin or UTC"
        ) from error


class SystemZone(tzinfo):
    """The zone of the machine, with its changes of summer and winter time.

    The standard library only gives the offset of the moment, which is wrong for a
    slot after the next change.
    """

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        """How far local time is ahead of UTC at a local moment."""
        local = self._plain(moment).astimezone()
        return local.utcoffset() or timedelta()

    def dst(self, moment: datetime | None, /) -> timedelta:
        """One hour while summer time is in force; only its truth is known."""
        stamp = self._plain(moment).timestamp()
        return timedelta(hours=1 if time.localtime(stamp).tm_isdst > 0 else 0)

    def tzname(self, moment: datetime | None, /) -> str:
        """The short name in force, such as CET."""
        return self._plain(moment).astimezone().tzname() or "UTC"

    def fromutc(self, moment: datetime, /) -> datetime:
        """The local time of a moment in UTC; `fold` tells the doubled hour apart."""
        there = moment.replace(tzinfo=UTC).astimezone()
        local = there.replace(tzinfo=self, fold=0)
        if local.utcoffset() != there.utcoffset():
            local = local.replace(fold=1)
        return local

    def __repr__(self) -> str:
        return "SystemZone()"

    @staticmethod
    def _plain(moment: datetime | None) -> datetime:
        now = datetime.now() if moment is None else moment  # noqa: DTZ005 - local on purpose
        return now.replace(tzinfo=None)
