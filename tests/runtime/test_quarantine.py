"""Steps that crash again and again, and records that cannot be read back."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agiraph.model.agent import AgentState
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from agiraph.model.conversation import Answer, Request
    from tests.support.inside import Inside


def fails(a: Inside, who: str, times: int) -> None:
    """A bug of ours comes up at each of the next calls of a model."""
    real, left = a.model.ask, [times]

    async def ask(request: Request) -> Answer:
        if (request.prefix.node or COORDINATOR) == who and left[0]:
            left[0] -= 1
            raise ZeroDivisionError("nobody thought of this")
        return await real(request)

    a.model.ask = ask  # type: ignore[method-assign]  # a provider with a bug


@asynccontextmanager
async def begun(tmp_path: Path, who: str, times: int) -> AsyncIterator[Inside]:
    """An agent one of whose models fails so often."""
    async with inside(tmp_path) as a:
        fails(a, who, times)
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        a.model.says("n", publish())
        await a.begin()
        yield a
        a.bugs.clear()  # they were meant


def journal(a: Inside, kind: str) -> list[dict[str, Any]]:
    text = (a.home / "_state/journal.jsonl").read_text("utf-8")
    return [e for e in map(json.loads, text.splitlines()) if e["kind"] == kind]


def touch(a: Inside) -> None:
    os.utime(a.home / "GOAL.md")


async def test_a_bug_that_passes_is_got_over(tmp_path: Path) -> None:
    async with begun(tmp_path, COORDINATOR, 2) as a:
        await a.until(lambda: a.state("n") == "completed")
        assert len(a.bugs) == 2
        assert len(journal(a, "crash")) == 2
        assert not a.desk.broken


async def test_three_crashes_in_one_step_hold_the_agent_with_the_record_of_why(
    tmp_path: Path,
) -> None:
    async with begun(tmp_path, COORDINATOR, 3) as a:
        await a.until(lambda: AgentState.BROKEN in a.states)
        words = a.desk.error
        assert "crashed 3 times in the same step (coordinator/1.1)" in words
        assert "nobody thought of this" in words
        assert "agiraph resume a" in words
        assert [e["step"] for e in journal(a, "crash")] == ["coordinator/1.1"] * 3
        assert journal(a, "quarantined")[0]["words"] == words
        page = (a.home / "_status.md").read_text("utf-8")
        assert page.startswith("---\nstatus: broken\n")


async def test_a_worker_that_crashes_three_times_holds_its_agent_too(
    tmp_path: Path,
) -> None:
    async with begun(tmp_path, "n", 3) as a:
        await a.until(lambda: AgentState.BROKEN in a.states)
        assert a.state("n") == "running"
        run = a.run.name
        assert f"({run}/worker-1/1.1)" in a.desk.error.lower()


async def test_a_restart_does_not_try_again_and_a_touched_goal_does(
    tmp_path: Path,
) -> None:
    async with begun(tmp_path, COORDINATOR, 3) as a:
        await a.until(lambda: AgentState.BROKEN in a.states)
        asked = a.model.asked(COORDINATOR)
        await a.restart()
        await a.stays(lambda: not a.supervisor.wants() or a.desk.error)
        assert a.model.asked(COORDINATOR) == asked
        assert a.desk.error

        touch(a)
        await a.look()
        assert not a.desk.error
        a.go()
        await a.until(lambda: a.state("n") == "completed")
        assert len(journal(a, "released")) == 1


async def test_a_record_of_a_run_that_cannot_be_read_is_not_run_again(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin()
        await a.asked("n")
        for path in (a.run / "_run.yaml", a.run / "nodes/n/_status.md"):
            await a.end()
            good = path.read_text("utf-8")
            path.write_text(good.replace("status: ", "status: un"))
            await a.restart()
            await a.look()
            page = path.with_name(f"{path.name}.error.md").read_text("utf-8")
            assert "bring the file back from a copy" in page
            assert path.name in a.desk.error
            assert len(list((a.home / "runs").iterdir())) == 1

            path.write_text(good)
            await a.look()
            assert not a.desk.error
            assert not path.with_name(f"{path.name}.error.md").exists()
        a.go()
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")


async def test_a_step_done_anew_is_no_crash_when_the_daemon_was_only_shut_down(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        wait = call("wait", nodes=["n"], timeout="1h")
        a.model.says(COORDINATOR, node("n"), wait, say("ok"))
        await a.begin()
        await a.asked("n")
        for _ in range(4):
            await a.restart()
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")
        assert not a.desk.broken
