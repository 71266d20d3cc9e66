"""What the coordinator and the workers are told, when, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

LOOK = call("list_files", path="scratch")


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


async def test_a_new_run_is_told_before_anything_is_asked_of_the_coordinator(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        finish = call("finish", summary="Done.")
        a.model.says(COORDINATOR, finish, say("You are welcome."), finish)
        await a.begin()
        await a.until(lambda: a.desk.run and not a.desk.run.state.open)
        a.write("_inbox.md", "Thank you.\n")
        await a.look()
        await a.until((a.home / "_outbox.md").is_file)

        a.goal("The goal.", run=2)
        await a.look()
        await a.until(lambda: len(list((a.home / "runs").iterdir())) == 2)
        await a.until(lambda: a.desk.run and not a.desk.run.state.open)

        assert "Nothing can go on" not in a.told()


async def test_a_result_tells_what_its_own_run_spent(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        finish = call("finish", summary="Done.")
        a.model.says(COORDINATOR, finish, say("Look."), LOOK, finish)
        await a.begin()
        await a.until(lambda: a.desk.run and not a.desk.run.state.open)
        assert "Spent: 1 turn, 15 tokens" in a.text("_output.md")

        a.goal("Another goal.")
        await a.look()
        await a.until(lambda: len(list((a.home / "runs").iterdir())) == 2)
        a.model.says(COORDINATOR, finish)
        await a.until((a.run / "_output.md").is_file)

        assert "Spent: 3 turns, 45 tokens" in a.text("_output.md")
