"""A small model that knows no tool calling does a whole run, by text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.model_server import ModelServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.manners import Manner
    from tests.support.model_server import Asked, Scripted

# A server of one's own, which wants no key.
LAB = {"text": True, "api_key_env": None}
GOAL = """---
model: lab/small
---
Write a line about Paris.
"""


def written(name: str, **arguments: str) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def small(asked: Asked) -> Scripted:
    """It fumbles its first call, then says nothing at all, and gets there."""
    wrote = written("write_file", path="scratch/paris.md", content="Paris is large.\n")
    answers = [
        "<tool_call>\nwrite_file scratch/paris.md: Paris is large.\n</tool_call>",
        f"I write it.\n```python\n{wrote}\n```",
        "",
        written("finish", summary="A line about Paris."),
    ]
    return answers[asked.turn - 1]


def test_a_small_model_without_tool_calling_reaches_the_goal(
    tmp_path: Path, manner: Manner
) -> None:
    with ModelServer(small, key=None) as server:
        settings = manner.settings(server, lab=LAB)
        daemon = manner.daemon(tmp_path, server, settings=settings)
        with daemon:
            daemon.write("paris/GOAL.md", GOAL)
            daemon.until_state("paris", "completed")
        lines = daemon.lines("paris/conversation.jsonl")
    assert server.refusals == []
    assert daemon.read("paris/runs/*/published/paris.md") == "Paris is large.\n"
    # It was told the format, and after its silence it was asked again.
    assert "<tool_call>\n{" in server.requests[1].last_user
    assert "Your answer was empty" in server.requests[3].last_user
    # What is kept has calls and results as with any model.
    called = [call["name"] for line in lines for call in line.get("tool_calls", ())]
    assert called == ["tool_call", "write_file", "finish"]
