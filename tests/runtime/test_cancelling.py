"""Who is cancelled ends in order: once, however busy the machine or the agent is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import Inside, call, inside, node, say

if TYPE_CHECKING:
    from pathlib import Path

CANCEL = call("cancel_node", node_id="n", reason="enough is there")


def slow_disk(a: Inside, *words: str) -> None:
    """Each line of a log with one of these takes a while, and the bell goes on."""
    append = a.pen.append

    async def slowly(path: object, data: bytes, *, flush: bool) -> None:
        for _ in range(5 if any(word.encode() in data for word in words) else 0):
            a.desk.bell.ring()
            await asyncio.sleep(0.01)
        await append(path, data, flush=flush)  # type: ignore[arg-type]

    a.pen.append = slowly  # type: ignore[method-assign, assignment]


async def test_a_cancelled_worker_becomes_idle_however_slow_the_disk_is(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        slow_disk(a, "worker.idle")
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin()
        await a.asked("n")  # and is never answered
        a.write("_inbox/stop.md", "Enough.\n")
        a.model.says(COORDINATOR, CANCEL, call("finish", summary="Enough."))
        await a.look()
        await a.until(lambda: a.supervising is not None and a.supervising.done())

        assert a.events("worker.") == ["worker.spawned", "worker.busy", "worker.idle"]
        assert (a.run / "workers/worker-1/_status.md").read_text().count("idle")
