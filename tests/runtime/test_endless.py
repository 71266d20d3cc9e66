"""Agents that do not end: cycles, a run for each day, and what a restart leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside, Said

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
