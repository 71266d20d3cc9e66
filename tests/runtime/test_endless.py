"""Agents that do not end: cycles, a run for each day, and what a restart leaves."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from agiraph.model.conversation import Stop
from agiraph.model.names import COORDINATOR
from agiraph.model.usage import Usage
from tests.support.inside import Said, call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

ENDLESS = {"mode": "infinite", "cycle": "1h"}


def cycle(number: int) -> Said:
    write = call("write_file", path="scratch/notes.md", content=f"{number}\n")
    return calls(write, call("checkpoint", summary=f"Cycle {number}."))


def runs(a: Inside) -> list[str]:
    return sorted(path.name for path in (a.home / "runs").iterdir())


async def next_cycle(a: Inside, number: int) -> None:
    """The cycle's pause is over; the next answer is the next cycle's."""
    asked = a.model.asked(COORDINATOR)
    a.model.says(COORDINATOR, cycle(number))
    await a.until(lambda: a.desk.next_cycle is not None)
    await a.leap(3600)
    await a.asked(COORDINATOR, asked + 1)
    await a.until(lambda: a.desk.next_cycle is not None)


def to_midnight(a: Inside) -> float:
    zone = a.clock.zone()
    now = a.clock.now().astimezone(zone)
    later = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0)
    return (later - now).total_seconds()


async def test_each_checkpoint_rewrites_the_result_and_a_day_has_its_run(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        if to_midnight(a) < 3 * 3600:
            a.clock.ahead += 4 * 3600
        a.model.says(COORDINATOR, cycle(1))
        await a.begin(**ENDLESS)
        await next_cycle(a, 2)
        assert "Cycle 2." in a.text("_output.md")
        assert "Cycle 1." not in a.text("_output.md")
        assert len(runs(a)) == 1
        a.clock.ahead += to_midnight(a)
        await next_cycle(a, 3)

        first, second = runs(a)
        assert first[:10] < second[:10]
        old = a.home / "runs" / first
        assert "Cycle 2." in (old / "_output.md").read_text("utf-8")
        assert "status: completed" in (old / "_run.yaml").read_text("utf-8")
        assert not (old / "scratch").exists()
        assert a.text("scratch/notes.md") == "3\n"
        assert "Cycle 3." in a.text("_output.md")
        await next_cycle(a, 4)
        assert len(runs(a)) == 2


async def test_a_run_with_an_open_node_goes_on_after_midnight(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), cycle(1))
        await a.begin(**ENDLESS, limits={"timeout": "100h"})
        await a.asked("n")
        a.clock.ahead += to_midnight(a)
        await next_cycle(a, 2)
        assert len(runs(a)) == 1
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")


async def test_a_week_or_a_month_may_be_a_run(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, cycle(1))
        await a.begin(**ENDLESS, run_per="month")
        if a.clock.now().day < 27:
            a.clock.ahead += 86400
            await next_cycle(a, 2)
            assert len(runs(a)) == 1
        a.clock.ahead += 32 * 86400
        await next_cycle(a, 3)
        assert len(runs(a)) == 2


async def test_after_a_restart_the_next_cycle_comes_and_not_the_last_again(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, cycle(1))
        await a.begin(**ENDLESS)
        await a.until(lambda: a.desk.next_cycle is not None)
        await a.restart()
        await a.stays(lambda: a.model.asked(COORDINATOR) == 1)
        await next_cycle(a, 2)
        assert a.model.asked(COORDINATOR) == 2


async def test_a_crash_between_two_days_loses_no_workbench(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        if to_midnight(a) < 3 * 3600:
            a.clock.ahead += 4 * 3600
        a.model.says(COORDINATOR, cycle(1))
        await a.begin(**ENDLESS)
        await a.until(lambda: a.desk.next_cycle is not None)
        await a.end()
        record = a.run / "_run.yaml"
        text = record.read_text("utf-8")
        reason = "reason: its time is over; the work goes on in the next run\n"
        record.write_text(text.replace("status: open", "status: completed") + reason)
        a.clock.ahead += to_midnight(a)
        await a.restart()
        await a.asked(COORDINATOR, 2)
        assert len(runs(a)) == 2
        assert a.text("scratch/notes.md") == "1\n"


async def test_stop_ends_it_cleanly_and_it_stays_so(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, cycle(1))
        await a.begin(**ENDLESS)
        await a.until(lambda: a.desk.next_cycle is not None)
        a.write("STOP", "")
        await a.look()
        assert a.desk.run is not None
        assert a.desk.run.state.value == "stopped"
        await a.leap(7200)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 1)
        assert "Cycle 1." in a.text("_output.md")
        a.write("_inbox.md", "Are you there?\n")
        (a.home / "STOP").unlink()
        await a.look()
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("Yes."))


# --- calls between two cycles


async def resting(a: Inside, **settings: object) -> float:
    """An agent after its first cycle, hours from midnight; when its next one is due."""
    if to_midnight(a) < 6 * 3600:
        a.clock.ahead += 7 * 3600
    a.model.says(COORDINATOR, cycle(1))
    await a.begin(**{**ENDLESS, **settings})
    return await ahead(a)


async def ahead(a: Inside) -> float:
    """It sleeps, and a cycle is ahead; when it is due."""
    await a.until(lambda: a.desk.next_cycle is not None and not a.desk.active)
    assert a.desk.next_cycle is not None
    return a.desk.next_cycle


async def greeted(a: Inside) -> None:
    """A person writes; the next answer is to them."""
    asked = a.model.asked(COORDINATOR)
    words = f"Hi, this is message {asked}, sent to you.\n"
    a.write(f"_inbox/{asked}.md", words)
    await a.look()
    await a.asked(COORDINATOR, asked + 1)
    assert words.strip() in a.model.heard(COORDINATOR)


async def chatted(a: Inside, words: str = "Hello.") -> None:
    """A person writes and is answered, with one call."""
    await greeted(a)
    a.model.says(COORDINATOR, say(words))
    await a.until(lambda: words in a.outbox())


async def waits_until(a: Inside, due: float) -> None:
    """It sleeps until a moment, asks nothing before it, and begins its cycle then."""
    asked = a.model.asked(COORDINATOR)
    await a.until(lambda: "the next cycle" in status(a))
    assert abs(await ahead(a) - due) < 5
    await a.stays(lambda: a.model.asked(COORDINATOR) == asked)
    a.clock.ahead += max(due - a.clock.monotonic() - 60, 0)
    await a.leap(0)
    await a.stays(lambda: a.model.asked(COORDINATOR) == asked, 0.2)
    await a.leap(70)
    await a.asked(COORDINATOR, asked + 1)
    a.model.says(COORDINATOR, cycle(7))
    await a.until(lambda: "Cycle 7." in a.text("_output.md"))
    assert begun(a) == 1
    assert await ahead(a) > due
    assert a.model.asked(COORDINATOR) == asked + 1
    assert not a.desk.questions


def outputs(a: Inside) -> list[str]:
    found = sorted(a.home.glob("runs/*/_output.md"))
    return [path.read_text("utf-8") for path in found]


def status(a: Inside) -> str:
    return (a.home / "_status.md").read_text("utf-8")


def begun(a: Inside) -> int:
    """How often it was told that a cycle begins."""
    return a.told().count("[a new cycle begins]")


async def test_a_message_between_two_cycles_is_answered_and_the_next_is_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await chatted(a)
        await chatted(a, "Hello again.")
        assert a.model.asked(COORDINATOR) == 3
        await waits_until(a, due)


async def test_the_wake_of_a_trigger_between_two_cycles_leaves_the_next_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write(
            "triggers.yaml",
            "- {id: look, type: delayed, delay: 10m, "
            "action: {type: wake_agent, task: Look at it.}}\n"
            "- {id: idle, type: on_idle, idle: 20m, "
            "action: {type: wake_agent, task: It is quiet.}}\n",
        )
        due = await resting(a)
        for asked, minutes, task in ((2, 10, "Look at it."), (3, 30, "It is quiet.")):
            a.clock.ahead += minutes * 60
            await a.look()
            await a.asked(COORDINATOR, asked)
            assert task in a.model.heard(COORDINATOR)
            a.model.says(COORDINATOR, say("Nothing to do."))
            await ahead(a)
        assert a.outbox() == ""
        await waits_until(a, due)


async def test_a_restart_after_a_chat_leaves_the_next_cycle_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await chatted(a)
        await ahead(a)
        await a.restart()
        await chatted(a, "Still here.")
        await a.restart()
        await a.stays(lambda: a.model.asked(COORDINATOR) == 3)
        await waits_until(a, due)


@pytest.mark.parametrize("tool", ["", "write_file"])
async def test_a_restart_in_the_middle_of_a_chat_leaves_the_next_cycle_on_time(
    tmp_path: Path, tool: str
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await greeted(a)
        if tool:
            a.model.says(COORDINATOR, call(tool, path="scratch/chat.md", content="x\n"))
            await a.asked(COORDINATOR, 3)
        asked = a.model.asked(COORDINATOR)
        await a.restart()
        await a.asked(COORDINATOR, asked + 1)
        a.model.says(COORDINATOR, say("Hello."))
        await a.until(lambda: "Hello." in a.outbox())
        await waits_until(a, due)


async def test_a_restart_after_a_chat_that_was_cut_down_leaves_the_cycle_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        small, a.model.usage = a.model.usage, Usage(input=a.model.window)
        due = await resting(a)
        a.model.usage = small
        a.write("_inbox.md", "Hi\n")
        await a.look()
        await a.asked(COORDINATOR, 2)  # for the summary
        a.model.says(COORDINATOR, say("## Goal\nIt.\n## Done\n- one cycle"))
        a.model.says(COORDINATOR, say("Hello."))
        await a.until(lambda: "Hello." in a.outbox())
        assert "memory.compacted" in a.events("memory.")
        await ahead(a)
        await a.restart()
        await waits_until(a, due)


async def test_a_chat_that_makes_a_node_leaves_the_next_cycle_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await greeted(a)
        a.model.says(COORDINATOR, node("n"), say("I am at it."))
        await a.asked("n")
        await a.until(lambda: "I am at it." in a.outbox())
        a.model.says("n", publish())
        await a.asked(COORDINATOR, 4)
        assert "[node n completed" in a.model.heard(COORDINATOR)
        a.model.says(COORDINATOR, say("It is done."))
        await waits_until(a, due)


async def test_who_waits_in_a_call_between_two_cycles_is_not_shown_as_idle(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await a.until(lambda: "status: idle" in status(a))
        await greeted(a)
        a.model.says(COORDINATOR, call("wait", timeout="10m"))
        await a.until(lambda: "status: working" in status(a) and not a.desk.active)
        await a.stays(lambda: "status: working" in status(a))
        await a.leap(600)
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, say("I have waited."))
        await waits_until(a, due)


async def test_a_cycle_that_falls_due_while_a_chat_is_answered_follows_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a)
        await greeted(a)
        await a.leap(3600)
        a.model.says(COORDINATOR, say("Hello."), cycle(2))
        await a.until(lambda: "Cycle 2." in a.text("_output.md"))
        assert "Hello." in a.outbox()
        assert (begun(a), a.model.asked(COORDINATOR)) == (1, 3)


async def test_work_for_a_person_that_ends_in_a_checkpoint_begins_the_pause_anew(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        a.clock.ahead += 1800
        await greeted(a)
        a.model.says(COORDINATOR, cycle(2))
        await a.until(lambda: "Cycle 2." in a.text("_output.md"))
        later = await ahead(a)
        assert later > due + 1700
        await waits_until(a, later)


async def test_a_changed_goal_between_two_cycles_leaves_the_next_on_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        a.goal("Another goal.", **ENDLESS)
        await a.look()
        await a.asked(COORDINATOR, 2)
        assert "Another goal." in a.model.heard(COORDINATOR)
        a.model.says(COORDINATOR, say("I have seen it."))
        await waits_until(a, due)


async def test_a_goal_that_is_made_finite_has_no_cycle_ahead(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await resting(a)
        a.goal("The goal.", mode="finite")
        await a.look()
        await greeted(a)
        a.model.says(COORDINATOR, say("Hello."), call("finish", summary="Done."))
        await a.until(lambda: a.desk.run is not None and not a.desk.run_open)
        assert a.desk.next_cycle is None
        assert "Nothing can go on" in a.told()


async def test_a_model_that_refuses_a_chat_still_has_its_next_cycle(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        due = await resting(a)
        await greeted(a)
        a.model.says(COORDINATOR, Said("No.", stop=Stop.REFUSAL))
        await a.until(lambda: a.desk.questions)
        assert await ahead(a) == due
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        await a.leap(3600)
        await a.asked(COORDINATOR, 3)
        assert begun(a) == 1


async def test_a_pause_during_a_chat_puts_the_cycle_off_and_does_not_end_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a)
        await chatted(a)
        a.write("PAUSE", "")
        await a.look()
        await a.leap(3600)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        (a.home / "PAUSE").unlink()
        await a.look()
        await a.asked(COORDINATOR, 3)
        assert begun(a) == 1


async def test_a_chat_after_midnight_opens_no_run_and_the_next_cycle_does(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a, cycle="30h")
        a.clock.ahead += to_midnight(a)
        await chatted(a)
        await ahead(a)
        assert len(runs(a)) == 1
        await a.leap(30 * 3600)
        await a.asked(COORDINATOR, 3)
        assert len(runs(a)) == 2


async def test_who_is_only_ever_called_has_a_run_for_each_day_too(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a, cycle="365d")
        for number in (2, 3):
            a.clock.ahead += to_midnight(a)
            await greeted(a)
            a.model.says(COORDINATOR, cycle(number))
            await a.until(lambda n=number: f"Cycle {n}." in (outputs(a) or [""])[-1])
            await ahead(a)
            assert len(runs(a)) == number
            assert a.text("scratch/notes.md") == f"{number}\n"
        due = await ahead(a)
        await a.restart()
        assert abs(await ahead(a) - due) < 5
        assert a.model.asked(COORDINATOR) == 3


@pytest.mark.parametrize("lost", [0, 1])
async def test_calls_behind_the_checkpoint_begin_no_cycle_after_a_restart(
    tmp_path: Path, lost: int
) -> None:
    async with inside(tmp_path) as a:
        more = call("list_files", path="inputs")
        a.model.says(COORDINATOR, calls(cycle(1), more))
        await a.begin(**ENDLESS)
        due = await ahead(a)
        await a.end()
        talk = a.home / "conversation.jsonl"
        lines = talk.read_text("utf-8").splitlines(keepends=True)
        assert json.loads(lines[-1])["name"] == "list_files"
        talk.write_text("".join(lines[: len(lines) - lost]), "utf-8")  # a crash
        await a.restart()
        await a.stays(lambda: a.model.asked(COORDINATOR) == 1)
        (result,) = a.results("list_files")
        assert "the work has ended" in result
        await waits_until(a, due)


async def test_a_cycle_that_had_begun_goes_on_after_a_restart_and_begins_once(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a)
        await a.leap(3600)
        await a.asked(COORDINATOR, 2)
        await a.restart()
        await a.asked(COORDINATOR, 3)
        assert (begun(a), a.desk.next_cycle) == (1, None)
        a.model.says(COORDINATOR, say("I have nothing to do."))
        await a.asked(COORDINATOR, 4)
        assert "Nothing can go on" in a.model.heard(COORDINATOR)


async def test_a_stopped_agent_that_is_spoken_to_has_no_cycle_ahead(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await resting(a)
        a.write("STOP", "")
        await a.look()
        (a.home / "STOP").unlink()
        await a.look()
        await chatted(a)
        assert a.desk.next_cycle is None
        await a.leap(7200)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        await a.restart()
        await a.leap(7200)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
