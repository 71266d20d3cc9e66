"""How runs end, what goes on after them, and what a fault may not take along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

DONE = call("finish", summary="Done.")


async def ended(a: Inside) -> None:
    await a.until(lambda: a.desk.run and not a.desk.run.state.open)


async def test_a_run_that_opens_finds_nobody_at_work_on_the_one_before(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", publish())
        await a.begin("First.", reflection=True)
        await a.asked("n looks back")
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, DONE)
        await ended(a)
        a.goal("Second.", reflection=True)
        await a.look()
        await a.until(lambda: a.desk.run_open)
        await a.asked(COORDINATOR, 4)
        a.model.says("n looks back", say("I learned a thing."))
        await a.stays(lambda: not a.bugs)

        assert not (a.run / "workers").exists() or not list(
            (a.run / "workers").iterdir()
        )


async def test_no_worker_looks_back_while_all_is_paused(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin(reflection=True)
        await a.asked("n")
        a.write("PAUSE", "")
        await a.look()
        a.model.says("n", publish())  # what is in flight ends and is recorded
        await a.stays(lambda: a.state("n") == "running")
        (a.home / "PAUSE").unlink()
        await a.look()
        await a.asked("n looks back")
        a.model.says("n looks back", say("Paris is large."))
        memory = a.run / "workers/Alice/memory.md"
        await a.until(lambda: memory.exists() and "Paris" in memory.read_text())


async def test_reflection_can_be_switched_off(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", publish("all"))
        await a.begin(reflection=False)
        history = a.run / "workers/Alice/history.json"
        await a.until(history.exists)

        assert a.model.asked("n looks back") == 0
        assert '"summary": "all"' in history.read_text()


async def test_the_first_node_after_a_runs_end_opens_a_run_that_has_a_place(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, DONE)
        await a.begin()
        await ended(a)
        first = a.run.name
        a.write("_inbox.md", "What did you find?\n")
        await a.look()
        a.model.says(COORDINATOR, say("Nothing."))
        outbox = a.home / "_outbox.md"
        await a.until(lambda: outbox.exists() and "Nothing." in outbox.read_text())
        assert a.run.name == first
        a.write("_inbox.md", "What did you find?\n---\nLook again.\n")
        await a.look()
        a.model.says(COORDINATOR, node("n"), say("ok"))
        await a.asked("n")

        assert a.run.name != first
        assert a.told().count("# Run ") == 2
        await a.asked(COORDINATOR, 4)
        a.model.says("n", publish())
        await a.until(lambda: "[node n completed" in a.told())
        assert a.world.runs.holds("a")


async def test_a_stopped_agent_answers_once_its_stop_is_gone(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("ok"))
        await a.begin()
        await a.asked("n")
        a.write("STOP", "")
        await a.look()
        await ended(a)
        a.write("_inbox.md", "Are you there?\n")
        await a.look()
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        (a.home / "STOP").unlink()
        await a.look()

        await a.asked(COORDINATOR, 3)
        assert "Are you there?" in a.told()


async def test_finish_names_the_nodes_that_are_open(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, calls(node("n", hold=True), DONE))
        await a.begin()
        await a.asked(COORDINATOR, 2)

        assert "nodes are still open: n (pending)" in a.results("finish")[0]
