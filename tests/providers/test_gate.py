from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Answer, Stop
from agiraph.model.usage import Headroom, Usage
from agiraph.providers.gate import LONGEST_PAUSE, Gate
from tests.support.clock import HandClock
from tests.support.talk import Talk

GOOD = Answer("ok", (), Stop.END, Usage(), {})


class Service:
    """A provider that gives what it is told to, in order, and says when."""

    def __init__(self, clock: HandClock, *given: Answer | ProviderFault) -> None:
        self.clock = clock
        self.given = list(given)
        self.asked: list[float] = []
        self.under_way = 0
        self.most = 0
        self.hold: asyncio.Event | None = None

    async def ask(self, request: object) -> Answer:
        self.asked.append(self.clock.monotonic() - 1000)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if self.hold is not None:
                await self.hold.wait()
            next_ = self.given.pop(0) if self.given else GOOD
            if isinstance(next_, ProviderFault):
                raise next_
            return next_
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        pass


def fault(kind: Fault, retry_after: float | None = None) -> ProviderFault:
    return ProviderFault(kind, "words", retry_after)


def gated(
    *given: Answer | ProviderFault, **how: float
) -> tuple[Gate, Service, HandClock]:
    clock = HandClock()
    service = Service(clock, *given)
    return Gate(service, clock=clock, chance=lambda: 1.0, **how), service, clock


def asking(gate: Gate) -> asyncio.Task[Answer]:
    return asyncio.ensure_future(Talk(gate, "x/y").ask("hi"))


async def test_a_passing_fault_is_asked_again_with_growing_waits():
    gate, service, clock = gated(*[fault(Fault.OVERLOADED) for _ in range(3)])
    task = asking(gate)
    await clock.advance(10)
    assert (await task).text == "ok"
    assert service.asked == [0.0, 0.5, 1.5, 3.5]


async def test_a_fault_that_does_not_pass_comes_out_at_once():
    gate, service, _ = gated(fault(Fault.KEY))
    with pytest.raises(ProviderFault):
        await Talk(gate, "x/y").ask("hi")
    assert len(service.asked) == 1


async def test_what_the_service_asks_to_wait_is_waited():
    gate, service, clock = gated(fault(Fault.RATE, 20))
    task = asking(gate)
    await clock.advance(60)
    assert (await task).text == "ok"
    assert service.asked[1] >= 20


async def test_one_refusal_holds_all_who_share_the_gate():
    gate, service, clock = gated(fault(Fault.RATE, 20))
    first = asking(gate)
    await clock.advance(1)
    others = [asking(gate) for _ in range(10)]
    await clock.advance(10)
    assert len(service.asked) == 1
    await clock.advance(30)
    for task in (first, *others):
        assert (await task).text == "ok"
    assert min(service.asked[1:]) >= 20


async def test_patience_ends_and_the_fault_comes_out():
    gate, service, clock = gated(*[fault(Fault.NETWORK)] * 99, patience=10.0)
    task = asking(gate)
    await clock.advance(60)
    with pytest.raises(ProviderFault):
        await task
    assert service.asked[-1] <= 10


async def test_a_wait_beyond_our_patience_is_told_and_not_waited():
    gate, service, clock = gated(fault(Fault.RATE, 7999))
    with pytest.raises(ProviderFault) as caught:
        await Talk(gate, "x/y").ask("hi")
    assert caught.value.retry_after == 7999
    # And so is the pause, to the next who asks; it is capped.
    with pytest.raises(ProviderFault) as later:
        await Talk(gate, "x/y").ask("hi")
    assert later.value.retry_after == pytest.approx(LONGEST_PAUSE)
    assert len(service.asked) == 1
    await clock.advance(LONGEST_PAUSE)
    assert (await Talk(gate, "x/y").ask("hi")).text == "ok"


async def test_no_more_calls_than_allowed_are_under_way():
    gate, service, clock = gated(at_once=3)
    service.hold = asyncio.Event()
    tasks = [asking(gate) for _ in range(10)]
    await clock.advance(1)
    assert service.under_way == 3
    service.hold.set()
    for task in tasks:
        await task
    assert service.most == 3


async def test_a_cancelled_call_gives_its_place_back():
    gate, service, clock = gated(at_once=1)
    service.hold = asyncio.Event()
    first, second = asking(gate), asking(gate)
    await clock.advance(1)
    first.cancel()
    service.hold.set()
    assert (await second).text == "ok"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_pause_holds_one_model_alone():
    gate, service, _ = gated(fault(Fault.RATE, 7999))
    with pytest.raises(ProviderFault):
        await Talk(gate, "x/y").ask("hi")
    with pytest.raises(ProviderFault):
        await Talk(gate, "x/y").ask("hi")
    assert (await Talk(gate, "x/other").ask("hi")).text == "ok"
    assert len(service.asked) == 2


class Limited(Service):
    """A service that lets twenty calls a second through, and says so by 429 alone."""

    def __init__(self, clock: HandClock, *, burst: float = 20.0) -> None:
        super().__init__(clock)
        self.tokens = self.burst = burst
        self.at = clock.monotonic()
        self.refusals = 0

    async def ask(self, request: object) -> Answer:
        now = self.clock.monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.at) * 20.0)
        self.at = now
        if self.tokens < 1:
            self.refusals += 1
            raise fault(Fault.RATE, 1.0)
        self.tokens -= 1
        await self.clock.sleep(0.05)
        return GOOD


async def test_a_hundred_workers_share_what_a_service_allows_and_none_gives_up():
    clock = HandClock()
    service = Limited(clock)
    gate = Gate(service, clock=clock, patience=20.0, chance=lambda: 0.5)

    async def worker() -> None:
        for _ in range(5):
            await Talk(gate, "x/y").ask("hi")

    workers = [asyncio.ensure_future(worker()) for _ in range(100)]
    began = clock.monotonic()
    while not all(task.done() for task in workers):
        await clock.advance(0.25, settle=3)
    for task in workers:
        task.result()  # none was given up
    assert clock.monotonic() - began < 25 * 1.1
    assert service.refusals < 0.3 * 500


class Metered(Service):
    """It allows 60,000 tokens a minute, tells what is left, and refuses beyond that."""

    LIMIT = 60_000.0
    TOOK = 2_000.0

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock)
        self.left, self.at = self.LIMIT, clock.monotonic()
        self.refusals = 0

    async def ask(self, request: object) -> Answer:
        now = self.clock.monotonic()
        self.left = min(self.LIMIT, self.left + (now - self.at) * self.LIMIT / 60)
        self.at = now
        if self.left < self.TOOK:
            self.refusals += 1
            raise fault(Fault.RATE, 1.0)
        self.left -= self.TOOK
        room = Headroom("tokens", self.LIMIT, self.left, took=self.TOOK)
        await self.clock.sleep(8.0)  # the headers were the first of a long answer
        return replace(GOOD, headroom=(room,))


async def test_workers_keep_to_the_tokens_that_a_service_tells_and_none_is_refused():
    clock = HandClock()
    service = Metered(clock)
    gate = Gate(service, clock=clock, chance=lambda: 0.5)

    async def worker() -> None:
        for _ in range(5):
            await Talk(gate, "x/y").ask("hi")

    workers = [asyncio.ensure_future(worker()) for _ in range(20)]
    began = clock.monotonic()
    while not all(task.done() for task in workers):
        await clock.advance(0.5, settle=5)
    for task in workers:
        task.result()
    # Thirty calls are there at once, seventy more by one in two seconds.
    assert clock.monotonic() - began < (70 * 2 + 8) * 1.1
    assert service.refusals == 0
