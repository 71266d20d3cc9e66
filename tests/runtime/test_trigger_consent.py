"""Triggers under `bash: ask` and `schedule: ask`: nothing is done before a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.runtime.test_approvals import asks, fill_in, question
from tests.runtime.test_triggers import arm, at_rest, finished, later, told
from tests.support.inside import call, inside, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

ASK = {"bash": "ask"}
ONCE = (
    "{id: c, type: delayed, delay: 1h, "
    "action: {type: run_command, command: 'echo x >> marks'}}"
)
BEAT = (
    "{id: b, type: heartbeat, every: 1h, probe: 'cat ../probed', "
    "action: {type: wake_agent, task: T}}"
)


def marks(a: Inside) -> int:
    path = a.run / "scratch" / "marks"
    return path.read_text().count("x") if path.exists() else 0


async def a_command_waits(a: Inside) -> None:
    await finished(a, ONCE, permissions=ASK)
    await later(a, 3600)
    a.go()
    await asks(a, 1)
    assert "echo x >> marks" in question(a)
    assert "kind: approval" in question(a)
    assert (marks(a), told(a, "c")) == (0, [])


async def test_a_command_is_run_once_after_the_yes(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_command_waits(a)
        await later(a, 7200)
        assert marks(a) == 0
        await fill_in(a, "yes")
        await a.until(lambda: told(a, "c") == ["fired"])
        await a.restart()
        await later(a, 3600)
        assert (marks(a), told(a, "c")) == (1, ["fired"])


async def test_a_command_that_is_refused_is_skipped_and_says_so(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_command_waits(a)
        await fill_in(a, "no")
        await a.until(lambda: told(a, "c") != [])
        assert told(a, "c") == ["skipped refused by the person (q-001)"]
        assert marks(a) == 0


async def test_a_restart_asks_no_second_time_and_forgets_no_answer(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_command_waits(a)
        await a.restart()
        await a.stays(lambda: not (a.home / "_questions/q-002.md").exists())
        await fill_in(a, "yes")
        await a.until(lambda: told(a, "c") == ["fired"])
        assert marks(a) == 1


async def test_an_entry_that_is_taken_away_is_not_asked_for_any_longer(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_command_waits(a)
        arm(a)
        await a.look()
        await a.until(lambda: told(a, "c") != [])
        assert told(a, "c") == ["skipped it was taken away, or changed"]
        assert 1 not in a.desk.questions
        assert marks(a) == 0


async def test_a_probe_waits_for_a_yes_and_an_always_covers_every_beat(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        (tmp_path / "probed").write_text("1")
        await finished(a, BEAT, permissions=ASK)
        await later(a, 3600)
        a.go()
        await asks(a, 1)
        assert "cat ../probed" in question(a)
        assert told(a, "b") == []
        # The answer is something that a person did: the beat may wake for it.
        a.model.says(COORDINATOR, say("Seen."), say("Seen."))
        await fill_in(a, "always")
        await a.until(lambda: told(a, "b") != [])
        await at_rest(a)
        await a.until(lambda: not a.agent.triggers.errands())
        await at_rest(a)
        asked = a.model.asked(COORDINATOR)
        (tmp_path / "probed").write_text("2")
        before = len(told(a, "b"))
        await later(a, 3600)
        a.go()
        await a.asked(COORDINATOR, asked + 1)
        await a.until(lambda: told(a, "b")[before:] == ["fired"])
        assert not (a.home / "_questions/q-002.md").exists()


async def test_scheduling_under_ask_writes_the_entry_after_the_yes(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        made = call(
            "schedule",
            type="delayed",
            config={"id": "new", "delay_seconds": 3600},
            action="Look at it.",
        )
        a.model.says(COORDINATOR, made, say("Done."))
        await a.begin(permissions={"schedule": "ask"})
        await asks(a, 1)
        assert "Look at it." in question(a)
        assert not (a.home / "triggers.yaml").exists()
        await fill_in(a, "yes")
        await a.until((a.home / "triggers.yaml").exists)
        await a.asked(COORDINATOR, 2)
        assert "scheduled as new" in a.results("schedule")[0]
