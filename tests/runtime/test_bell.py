"""The bell: whoever waits is woken by a ring, or when the time is up."""

from __future__ import annotations

import asyncio

import pytest

from agiraph.runtime.bell import Bell
from tests.support.clock import HandClock


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def bell(clock: HandClock) -> Bell:
    return Bell(clock)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_ring_wakes_everyone_who_waits(bell: Bell) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = [group.create_task(bell.wait()) for _ in range(3)]
        await settle()
        assert not any(each.done() for each in waiting)
        bell.ring()


async def test_a_ring_too_many_is_harmless(bell: Bell) -> None:
    bell.ring()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(bell.wait())
        await settle()
        assert not waiting.done()
        bell.ring()
        bell.ring()


async def test_a_wait_ends_when_its_time_is_up(bell: Bell, clock: HandClock) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(bell.wait(60))
        await clock.advance(59)
        assert not waiting.done()
        await clock.advance(1)
        assert waiting.done()


async def test_a_ring_leaves_no_alarm_behind(bell: Bell, clock: HandClock) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(bell.wait(3600))
        await settle()
        bell.ring()
    await settle()

    assert clock.sleepers == 0
    assert len(asyncio.all_tasks()) == 1


async def test_a_cancelled_wait_leaves_nothing_behind(
    bell: Bell, clock: HandClock
) -> None:
    waiting = asyncio.get_running_loop().create_task(bell.wait(3600))
    await settle()

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert clock.sleepers == 0
    bell.ring()


@pytest.mark.parametrize("seconds", [0, -5])
async def test_no_time_is_no_wait(bell: Bell, seconds: float) -> None:
    async with asyncio.timeout(30):
        await bell.wait(seconds)


async def test_until_looks_again_at_each_ring(bell: Bell) -> None:
    facts: list[str] = []
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(bell.until(lambda: len(facts) == 2))
        for word in ("one", "two"):
            await settle()
            assert not waiting.done()
            facts.append(word)
            bell.ring()
    assert waiting.result() is True


async def test_until_does_not_wait_for_what_holds_already(
    bell: Bell, clock: HandClock
) -> None:
    async with asyncio.timeout(30):
        assert await bell.until(lambda: True, deadline=clock.monotonic() - 1)


async def test_until_gives_up_at_its_deadline_however_often_it_rings(
    bell: Bell, clock: HandClock
) -> None:
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(bell.until(bool, deadline=clock.monotonic() + 10))
        for _ in range(9):
            await clock.advance(1)
            bell.ring()
            await settle()
            assert not waiting.done()
        await clock.advance(1)
    assert waiting.result() is False
    assert clock.sleepers == 0
