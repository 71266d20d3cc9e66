"""One agent, alone, looks something up, writes it down and ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cast import cast
from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, call, say
from tests.support.trace import check
from tests.support.web import WebServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

GOAL = """---
model: anthropic/claude-sonnet-4-5
---
What are the top 3 programming languages in 2026?
"""
PAGE = "1. Python 2. TypeScript 3. Rust"


def researcher(web: WebServer) -> list[Scripted]:
    def writes(asked: Asked) -> Scripted:
        assert PAGE in asked.result
        ranks = "# The top 3\n\n" + PAGE.replace(" 2.", "\n2.").replace(" 3.", "\n3.")
        return call("write_file", path="scratch/research.md", content=f"{ranks}\n")

    return [
        say("I look it up.", call("bash", command=f"curl -s {web.url}/search?q=top+3")),
        writes,
        [
            call("read_file", path="scratch/research.md"),
            call(
                "finish",
                summary="Python, TypeScript and Rust lead in 2026.",
                artifacts=["research.md"],
            ),
        ],
    ]


def test_a_goal_becomes_a_file_and_a_result(tmp_path: Path) -> None:
    states: list[str] = []
    with WebServer({"/search": PAGE}) as web:
        script = cast(coordinator=researcher(web))

        def seen(asked: Asked) -> Scripted:
            states.append(daemon.state("languages"))
            return script(asked)

        with (
            ModelServer(seen) as server,
            Daemon(tmp_path, server.environment()) as daemon,
        ):
            daemon.write("languages/GOAL.md", GOAL)
            daemon.until_state("languages", "completed")

    assert web.visits == ["/search?q=top+3"]
    assert states[-1] == "working"
    assert daemon.read("languages/runs/*/published/research.md").startswith("# The top")
    output = daemon.read("languages/runs/*/_output.md")
    assert output.startswith("Python, TypeScript and Rust lead in 2026.")
    assert "(published/research.md)" in output
    assert "Spent: 3 turns" in output
    kinds = [event["type"] for event in daemon.events("languages", "agent.")]
    assert kinds == ["agent.created", "agent.started", "agent.completed"]
    check(daemon, "languages", server)
    assert all(asked.wire == "messages" for asked in server.requests)


def test_the_conversation_holds_all_that_the_model_saw_and_said(
    tmp_path: Path,
) -> None:
    with (
        WebServer({"/search": PAGE}) as web,
        ModelServer(cast(coordinator=researcher(web))) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        daemon.write("languages/GOAL.md", GOAL)
        daemon.until_state("languages", "completed")

    lines = daemon.lines("languages/conversation.jsonl")
    assert [line["role"] for line in lines] == (
        [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "tool",
        ]
    )
    system, brief, first, result = lines[:4]
    assert system["content"].strip() == server.requests[0].system.strip()
    assert "What are the top 3 programming languages" in brief["content"]
    assert first["content"] == "I look it up."
    assert first["tool_calls"][0]["name"] == "bash"
    assert result["name"] == "bash"
    assert PAGE in result["content"]
    assert server.requests[-1].first_user == brief["content"]
