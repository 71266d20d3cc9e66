"""Who waits for a place among the runs answers people meanwhile, and does no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.agent import TreeSettings
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, say

if TYPE_CHECKING:
    from pathlib import Path

WRITE = call("write_file", path="scratch/a.md", content="a\n")


async def test_a_queued_agent_answers_a_person_and_does_no_work(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.world.settings = TreeSettings(max_agents=1)
        assert a.world.runs.claim("another")
        await a.begin()
        await a.until(lambda: a.world.runs.waits("a"))
        await a.stays(lambda: a.model.asked(COORDINATOR) == 0)

        a.write("_inbox/1.md", "Are you there?\n")
        a.model.says(COORDINATOR, say("I wait for my turn."), calls(WRITE), say("ok"))
        await a.look()
        outbox = a.home / "_outbox.md"
        await a.until(lambda: outbox.exists() and "my turn" in outbox.read_text())
        await a.stays(lambda: a.model.asked(COORDINATOR) == 1)
        assert a.world.runs.waits("a")

        a.world.runs.leave("another")
        await a.until((a.run / "scratch/a.md").exists)
        assert a.world.runs.holds("a")


async def test_a_call_of_a_queued_agents_answer_waits_for_the_place(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.world.settings = TreeSettings(max_agents=1)
        assert a.world.runs.claim("another")
        await a.begin()
        await a.until(lambda: a.world.runs.waits("a"))
        a.write("_inbox/1.md", "Write it.\n")
        a.model.says(COORDINATOR, WRITE)
        await a.look()
        await a.asked(COORDINATOR)
        await a.stays(lambda: not (a.run / "scratch/a.md").exists())

        a.world.runs.leave("another")
        await a.until((a.run / "scratch/a.md").exists)
