from __future__ import annotations

import asyncio

from agiraph.model.conversation import Request, SystemLine
from agiraph.providers.vanguard import KEPT, Vanguard


def request(who: str, rules: str = "Rules.") -> Request:
    content = f"{rules}\n\n## Who you are (identity.md)\n\nYou are {who}.\n"
    return Request(SystemLine("", 1, "x/y", content, ()), (), 100, {}, who)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_others_go_once_the_first_answer_begins() -> None:
    vanguard = Vanguard(lambda: 0.0)
    first = await vanguard.go(request("Ada"))
    others = [asyncio.ensure_future(vanguard.go(request(n))) for n in ("Ben", "Cy")]
    await settled()
    assert not any(task.done() for task in others)

    first.begun()
    await settled()
    assert all(task.done() for task in others)


async def test_other_rules_wait_for_nobody() -> None:
    vanguard = Vanguard(lambda: 0.0)
    await vanguard.go(request("Ada"))
    async with asyncio.timeout(30):
        await vanguard.go(request("Ben", rules="Others."))


async def test_where_the_first_fails_the_next_goes_ahead() -> None:
    vanguard = Vanguard(lambda: 0.0)
    first = await vanguard.go(request("Ada"))
    others = [asyncio.ensure_future(vanguard.go(request(n))) for n in ("Ben", "Cy")]
    await settled()
    first.over()
    await settled()
    assert [task.done() for task in others] == [True, False]

    others[0].result().begun()
    await settled()
    assert others[1].done()


async def test_what_the_cache_has_forgotten_is_sent_ahead_again() -> None:
    now = [0.0]
    vanguard = Vanguard(lambda: now[0])
    (await vanguard.go(request("Ada"))).begun()
    now[0] = KEPT - 1
    await vanguard.go(request("Ben"))  # a read: it is kept for as long again
    now[0] = 2 * KEPT - 2
    await vanguard.go(request("Ben"))
    now[0] = 4 * KEPT
    await vanguard.go(request("Cy"))
    waits = asyncio.ensure_future(vanguard.go(request("Ada")))
    await settled()
    assert not waits.done()
    waits.cancel()
