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


async def test_what_the_coordinator_says_to_an_answer_is_told_to_the_person(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, ask(), say("I wait for that."))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, call("check_board"), say("Then that it is."))
        await answered(a, "PostgreSQL")
        await a.until(lambda: "Then that it is." in a.outbox())

        assert "I wait for that." not in a.outbox()  # nobody had written


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


async def asked_by_alice(a: Inside, **more: object) -> None:
    a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
    a.model.says("n", ask(**more))
    await a.begin()
    await a.until(lambda: a.state("n") == "waiting_for_human")
    await a.until((a.home / "_questions/q-001.md").exists)


def page(a: Inside, name: str = "q-001.md") -> Path:
    return a.home / "_questions" / name


async def test_a_box_that_is_ticked_is_the_answer(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a, options=["PostgreSQL", "SQLite"])
        text = page(a).read_text()
        a.write("_questions/q-001.md", text.replace("[ ] SQLite", "[x] SQLite"))
        await a.look()
        await a.asked("n", 2)

        assert a.results("ask_human", "Alice") == ["the person answered: SQLite"]


async def looked(a: Inside, seconds: float) -> None:
    """Time passes, and then there is a look."""
    a.clock.ahead += seconds
    await a.agent.look()


async def test_an_answer_that_a_program_appends_counts_as_soon_as_it_is_whole(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        a.in_step()
        with (a.home / "_questions/q-001.md").open("a") as file:
            file.write("PostgreSQL\n")
        await looked(a, 0.0)
        assert a.desk.questions
        await looked(a, 0.3)

        assert not a.desk.questions


async def test_an_answer_without_its_last_newline_waits_for_a_minute(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        a.in_step()
        with (a.home / "_questions/q-001.md").open("a") as file:
            file.write("Postgre")
        await looked(a, 0.0)
        await looked(a, 50.0)
        assert a.desk.questions
        await looked(a, 10.1)

        assert not a.desk.questions


async def test_an_answer_waits_while_an_editor_has_its_file_open(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        a.in_step()
        path = a.home / "_questions/q-001.md"
        a.write("_questions/.q-001.md.swp", "vim\n")
        path.write_text(path.read_text().replace("answer:", "answer: yes #"))
        await looked(a, 0.0)
        await looked(a, 4.0)
        assert a.desk.questions
        await looked(a, 1.1)

        assert not a.desk.questions


async def test_a_question_whose_file_is_deleted_is_asked_again(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        await a.look()
        text = page(a).read_text()
        page(a).unlink()
        await a.look()

        assert page(a).read_text() == text
        assert "only an answer closes a question" in a.outbox()
        assert a.state("n") == "waiting_for_human"
        await a.end()
        page(a).unlink()
        await a.restart()
        assert page(a).read_text() == text


async def test_a_coordinators_question_survives_the_loss_of_its_file(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, ask(), say("I wait."))
        await a.begin()
        await a.until(page(a).exists)
        await a.asked(COORDINATOR, 2)
        await a.end()
        page(a).unlink()
        await a.restart()

        assert page(a).exists()
        await answered(a, "PostgreSQL")
        await a.asked(COORDINATOR, 3)
        assert "[answer to q-001] PostgreSQL" in a.told()


async def test_copies_and_other_names_answer_nothing_and_are_told_of(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        said = page(a).read_text().replace("answer:", "answer: SQLite #")
        copy = "q-001.sync-conflict-20261121-101010-ABCDEFG.md"
        a.write(f"_questions/{copy}", said)
        await a.look()

        error = page(a, f"{copy}.error.md")
        assert "Its answer 'SQLite' does not count" in error.read_text()
        assert a.state("n") == "waiting_for_human"
        page(a).rename(page(a, "done.md"))
        await a.look()
        assert page(a).exists()

        page(a, copy).unlink()
        await a.look()
        assert not error.exists()


async def test_an_answer_that_comes_too_late_does_not_count_and_it_is_said(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)
        await answered(a, "PostgreSQL")
        await a.asked("n", 2)
        a.write("_inbox.md", "q-001: PostgreSQL\n---\nq-001: no, SQLite\n")
        await a.look()
        assert "q-001 was answered already, with 'PostgreSQL'" in a.outbox()
        await a.until(lambda: a.model.asked(COORDINATOR) >= 3)
        assert "no, SQLite" in a.told()

        late = page(a).read_text().replace("answer:", "answer: SQLite #")
        a.write("_questions/q-001.md", late)
        await a.look()
        error = page(a, "q-001.md.error.md").read_text()
        assert "the first answer counts" in error
        assert a.results("ask_human", "Alice") == ["the person answered: PostgreSQL"]


async def test_several_questions_never_mix(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        names = ["m", "n", "o"]
        a.model.says(COORDINATOR, *(node(x, worker=x.upper()) for x in names), say("k"))
        for x in names:
            a.model.says(x, call("ask_human", question=f"Which {x}?"))
        await a.begin()
        await a.until(lambda: all(a.state(x) == "waiting_for_human" for x in names))
        await a.until(lambda: len(list((a.home / "_questions").iterdir())) == 3)
        number = {q.node: q.id for q in a.desk.questions.values()}
        a.write("_inbox.md", f"{number['o']}: third\n---\n@M first\n---\nhello\n")
        text = page(a, f"{number['n']}.md").read_text()
        a.write(f"_questions/{number['n']}.md", text + "second\n")
        await a.look()
        for x in names:
            await a.asked(x, 2)

        said = [a.results("ask_human", x.upper())[0] for x in names]
        assert said == [
            f"the person answered: {x}" for x in ("first", "second", "third")
        ]


async def test_reminders_slow_down_and_fill_no_outbox(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await asked_by_alice(a)

        def reminded() -> list[object]:
            asked = [e for e in a.said if e.type.value == "human.question"]
            return [e.data.get("reminder") for e in asked]

        assert reminded() == [None]
        for hours in (1, 1, 25, 24 * 3, 24 * 30):
            await a.leap(hours * 3600)
            await a.look()
        assert reminded() == [None, 1, 2, 3, 7]
        await a.restart()
        await a.look()
        assert reminded() == [None, 1, 2, 3, 7]
        assert a.outbox().count("q-001: …") == 1


async def test_a_run_that_ends_while_a_question_waits_does_not_go_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        long = call("ask_human", question="Which one?\n\n- this\n- or that\n")
        a.model.says(COORDINATOR, node("n"), long, call("wait"))
        await a.begin()
        await a.asked("n")
        a.model.says("n", publish())
        await a.asked(COORDINATOR, 4)
        await a.until(lambda: "agent.waiting" in a.events("agent."))
        listed = "- q-001: Which one? - this - or that\n"
        await a.until(lambda: listed in (a.home / "_status.md").read_text())

        a.model.says(COORDINATOR, call("finish", summary="Done."))
        await a.until(lambda: a.states and a.states[-1].value == "completed")
        events = a.events("agent.")
        assert "agent.resumed" not in events[events.index("agent.completed") :]
