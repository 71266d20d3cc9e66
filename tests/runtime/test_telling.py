"""What the coordinator and the workers are told, when, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_goal_runs_to_its_end(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("Now I wait."))
        a.model.says("n", publish("all of it"))

        await a.begin()
        await a.until(lambda: a.state("n") == "completed")
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, call("finish", summary="Done."))
        await a.until(lambda: a.desk.run and not a.desk.run.state.open)

        assert (
            "[node n completed, worker worker-1, 1 turn, $0.00] all of it" in a.told()
        )
        assert "Done." in a.text("_output.md")
