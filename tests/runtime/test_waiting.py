"""Waiting: what ends it, what is gathered, and that it never lasts for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_wait_for_what_can_no_longer_happen_is_over(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        second = node("second", depends_on=["first"])
        a.model.says(COORDINATOR, node("first", max_turns=2), second, call("wait"))
        a.model.says("first", say("hm"), say("hm"))
        await a.begin()
        await a.until(lambda: a.state("first") == "failed")
        await a.asked(COORDINATOR, 4)

        told = a.results("wait")[0]
        assert "[node first failed" in a.told()
        assert "[node second is pending] waits for first, which is failed" in told


async def test_a_worker_that_waits_for_a_child_that_cannot_start_goes_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("top", worker="Alice"), say("ok"))
        ghost = node("child", depends_on=["nobody"])
        a.model.says("top", ghost, call("wait"))
        await a.begin()
        await a.asked("top", 3)

        assert "nobody" in a.results("wait", "Alice")[0]


async def test_ends_that_come_together_are_told_together(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        pair = call("wait", nodes=["one"])
        a.model.says(COORDINATOR, calls(node("one"), node("two")), pair)
        await a.begin()
        await a.asked("one")
        await a.asked("two")
        await a.asked(COORDINATOR, 2)
        a.model.says("one", publish())
        a.model.says("two", publish())
        await a.asked(COORDINATOR, 3)

        assert "[node one completed" in a.model.heard(COORDINATOR)
        assert "[node two completed" in a.model.heard(COORDINATOR)


async def test_a_coordinator_waits_for_its_own_nodes_not_for_their_children(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("top", worker="Alice"), say("ok"))
        a.model.says("top", node("child", worker="Bob"), call("wait"))
        await a.begin()
        await a.asked("child")
        a.write("_inbox.md", "How is it going?\n")
        await a.look()
        a.model.says(COORDINATOR, call("wait"))
        await a.until(lambda: a.events("tool.").count("tool.called") == 4)
        a.model.says("child", publish())
        await a.asked("top", 3)
        await a.stays(lambda: a.results("wait") == [])
        a.model.says("top", publish())
        await a.asked(COORDINATOR, 4)

        assert "child" not in a.results("wait")[0]


async def test_a_goal_that_is_changed_and_changed_back_is_told_both_times(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("ok"))
        await a.begin("First.")
        await a.asked("n")
        await a.until(lambda: a.model.asked(COORDINATOR) == 2)
        a.goal("Second.")
        await a.look()
        await a.until(lambda: "+Second." in a.told())
        a.model.says(COORDINATOR, say("ok"))
        a.goal("First.")
        await a.look()
        await a.until(lambda: "-Second.\n+First." in a.told())
        a.model.says(COORDINATOR, call("wait"))
        await a.stays(lambda: a.results("wait") == [])


async def test_a_coordinator_does_not_park_for_a_node_whose_worker_is_retired(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(
            COORDINATOR,
            call("spawn_worker", name="Alice"),
            node("n", hold=True),
            calls(
                call("assign_worker", node_id="n", worker_id="Alice"),
                call("retire_worker", worker_id="Alice"),
            ),
            say("I rest."),
        )
        a.model.says("n", publish())
        await a.begin(max_workers=1)
        await a.asked(COORDINATOR, 5)


async def test_three_reminders_then_a_question(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", hold=True), *[say("I rest.")] * 4)
        await a.begin()
        await a.until(lambda: list(a.desk.questions) == [1])
        file = a.home / "_questions/q-001.md"
        await a.until(file.exists)

        assert a.told().count("Nothing can go on") == 3
        assert "- n: it is on hold" in a.told()
        question = file.read_text()
        assert "nothing can go on" in question
        assert "- n: it is on hold" in question

        a.write("_inbox.md", "q-001: cancel it\n")
        await a.look()
        await a.asked(COORDINATOR, 6)
        assert "going in a circle" not in a.told()
