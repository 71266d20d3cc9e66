"""Who works on what, and how an assignment goes on, anew or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from tests.support.inside import Said


def assign(name: str, worker: str) -> Said:
    return call("assign_worker", node_id=name, worker_id=worker)


async def test_a_held_node_that_is_given_to_another_is_taken_from_the_first(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        poor = node("n", worker="Alice")
        a.model.says(COORDINATOR, poor, say("ok"))
        await a.begin()
        await a.asked("n")
        spec = (a.run / "nodes/n/_spec.md").read_text()
        head = spec.replace("---\n", "---\nbudget: {tokens: 1}\n", 1)
        a.write(f"runs/{a.run.name}/nodes/n/_spec.md", head)
        await a.look()
        a.model.says("n", call("check_board"))
        await a.until(lambda: a.state("n") == "held")

        a.write("_inbox.md", "Give it to Bob.\n")
        await a.look()
        a.model.says(COORDINATOR, assign("n", "Bob"), say("ok"))
        a.write(f"runs/{a.run.name}/nodes/n/_spec.md", spec)
        await a.until(lambda: a.results("assign_worker"))
        await a.look()
        await a.asked("n", 2)

        assert a.desk.nodes["n"].status.worker == "Bob"
        assert a.desk.find_staff("Alice").node is None
        a.model.says("n", publish())
        await a.until(lambda: "[node n completed, worker Bob" in a.told())


async def test_cancelling_ends_the_children_and_their_commands(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("top", worker="Alice"), say("ok"))
        a.model.says("top", node("child", worker="Bob"), call("wait"))
        sleep = "trap '' TERM; echo $$ > pid; sleep 600"
        a.model.says("child", call("bash", command=sleep))
        await a.begin()
        pid = a.run / "nodes/child/scratch/pid"
        await a.until(lambda: pid.exists() and pid.read_text().strip())
        a.write("_inbox.md", "Stop it.\n")
        await a.look()
        a.model.says(
            COORDINATOR, call("cancel_node", node_id="top", reason="no need"), say("ok")
        )

        await a.until(lambda: a.state("child") == "cancelled")
        assert a.state("top") == "cancelled"
        process = int(pid.read_text())
        await a.until(lambda: not _lives(process))
        await a.until(lambda: all(s.node is None for s in a.desk.staff.values()))


def _lives(process: int) -> bool:
    return Path(f"/proc/{process}/stat").exists()


async def test_stop_in_a_nodes_folder_ends_its_children_too(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("top", worker="Alice"), say("ok"))
        a.model.says("top", node("child", worker="Bob"), call("wait"))
        await a.begin()
        await a.asked("child")
        stop = a.run / "nodes/top/STOP"
        stop.write_text("")
        await a.look()

        assert (a.state("top"), a.state("child")) == ("cancelled", "cancelled")
        stop.unlink()
        await a.look()
        assert a.state("child") == "cancelled"
        await a.asked("top", 3)


async def test_a_retired_worker_stops_when_its_node_has_ended(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin()
        await a.asked("n")
        a.write("_inbox.md", "Retire Alice.\n")
        await a.look()
        a.model.says(COORDINATOR, call("retire_worker", worker_id="Alice"), say("ok"))
        await a.asked(COORDINATOR, 4)
        assert "worker.stopped" not in a.events(worker="Alice")
        a.model.says("n", publish())
        await a.until(lambda: "worker.stopped" in a.events(worker="Alice"))

        assert "worker.idle" not in a.events(worker="Alice")


async def test_the_places_are_counted_by_worker_whatever_the_case_of_its_name(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        spec = node("n", worker={"name": "Alice", "role": "writer"}, hold=True)
        a.model.says(COORDINATOR, calls(spec, assign("n", "alice")), say("ok"))
        a.model.says("n", publish())
        await a.begin(max_workers=1)
        await a.until(lambda: a.state("n") == "completed")
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, node("m"), say("ok"))
        await a.asked("m")


async def test_what_depends_on_a_changed_node_is_said_to_be_stale(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        second = node("second", depends_on=["first"])
        a.model.says(COORDINATOR, node("first"), second, say("ok"))
        a.model.says("first", publish())
        a.model.says("second", publish())
        await a.begin()
        await a.until(lambda: a.state("second") == "completed")
        a.write(f"runs/{a.run.name}/nodes/first/_spec.md", "Do it otherwise.\n")
        await a.look()

        assert "node.stale" in a.events(node="first")
        assert "node.stale" in a.events(node="second")
