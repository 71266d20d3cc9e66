"""Steering: a person's word goes ahead, changed tasks are told, results are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

LOOK = call("list_files", path="scratch")
WRITE = call("write_file", path="scratch/late.md", content="late\n")
PUT_OFF = "put off by the person"


async def test_an_urgent_word_goes_before_the_calls_that_were_just_asked_for(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)  # the model thinks meanwhile
        a.write("_inbox/1.md", "Take your time.\n")
        await a.look()
        a.write("_inbox/2.md", "! Stop that.\n")
        await a.look()
        a.model.says(COORDINATOR, calls(WRITE, LOOK))
        await a.asked(COORDINATOR, 2)

        assert a.results("write_file")[0].startswith(PUT_OFF)
        assert a.results("list_files")[0].startswith(PUT_OFF)
        assert not (a.run / "scratch/late.md").exists()
        told = a.told()
        assert told.index("Stop that.") < told.index("Take your time.")
        assert a.events("human.") == ["human.nudge"]


async def test_an_urgent_word_to_a_worker_puts_off_its_calls_alone(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("I wait."))
        a.model.says(COORDINATOR, say("Noted."))
        await a.begin()
        await a.asked("n")
        a.write("_inbox/1.md", "!@Ada Use SQLite.\n")
        await a.look()
        a.model.says("n", WRITE)
        await a.asked("n", 2)

        assert a.results("write_file", "Ada")[0].startswith(PUT_OFF)
        assert "Use SQLite." in a.told("Ada")
        assert "Use SQLite." not in a.told()
        assert a.events("human.") == ["human.nudge"]


async def test_an_ordinary_word_waits_for_the_results(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("_inbox/1.md", "By the way.\n")
        await a.look()
        a.model.says(COORDINATOR, WRITE)
        await a.asked(COORDINATOR, 2)

        assert not a.results("write_file")[0].startswith(PUT_OFF)
        assert "By the way." in a.told()


async def test_a_changed_spec_is_told_as_a_diff_before_the_calls_left(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("I wait."))
        await a.begin()
        await a.asked("n")
        spec = a.run / "nodes/n/_spec.md"
        spec.write_text(spec.read_text().replace("Do n.", "Do n in green."))
        await a.look()
        a.model.says("n", WRITE)
        await a.asked("n", 2)

        assert a.results("write_file", "Ada")[0].startswith(PUT_OFF)
        assert "-Do n.\n+Do n in green." in a.told("Ada")


async def test_a_node_that_runs_again_and_again_overwrites_nothing(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        after = node("after", depends_on=["n"], refs={"n": "n/published/a.md"})
        a.model.says(COORDINATOR, calls(node("n"), after), say("I wait."))
        a.model.says("n", publish("one"))
        a.model.says("after", publish("after one"))
        await a.begin()
        await a.until(lambda: a.state("after") == "completed")
        for number, text in enumerate(("two", "three"), 1):
            a.model.says("n", publish(text))
            a.write(f"runs/{a.run.name}/nodes/n/RERUN", "")
            await a.look()
            kept = a.run / f"nodes/n/published.{number}"
            await a.until(kept.is_dir)
            await a.until(lambda: a.state("n") == "completed")

        assert a.text("nodes/n/published/a.md") == "three\n"
        assert a.text("nodes/n/published.1/a.md") == "one\n"
        assert a.text("nodes/n/published.2/a.md") == "two\n"
        assert a.state("after") == "stale"
        assert a.text("nodes/after/published/a.md") == "after one\n"
