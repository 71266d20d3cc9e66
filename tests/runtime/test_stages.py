"""Stages: which nodes they hold, and what their contracts count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_stages_time_stands_still_in_a_pause(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        opened = call("reconvene", assessment="-", contract={"timeout": "10m"})
        a.model.says(COORDINATOR, calls(opened, node("n")), say("ok"))
        await a.begin()
        await a.asked("n")
        a.write("PAUSE", "")
        await a.look()
        await a.leap(1200)
        (a.home / "PAUSE").unlink()
        await a.look()
        await a.restart()
        await a.asked("n", 2)
        await a.stays(lambda: "its time is up" not in a.told())

        await a.leap(600)
        await a.until(lambda: "[stage 1] its time is up (600 s)" in a.told())
        assert "stage.completed" in a.events()


async def test_a_nodes_account_is_its_own_in_each_run(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        for goal in ("First.", "Second."):
            a.goal(goal)
            await a.look()
            a.go()
            a.model.says(COORDINATOR, node("n"), say("ok"))
            a.model.says("n", publish())
            await a.until(lambda: a.state("n") == "completed")
            a.model.says(COORDINATOR, call("finish", summary="Done."))
            await a.until(lambda: not a.desk.run_open)

            assert a.world.ledger.account(f"node:a:{a.run.name}:n").tokens == 15
