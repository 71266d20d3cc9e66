"""Time with an offset, in a named zone or the machine's own."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from agiraph.clock import SystemClock, SystemZone
from agiraph.errors import YourError
from tests.support.clock import HandClock

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that stands in Berlin."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_now_has_an_offset() -> None:
    assert SystemClock().now().utcoffset() is not None
    assert abs(SystemClock().now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_named_zone_counts_its_own_days() -> None:
    clock = SystemClock("Asia/Tokyo")
    assert clock.now().utcoffset() == timedelta(hours=9)
    assert clock.zone().utcoffset(None) in (None, timedelta(hours=9))


@pytest.mark.parametrize("name", ["Berlin/Europe", "../etc/passwd", "/etc", "x" * 999])
def test_an_unknown_zone_is_told(name: str) -> None:
    with pytest.raises(YourError, match="Europe/Berlin"):
        SystemClock(name)


@pytest.mark.usefixtures("berlin")
def test_the_machines_zone_knows_summer_and_winter() -> None:
    zone = SystemClock().zone()
    assert datetime(2026, 7, 1, 9, tzinfo=zone).utcoffset() == timedelta(hours=2)
    assert datetime(2026, 12, 1, 9, tzinfo=zone).utcoffset() == timedelta(hours=1)
    assert datetime(2026, 7, 1, 9, tzinfo=zone).dst() == timedelta(hours=1)
    assert datetime(2026, 12, 1, 9, tzinfo=zone).tzname() == "CET"


@pytest.mark.usefixtures("berlin")
def test_the_doubled_hour_is_told_apart() -> None:
    zone = SystemZone()
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC).astimezone(zone)
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC).astimezone(zone)
    assert (first.hour, first.minute) == (second.hour, second.minute) == (2, 30)
    assert (first.fold, second.fold) == (0, 1)
    assert second.astimezone(UTC) - first.astimezone(UTC) == timedelta(hours=1)


@pytest.mark.usefixtures("berlin")
def test_every_moment_of_a_year_survives_the_way_there_and_back() -> None:
    zone = SystemZone()
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    while moment.year == 2026:
        assert moment.astimezone(zone).astimezone(UTC) == moment
        moment += timedelta(minutes=30)


async def test_sleepers_of_the_hand_clock_wake_in_order_at_their_times() -> None:
    clock = HandClock()
    woken: list[tuple[str, float]] = []
    start = clock.monotonic()

    async def sleeper(name: str, *naps: float) -> None:
        for nap in naps:
            await clock.sleep(nap)
            woken.append((name, clock.monotonic() - start))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(sleeper("slow", 5))
        tasks.create_task(sleeper("quick", 1, 1, 1))
        await clock.advance(4)
        assert woken == [("quick", 1), ("quick", 2), ("quick", 3)]
        assert clock.next_wake() == pytest.approx(1)
        await clock.advance(1)
        assert woken[-1] == ("slow", 5)
    assert clock.sleepers == 0
