"""What the first run learned, the second uses; the record shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.model_server import ModelServer, call, say
from tests.support.trace import check
from tests.support.web import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

GOAL = """\
{}
"""
LEARN = "Learn the patterns of asynchronous Python and remember them."
BUILD = "Build an asynchronous scraper in Python, in scraper.py."
PAGE = (
    "Use asyncio.TaskGroup to run many awaits at once; a Semaphore bounds how many of "
    "them run at the same time, and to_thread keeps what blocks off the loop."
)
NOTES = """# Asynchronous Python

## Many at once

- asyncio.TaskGroup runs many coroutines together and waits for all of them.

## Bounds

- asyncio.Semaphore(n) lets n of them in at a time.

## Blocking calls

- asyncio.to_thread takes a blocking call off the loop.
"""
MEMORY = "- Asynchronous Python: see memory/knowledge/python-asyncio.md\n"
INDEX = "- knowledge/python-asyncio.md: TaskGroup, Semaphore, to_thread\n"


def speaker(web: WebServer) -> Callable[[Asked], Scripted]:
    def learns(asked: Asked) -> Scripted:
        if "memory_search" not in asked.called:
            return call("memory_search", query="asynchronous Python patterns")
        if "bash" not in asked.called:
            return call("bash", command=f"curl -s {web.url}/asyncio")
        return [
            call("memory_write", path="knowledge/python-asyncio.md", content=NOTES),
            call("memory_write", path="index.md", content=INDEX),
            call("memory_write", path="MEMORY.md", content=MEMORY, append=True),
            call("finish", summary="Learned: TaskGroup, Semaphore, to_thread."),
        ]

    def builds(asked: Asked) -> Scripted:
        news = asked.all_text.split(BUILD)[-1]
        last = asked.results[-1] if asked.results else None
        if last is None or last.name == "finish":
            assert MEMORY.strip() in news  # the new run's brief shows MEMORY.md
            return call("memory_search", query="asyncio many at once bounded")
        if last.name == "memory_search":
            known = [w for w in ("TaskGroup", "Semaphore") if w in last.text]
            assert known == ["TaskGroup", "Semaphore"]
            code = "import asyncio\n" + "".join(f"print(asyncio.{w})\n" for w in known)
            return [
                call("write_file", path="scratch/scraper.py", content=code),
                call("bash", command="python3 scraper.py"),
            ]
        assert "asyncio.taskgroups.TaskGroup" in asked.result
        return call("finish", summary="The scraper runs.", artifacts=["scraper.py"])

    def script(asked: Asked) -> Scripted:
        if asked.all_text.count("# Run ") < 2:
            return learns(asked)
        return builds(asked) if asked.last_user or asked.results else say("Done.")

    return script


def test_the_second_run_uses_what_the_first_learned(
    tmp_path: Path, manner: Manner
) -> None:
    with (
        WebServer({"/asyncio": PAGE}) as web,
        ModelServer(speaker(web)) as server,
        manner.daemon(tmp_path, server) as daemon,
    ):
        daemon.write("coder/GOAL.md", GOAL.format(LEARN))
        daemon.until_state("coder", "completed")
        notes = daemon.read("coder/memory/knowledge/python-asyncio.md")
        assert "asyncio.Semaphore" in notes
        assert web.visits == ["/asyncio"]

        daemon.write("coder/GOAL.md", GOAL.format(BUILD))
        daemon.until_there("coder/runs/*-02/_output.md")
        daemon.until_state("coder", "completed")
        check(daemon, "coder", server)

        assert web.visits == ["/asyncio"]  # nothing was looked up again
        first, second = daemon.names("coder/runs/*")
        called = daemon.events("coder", "tool.called", run=second)
        assert [event["data"]["tool"] for event in called] == [
            "memory_search", "write_file", "bash", "finish",
        ]  # fmt: skip
        assert not any("curl" in event["data"]["about"] for event in called)
        results = [
            line["content"]
            for line in daemon.lines("coder/conversation.jsonl")
            if line["role"] == "tool" and line["name"] == "memory_search"
        ]
        assert results[0] == "Memory is empty." or "TaskGroup" not in results[0]
        assert "python-asyncio.md" in results[1]
        assert "TaskGroup" in results[1]

        code, told, _ = daemon.run("blame", "coder", "knowledge/python-asyncio.md:5")
        assert code == 0
        assert f"in run {first}" in told
