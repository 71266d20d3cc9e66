"""A worker that goes in circles waits for a word, and goes on with all that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

ROUND = [call("read_file", path="scratch/a.md")] * 3  # it is not there, three times
WHY = "I go in circles in node n: the same call failed the same way 3 times"


async def circling(a: Inside, **settings: object) -> None:
    """Alice goes in circles in the node `n`, and waits."""
    a.model.says(COORDINATOR, node("n", worker="Alice"), call("wait"))
    a.model.says("n", *ROUND)
    await a.begin(**settings)
    await a.until(lambda: a.state("n") == "waiting_for_human")
    await a.asked(COORDINATOR, 3)


async def test_it_asks_the_person_and_tells_the_coordinator(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await circling(a)

        question = (a.home / "_questions/q-001.md").read_text("utf-8")
        assert WHY in question
        assert "nodes/n/log.jsonl" in question
        assert WHY in a.outbox()
        assert WHY in a.told()
        assert "cancel_node ends it" in a.told()
        await a.stays(lambda: a.model.asked("n") == 3)


async def test_an_answer_lets_it_go_on_where_it_was(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await circling(a)
        a.model.says("n", publish())
        a.write("_inbox.md", "q-001: make it yourself\n")
        await a.look()
        await a.until(lambda: a.state("n") == "completed")

        told = a.told("Alice")
        assert "You are going in a circle" in told
        assert "[answer to q-001] make it yourself" in told
        assert told.count("not there") == 3  # all that it had is still before it
        assert "node.failed" not in a.events()


async def test_a_message_of_the_coordinator_does_and_the_question_is_closed(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await circling(a)
        a.model.says(COORDINATOR, call("send_message", to="Alice", content="Make it."))
        await a.asked("n", 4)

        assert "Make it." in a.told("Alice")
        assert not a.desk.questions
        assert "Alice goes on" in a.outbox()


async def test_a_node_that_is_cancelled_asks_no_longer(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await circling(a)
        a.model.says(COORDINATOR, call("cancel_node", node_id="n", reason="no use"))
        await a.until(lambda: a.state("n") == "cancelled")
        said = a.home / "_outbox.md"
        await a.until(lambda: "node n has ended" in said.read_text("utf-8"))

        assert not a.desk.questions


async def test_after_a_restart_it_still_waits_and_nobody_is_told_twice(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await circling(a)
        await a.restart()
        await a.stays(lambda: a.model.asked("n") == 3)
        await a.until(lambda: a.state("n") == "waiting_for_human")
        a.model.says("n", publish())
        a.write("_inbox.md", "q-001: make it yourself\n")
        await a.look()
        await a.until(lambda: a.state("n") == "completed")

        assert a.told().count(WHY) == 1
        assert a.told("Alice").count("make it yourself") == 1
        assert not (a.home / "_questions/q-002.md").exists()


async def test_one_that_circles_again_asks_again(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await circling(a)
        a.model.says("n", *ROUND)
        a.write("_inbox.md", "q-001: look again\n")
        await a.look()
        await a.until(lambda: a.state("n") == "waiting_for_human")

        assert (a.home / "_questions/q-002.md").exists()


async def test_without_a_turn_left_it_fails_as_stuck(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", max_turns=3), say("I wait."))
        a.model.says("n", *ROUND)
        await a.begin()
        await a.until(lambda: a.state("n") == "failed")

        error = a.desk.nodes["n"].status.error
        assert error == "stuck: the same call failed the same way 3 times"
        assert not a.desk.questions
