"""Questions to the person: whoever asked goes on with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside


def ask(**more: object) -> object:
    return call("ask_human", question="Which one?", **more)


async def answered(a: Inside, words: str) -> None:
    a.write("_inbox.md", f"q-001: {words}\n")
    await a.look()


async def test_an_answer_wakes_a_coordinator_that_waits_for_nodes(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), ask(), call("wait"))
        await a.begin()
        await a.asked("n")
        await a.until(lambda: "wait" in str(a.lines()[-1]))
        await answered(a, "PostgreSQL")
        await a.asked(COORDINATOR, 4)

        assert "[answer to q-001] PostgreSQL" in a.told()
        assert "mail came" in a.results("wait")[0]


async def test_an_answer_that_comes_after_the_run_has_ended_is_told(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, ask(), call("finish", summary="Done."))
        await a.begin()
        await a.until(lambda: a.desk.run and not a.desk.run.state.open)
        await a.until(lambda: a.supervising and a.supervising.done())
        await answered(a, "PostgreSQL")
        await a.asked(COORDINATOR, 3)

        assert a.told().count("[answer to q-001] PostgreSQL") == 1
        a.model.says(COORDINATOR, say("Thank you."))
        await a.until(lambda: a.supervising and a.supervising.done())
        assert a.model.asked(COORDINATOR) == 3


async def test_a_worker_that_went_on_hears_the_answer_later(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", ask())
        await a.begin()
        await a.until(lambda: a.state("n") == "waiting_for_human")
        await a.until(lambda: "worker.waiting" in a.events(worker="Alice"))
        a.write("_inbox.md", "@coordinator tell her to hurry\n")
        await a.look()
        await a.until(lambda: "tell her to hurry" in a.told())
        a.model.says(
            COORDINATOR, call("send_message", to="Alice", content="Hurry."), say("ok")
        )
        await a.asked("n", 2)
        assert a.results("ask_human", "Alice") == [
            "q-001 is still open; mail came, it follows."
        ]
        await answered(a, "PostgreSQL")
        a.model.says("n", call("check_board"))
        await a.asked("n", 3)

        assert a.told("Alice").count("[answer to q-001] PostgreSQL") == 1
        a.model.says("n", publish())
        await a.until(lambda: "[node n completed" in a.told())
        assert "PostgreSQL" not in a.told()


async def test_an_answer_to_a_worker_that_has_ended_goes_to_the_coordinator(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", ask(timeout=30))
        await a.begin()
        await a.until(lambda: a.state("n") == "waiting_for_human")
        await a.leap(31)
        await a.asked("n", 2)
        a.model.says("n", publish())
        await a.until(lambda: "[node n completed" in a.told())
        a.model.says(COORDINATOR, say("ok"))
        await answered(a, "PostgreSQL")

        await a.until(lambda: "[answer to q-001] PostgreSQL" in a.told())


async def test_while_all_is_paused_no_time_runs_out(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), call("wait", timeout=60))
        a.model.says("n", ask(timeout=60))
        await a.begin()
        await a.until(lambda: a.state("n") == "waiting_for_human")
        await a.until(lambda: a.events("tool.").count("tool.called") == 3)
        a.write("PAUSE", "")
        await a.look()
        await a.leap(300)
        await a.stays(lambda: a.state("n") == "waiting_for_human")
        (a.home / "PAUSE").unlink()
        await a.look()
        await a.stays(lambda: a.state("n") == "waiting_for_human")
        assert a.results("wait") == []

        await a.leap(61)
        await a.asked("n", 2)
        await a.asked(COORDINATOR, 3)


async def test_a_question_answered_a_day_ago_is_put_away(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, ask(), say("I wait."))
        await a.begin()
        await a.until(lambda: bool(a.desk.questions))
        await answered(a, "PostgreSQL")
        await a.asked(COORDINATOR, 3)
        await a.look()
        questions = a.home / "_questions"
        assert (questions / "q-001.md").exists()

        await a.leap(25 * 3600)
        await a.look()

        assert not (questions / "q-001.md").exists()
        assert (questions / "closed" / "q-001.md").exists()


async def test_two_who_ask_at_the_same_moment_get_a_question_each(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("m"), node("n"), say("ok"))
        a.model.says("m", ask())
        a.model.says("n", ask())
        await a.begin()
        await a.until(lambda: len(a.desk.questions) == 2)

        assert sorted(a.desk.questions) == [1, 2]
        assert {q.node for q in a.desk.questions.values()} == {"m", "n"}
