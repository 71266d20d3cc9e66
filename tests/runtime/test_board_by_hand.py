"""What people do to the board by hand: specs, identities, STOP and RERUN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside


async def failed(a: Inside) -> Path:
    """A node that the coordinator made has used up its turns; its spec."""
    a.model.says(COORDINATOR, node("n", worker="Alice", max_turns=2), say("ok"))
    a.model.says("n", call("check_board"), call("check_board"))
    await a.begin()
    await a.until(lambda: a.state("n") == "failed")
    return a.run / "nodes/n/_spec.md"


async def test_a_failed_node_whose_turns_are_raised_goes_on(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        spec = await failed(a)
        spec.write_text(spec.read_text().replace("max_turns: 2", "max_turns: 9"))
        await a.look()
        await a.asked("n", 3)

        assert a.state("n") == "running"


async def test_a_spec_changed_while_no_daemon_ran_counts_as_changed(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        spec = await failed(a)
        await a.end()
        spec.write_text(f"{spec.read_text()}\nBe short.\n")
        await a.restart()
        await a.asked("n", 3)

        assert "Be short." in a.told("Alice")


async def test_a_bad_spec_takes_no_node_off_the_board_over_a_restart(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin()
        await a.asked("n")
        spec = a.run / "nodes/n/_spec.md"
        spec.write_text("---\nmax_turns: many\n---\nDo n.\n")
        await a.look()
        await a.restart()

        assert a.state("n") == "running"
        page = spec.with_name("_spec.md.error.md").read_text()
        assert "the last good version" in page


async def test_a_bad_identity_dismisses_no_worker_over_a_restart(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, call("spawn_worker", name="Alice", role="scout"))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        (a.run / "workers/Alice/identity.md").write_text("---\ntype: robot\n---\n")
        await a.look()
        await a.restart()

        alice = a.desk.find_staff("Alice")
        assert alice is not None
        assert alice.identity.role == "scout"


async def test_a_dependency_that_does_not_exist_is_an_error_in_the_nodes_status(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", depends_on=["ghost"]), say("ok"))
        await a.begin()
        page = a.home / "runs"
        await a.until(
            lambda: any(
                "'ghost', which does not exist" in each.read_text()
                for each in page.glob("*/nodes/n/_status.md")
            )
        )
        a.model.says(COORDINATOR, node("ghost", hold=True), say("ok"))
        await a.until(lambda: "ghost" in a.desk.nodes)

        await a.until(lambda: "error:" not in a.text("nodes/n/_status.md"))


async def test_stop_cancels_a_checkpointed_node_and_its_going_frees_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", call("checkpoint", summary="So far."))
        await a.begin()
        await a.until(lambda: a.state("n") == "checkpointed")
        stop = a.run / "nodes/n/STOP"
        stop.touch()
        await a.look()
        assert a.state("n") == "cancelled"
        stop.unlink()
        await a.look()
        await a.asked("n", 2)

        assert a.state("n") == "running"


async def test_rerun_runs_a_node_that_was_on_hold_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", hold=True), say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        rerun = a.run / "nodes/n/RERUN"
        rerun.touch()
        await a.look()
        assert not rerun.exists()
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")

        assert a.model.asked("n") == 1
