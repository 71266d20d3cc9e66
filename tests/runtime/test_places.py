"""Places: never more at work than the limit, in the order of asking."""

from __future__ import annotations

import asyncio

import pytest

from agiraph.runtime.bell import Bell
from agiraph.runtime.places import Places
from tests.support.clock import HandClock


class Desk:
    """Places under a limit that a test sets, and who got one when."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bell = Bell(HandClock())
        self.places = Places(self.bell, lambda: self.limit)
        self.entered: list[str] = []

    async def enter(self, name: str) -> None:
        await self.places.enter(name)
        self.entered.append(name)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_free_place_is_taken_at_once() -> None:
    desk = Desk(2)

    async with asyncio.timeout(30):
        await desk.enter("a")

    assert desk.places.holds("a")
    assert desk.places.free == 1


async def test_who_comes_too_late_waits_in_line() -> None:
    desk = Desk(1)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(desk.enter(name))
        await settle()
        assert desk.entered == ["a"]
        assert desk.places.waits("b")
        assert not desk.places.holds("b")
        assert desk.places.free == 0

        desk.places.leave("a")
        await settle()
        assert desk.entered == ["a", "b"]

        desk.places.leave("b")
    assert desk.entered == ["a", "b", "c"]


async def test_twenty_who_come_and_go_never_exceed_the_limit() -> None:
    desk, at_work, most = Desk(3), set(), 0

    async def work(name: str) -> None:
        nonlocal most
        for _ in range(5):
            await desk.places.enter(name)
            at_work.add(name)
            most = max(most, len(at_work))
            await asyncio.sleep(0)
            at_work.discard(name)
            desk.places.leave(name)

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(work(f"w{number}"))

    assert most == 3
    assert desk.places.free == 3


async def test_a_name_that_enters_twice_holds_one_place_until_it_left_twice() -> None:
    desk = Desk(1)
    async with asyncio.timeout(30):
        await desk.enter("agent")
        await desk.enter("agent")

    desk.places.leave("agent")
    assert desk.places.holds("agent")
    desk.places.leave("agent")
    assert desk.places.free == 1


async def test_a_name_that_waits_twice_gets_in_twice() -> None:
    desk = Desk(1)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for name in ("a", "b", "b"):
            group.create_task(desk.enter(name))
        await settle()
        desk.places.leave("a")
    assert desk.entered == ["a", "b", "b"]

    desk.places.leave("b")
    assert desk.places.holds("b")
    desk.places.leave("b")
    assert desk.places.free == 1


async def test_who_gives_up_waiting_blocks_nobody() -> None:
    desk = Desk(1)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        await desk.enter("a")
        given_up = group.create_task(desk.enter("b"))
        group.create_task(desk.enter("c"))
        await settle()
        given_up.cancel()
        await settle()
        assert not desk.places.waits("b")

        desk.places.leave("a")
    assert desk.entered == ["a", "c"]


async def test_a_raised_limit_lets_the_next_in() -> None:
    desk = Desk(1)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(desk.enter(name))
        await settle()
        desk.limit = 3
        desk.bell.ring()
    assert desk.entered == ["a", "b", "c"]


async def test_a_lowered_limit_sends_nobody_away_and_lets_nobody_in() -> None:
    desk = Desk(2)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(desk.enter(name))
        await settle()
        desk.limit = 1
        desk.places.leave("a")
        await settle()
        assert desk.entered == ["a", "b"]
        assert desk.places.free == 0

        desk.places.leave("b")
    assert desk.entered == ["a", "b", "c"]


async def test_leaving_without_a_place_is_harmless() -> None:
    desk = Desk(1)

    desk.places.leave("nobody")

    assert desk.places.free == 1


@pytest.mark.parametrize("limit", [1, 2])
async def test_a_claim_never_jumps_the_line(limit: int) -> None:
    desk = Desk(limit)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for number in range(limit + 1):
            group.create_task(desk.enter(f"w{number}"))
        await settle()
        assert not desk.places.claim("late")

        desk.places.leave("w0")
        assert not desk.places.claim("late")
    desk.places.leave("w1")
    assert desk.places.claim("late")
    assert not desk.places.claim("late")
