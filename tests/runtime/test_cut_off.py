"""What a kill leaves half said is said after the restart, at no new model call."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from agiraph.errors import Full
from agiraph.model.agent import AgentState
from agiraph.model.names import COORDINATOR
from tests.support.inside import Inside, call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

FINISH = call("finish", summary="At its end.")


def drop_last(path: Path, count: int = 1) -> None:
    """As though the last lines of a log had never been written."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-count]), "utf-8")


def stands(folder: Path) -> str:
    return (folder / "_status.md").read_text("utf-8").splitlines()[1]


async def ended(a: Inside) -> None:
    await a.begin()
    a.model.says(COORDINATOR, FINISH)
    await a.until(lambda: a.supervising is not None and a.supervising.done())
    await a.end()


async def again(a: Inside) -> None:
    a._open()
    await a.look()
    a.go()


async def test_a_run_whose_end_was_not_told_its_model_is_settled_without_a_call(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        drop_last(a.home / "conversation.jsonl")
        drop_last(a.home / "events.jsonl", 2)  # the result of the tool, and the end
        asked = a.model.asked(COORDINATOR)

        await again(a)
        await a.until(lambda: a.results("finish"))

        assert a.results("finish") == [
            "the run has ended; its result is in _output.md."
        ]
        told = (a.home / "events.jsonl").read_text("utf-8")
        assert told.count('"agent.completed"') == 1
        assert a.model.asked(COORDINATOR) == asked


async def test_a_stopped_run_whose_last_call_was_cut_off_is_shown_as_stopped(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        a.model.says(COORDINATOR, call("wait", timeout=600))
        await a.until(lambda: "wait" in (a.home / "events.jsonl").read_text("utf-8"))
        a.write("STOP", "")
        await a.look()
        await a.until(lambda: a.supervising is not None and a.supervising.done())
        await a.end()
        lines = (a.home / "conversation.jsonl").read_text("utf-8").splitlines(True)
        while '"assistant"' not in lines[-1]:
            lines.pop()
        (a.home / "conversation.jsonl").write_text("".join(lines), "utf-8")

        a._open()
        await a.look()

        assert stands(a.home) == "status: stopped"


def held_back(a: Inside, words: bytes) -> tuple[asyncio.Event, asyncio.Event]:
    """A result with these words is not written until the second event is set."""
    append, stuck, go_on = a.pen.append, asyncio.Event(), asyncio.Event()

    async def slow(path: PurePosixPath, line: bytes, *, flush: bool) -> None:
        if path.name == "conversation.jsonl" and words in line:
            stuck.set()
            await go_on.wait()
        await append(path, line, flush=flush)

    a.pen.append = slow  # type: ignore[method-assign]
    return stuck, go_on


def stuck_at_the_end(a: Inside) -> tuple[asyncio.Event, asyncio.Event]:
    return held_back(a, b"the run has ended")


async def test_a_run_is_not_shown_as_completed_before_its_last_result_is_on_record(
    tmp_path: Path,
) -> None:
    """Nor after a shutdown just before it; whoever sees the word may end the daemon."""
    async with inside(tmp_path) as a:
        stuck, _ = stuck_at_the_end(a)
        await a.begin()
        a.model.says(COORDINATOR, FINISH)
        await a.until(stuck.is_set)
        assert stands(a.home) == "status: working"
        asked = a.model.asked(COORDINATOR)
        await a.end()
        assert not a.results("finish")

        a._open()
        stuck, go_on = stuck_at_the_end(a)
        await a.look()
        a.go()
        await a.until(stuck.is_set)
        assert AgentState.COMPLETED not in a.states
        assert stands(a.home) == "status: working"
        go_on.set()
        await a.until(lambda: stands(a.home) == "status: completed")

        assert a.results("finish") == [
            "the run has ended; its result is in _output.md."
        ]
        told = (a.home / "events.jsonl").read_text("utf-8")
        assert told.count('"agent.completed"') == 1
        assert a.model.asked(COORDINATOR) == asked


async def test_a_folder_among_the_runs_that_is_none_opens_no_new_run(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        name = a.run.name
        (a.home / "runs/zz-notes").mkdir()

        await again(a)

        assert a.desk.run is not None
        assert a.desk.run.name == name
        assert not a.desk.run_open


async def test_a_worker_keeps_its_history_over_a_restart(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("ok"))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.asked(COORDINATOR, 3)
        assert "[node n completed" in a.told()
        a.model.says(COORDINATOR, node("m", worker="Ada"), say("ok"))
        await a.asked("m")

        await a.restart()
        a.model.says("m", publish("second"))
        await a.until(lambda: a.state("m") == "completed")
        history = a.run / "workers/Ada/history.json"
        await a.until(lambda: len(json.loads(history.read_text())) == 2)


async def test_whoever_was_killed_behind_its_nodes_end_is_freed_with_its_history(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("ok"))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.asked(COORDINATOR, 3)
        ada = a.run / "workers/Ada"
        await a.until(lambda: stands(ada) == "status: idle")
        await a.end()
        (ada / "_status.md").write_text("---\nstatus: busy\nnode: n\n---\n")
        (ada / "history.json").unlink()
        drop_last(ada / "conversation.jsonl")

        await again(a)
        await a.until(lambda: stands(ada) == "status: idle")

        assert "first" in (ada / "history.json").read_text("utf-8")
        assert a.results("publish", "Ada") == ["node n is published."]
        assert a.events("node.completed") == ["node.completed"]
        assert a.model.asked("n") == 1


async def test_a_tool_waits_for_the_disk_and_does_not_fail_of_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin()
        write, refused = a.pen.write, 1

        async def full_once(*args: object, **more: object) -> None:
            nonlocal refused
            if "scratch" in str(args[0]) and refused:
                refused = 0
                raise Full("no room")
            await write(*args, **more)  # type: ignore[arg-type]

        a.pen.write = full_once  # type: ignore[method-assign]
        a.model.says(COORDINATOR, call("write_file", path="scratch/a", content="b"))
        await a.asked(COORDINATOR, 2)
        assert "Wrote" in a.results("write_file")[0]
        assert (a.run / "scratch/a").read_text() == "b"


async def test_a_run_is_not_shown_as_completed_while_a_workers_last_result_is_owed(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("ok"), FINISH)
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(lambda: AgentState.COMPLETED in a.states)
        ada = a.run / "workers/Ada"
        await a.end()
        (ada / "_status.md").write_text("---\nstatus: busy\nnode: n\n---\n")
        (a.home / "_status.md").write_text("---\nstatus: working\n---\n")
        drop_last(ada / "conversation.jsonl")
        a.states.clear()

        a._open()
        stuck, go_on = held_back(a, b"node n is published")
        await a.look()
        a.go()
        await a.until(stuck.is_set)
        assert AgentState.COMPLETED not in a.states
        assert stands(a.home) == "status: working"
        go_on.set()
        await a.until(lambda: AgentState.COMPLETED in a.states)

        assert a.results("publish", "Ada") == ["node n is published."]
        assert stands(ada) == "status: idle"
        await a.until(lambda: a.supervising is not None and a.supervising.done())


async def test_whoever_is_shut_down_behind_its_nodes_end_is_still_owed_the_result(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        stuck, _ = held_back(a, b"node n is published")
        a.model.says(COORDINATOR, node("n", worker="Ada"), say("ok"))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(stuck.is_set)
        await a.end()
        ada = a.run / "workers/Ada"
        assert stands(ada) == "status: busy"
        a._open()
        stuck, _ = held_back(a, b"node n is published")
        await a.look()
        a.go()
        await a.until(stuck.is_set)
        await a.end()  # before that was made good
        assert stands(ada) == "status: busy"

        await again(a)
        await a.until(lambda: stands(ada) == "status: idle")

        assert a.results("publish", "Ada") == ["node n is published."]
        assert len(json.loads((ada / "history.json").read_text("utf-8"))) == 1
        assert a.model.asked("n") == 1
