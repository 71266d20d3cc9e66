"""Who is cancelled ends in order: once, however busy the machine or the agent is."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agiraph.model.names import COORDINATOR
from agiraph.runtime.work import nodes
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


class Killed(Exception):
    """The daemon died here."""


@pytest.mark.parametrize("killed", [False, True])
async def test_stop_in_a_node_cancels_what_it_has_started_too_over_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("I wait."))
        a.model.says("n", node("below", worker="Bob"), call("wait", nodes=["below"]))
        await a.begin()
        await a.asked("below")  # and is never answered
        a.write(f"runs/{a.run.name}/nodes/n/STOP", "")
        if killed:
            end, ended = nodes.end, []

            async def dies(*words: Any, **more: Any) -> None:
                if ended:
                    raise Killed
                ended.append(words)
                await end(*words, **more)

            monkeypatch.setattr(nodes, "end", dies)
            with pytest.raises(Killed):
                await a.look()
            monkeypatch.setattr(nodes, "end", end)
            await a.restart()
        await a.look()

        assert a.state("n") == a.state("below") == "cancelled"
