"""What rings at due times: the machine's alarm, and that a ring is only a hint."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from agiraph.alarm import SchedulerAlarm


async def test_an_alarm_rings_for_each_at_its_time_and_the_last_set_counts() -> None:
    rung: list[str] = []
    done = asyncio.Event()

    def ring(name: str) -> None:
        rung.append(name)
        if len(rung) == 3:
            done.set()

    alarm = SchedulerAlarm(ring)
    now = datetime.now(UTC)
    alarm.set("late", now + timedelta(seconds=0.6))
    alarm.set("early", now + timedelta(hours=1))
    alarm.set("early", now + timedelta(seconds=0.2))
    alarm.set("never", now + timedelta(seconds=0.1))
    alarm.clear("never")
    alarm.clear("unknown")
    alarm.set("past", now - timedelta(days=3))
    async with asyncio.timeout(30):
        await done.wait()
    await alarm.close()

    assert rung == ["past", "early", "late"]
