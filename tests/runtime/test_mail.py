"""Messages between loops and people: who reads them, once, over restarts too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say
from tests.support.scripts import until_there

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Said


def to(name: str, words: str, **more: object) -> Said:
    return call("send_message", to=name, content=words, **more)


def mine(name: str, worker: str, **more: object) -> Said:
    return node(name, worker=worker, **more)


async def test_the_coordinator_does_not_get_its_own_message_back(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, call("spawn_worker", name="Alice"))
        a.model.says(COORDINATOR, to("Alice", "Use the new list."), say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 4)

        assert "[message from coordinator]" not in a.told()

        a.model.says(COORDINATOR, mine("n", "Alice"), say("ok"))
        await a.asked("n")
        assert "Use the new list." in a.told("Alice")


async def test_what_a_worker_has_read_is_not_read_again_by_anyone_after_a_restart(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, mine("n", "Alice"))
        await a.begin()
        await a.asked("n")  # she is at work: the message is hers to read
        a.model.says(COORDINATOR, to("Alice", "psst"), say("ok"))
        await a.asked(COORDINATOR, 3)
        a.model.says("n", call("check_board"))
        await a.until(lambda: "psst" in a.model.heard("n"))
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")
        await a.until(lambda: "[node n completed" in a.told())
        await a.asked(COORDINATOR, 4)

        await a.restart()
        await a.asked(COORDINATOR, 5)

        assert "psst" not in a.told()


async def test_mail_that_was_looked_up_is_not_told_again_after_a_restart(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("_inbox.md", "Good morning.\n")
        await a.look()
        a.model.says(COORDINATOR, call("check_messages"))
        await a.asked(COORDINATOR, 2)
        assert a.told().count("Good morning.") == 1

        await a.restart()
        a.model.says(COORDINATOR, call("check_board"))
        await a.asked(COORDINATOR, 4)

        assert a.told().count("Good morning.") == 1
        assert len(list((a.run / "_messages").iterdir())) == 1


async def test_what_is_said_to_everyone_is_first_in_an_idle_workers_next_brief(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, call("spawn_worker", name="Alice"))
        a.model.says(COORDINATOR, to("*", "All prices are in euros."), say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 4)
        await a.restart()

        a.model.says(COORDINATOR, mine("n", "Alice"), say("ok"))
        await a.asked("n")

        assert a.told("Alice").count("All prices are in euros.") == 1


async def test_what_an_ended_worker_had_not_read_of_a_word_to_all_is_told_once(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, mine("n", "Alice"), mine("m", "Bob"), say("ok"))
        await a.begin()
        await a.asked("n")
        await a.asked("m")
        a.model.says("m", to("*", "Lunch!"))
        await a.until(lambda: "Lunch!" in a.told())
        a.model.says(COORDINATOR, say("ok"))
        a.model.says("n", publish())
        await a.until(lambda: "[node n completed" in a.told())

        assert a.told().count("Lunch!") == 1


async def test_a_person_is_told_that_a_worker_has_no_running_node(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, call("spawn_worker", name="Alice"), say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 3)
        a.write("_inbox.md", "@alice hello\n")
        await a.look()

        outbox = a.outbox()
        assert "Alice has no running node; the coordinator has your message" in outbox


async def test_a_conflict_copy_is_not_read_and_is_told_of_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        copies = ["_inbox.sync-conflict-20261121-201403-AB.md"]
        copies += ["GOAL (Ann's conflicted copy 2026-11-21).md"]
        for name in copies:
            a.write(name, "Other words.\n")
        await a.look()
        await a.look()

        for name in copies:
            assert len([said for said in a.remarks if name in said]) == 1
            assert (a.home / name).read_text() == "Other words.\n"
        a.model.says(COORDINATOR, call("check_messages"))
        await a.asked(COORDINATOR, 2)
        assert "Other words." not in a.told()


async def test_a_worker_may_write_coordinator_as_it_likes(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, mine("n", "Alice"), say("ok"))
        a.model.says("n", to("Coordinator", "It is done."))
        await a.begin()
        await a.asked("n", 2)

        assert a.results("send_message", "Alice") == ["sent."]


async def test_what_a_person_writes_to_human_the_coordinator_has(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("_inbox.md", "@human hello there\n")
        await a.look()
        a.model.says(COORDINATOR, call("check_board"))
        await a.asked(COORDINATOR, 2)

        assert "hello there" in a.told()


async def test_a_workers_own_inbox_waits_while_an_editor_has_it_open(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, mine("n", "Alice"), say("ok"))
        await a.begin()
        await a.asked("n")
        folder = f"runs/{a.run.name}/workers/Alice"
        a.in_step()
        a.write(f"{folder}/.#_inbox.md", "emacs\n")
        a.write(f"{folder}/_inbox.md", "Look at the se\n")
        await a.agent.look()
        a.clock.ahead += 4.0
        await a.agent.look()
        assert not a.desk.mail.has("Alice")
        a.clock.ahead += 1.1
        await a.agent.look()

        assert a.desk.mail.has("Alice")


async def test_a_message_too_long_for_a_model_is_shown_in_part_and_kept_whole(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("_inbox/long.md", "word " * 70_000 + "the end\n")
        await a.look()
        a.model.says(COORDINATOR, call("check_board"))
        await a.asked(COORDINATOR, 2)

        told = a.told()
        assert len(told) < 60_000
        (kept,) = (a.run / "_messages").iterdir()
        assert f"run/_messages/{kept.name}" in told
        assert "the end" in kept.read_text()


async def test_an_answer_to_mail_that_was_looked_up_reaches_the_person(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("_inbox.md", "How far are you?\n")
        await a.look()
        a.model.says(COORDINATOR, call("check_messages"), say("Half way."))
        await a.asked(COORDINATOR, 3)

        assert "Half way." in a.outbox()


async def test_urgent_mail_puts_the_next_calls_off(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        gate = until_there("go")
        first = call("bash", command=gate)
        a.model.says(COORDINATOR, calls(first, call("check_board")))
        await a.begin()
        await a.until(lambda: "tool.called" in a.events("tool."))
        a.write("_inbox.md", "! Stop that.\n")
        await a.look()
        a.write("inputs/go", "")
        await a.asked(COORDINATOR, 2)

        assert a.results("check_board")[0].startswith("put off by the person")
        assert "[urgent message from human]\nStop that." in a.told()
        assert "human.nudge" in a.events()
