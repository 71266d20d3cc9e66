"""Ten startups, one by one, in a window far too small for all ten."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.model_server import ModelServer, call, say
from tests.support.trace import check
from tests.support.web import WebServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Call, Scripted

WINDOW = 24_000
NAMES = [
    "Aerolith", "Brightwell", "Cindergrid", "Dovetail", "Emberline",
    "Foxglove", "Glasshaus", "Harborly", "Inkwell", "Juniper",
]  # fmt: skip
GOAL = f"""---
context: {WINDOW}
---
Research these ten startups one by one, and write what each does and what it raised:
{", ".join(NAMES)}.
"""
NOTES = "knowledge/startups.md"


def page(name: str) -> str:
    """A long page, the one fact in its middle."""
    chatter = "We love our customers, and our customers love us. " * 90
    return f"{chatter} {name} raised {len(name)}00 million dollars.{chatter}"


def fact(text: str) -> list[tuple[str, str]]:
    return re.findall(r"(\w+) raised (\d+ million)", text)


def written_down(one: tuple[str, str]) -> Call:
    name, money = one
    text = f"{name} raised {money}.\n"
    return call("write_file", path=f"scratch/{name}.md", content=text)


def researcher(web: WebServer) -> Callable[[Asked], Scripted]:
    """It knows what it is shown: what has a file is done, the next is looked up."""

    def next_step(asked: Asked) -> Scripted:
        told = asked.all_text
        written = [n for n in NAMES if f"scratch/{n}.md" in told] + [
            c.arguments["path"].removeprefix("scratch/").removesuffix(".md")
            for c in asked.calls
            if c.name == "write_file"
        ]
        if "This one answer is for notes" in asked.last_user:
            seen = [one for result in asked.all_results for one in fact(result.text)]
            facts = "".join(f"- {name} raised {money}.\n" for name, money in seen)
            note = call("memory_write", path=NOTES, content=facts, append=True)
            unsaved = [written_down(one) for one in seen if one[0] not in written]
            return [note, *unsaved]
        if "Now write the summary" in asked.last_user:
            done = [f"- scratch/{name}.md" for name in NAMES if name in written]
            left = [f"- {name}" for name in NAMES if name not in written]
            return say("\n".join(["## Done", *done, "## Open", *left]))
        if asked.results and asked.results[0].name == "bash":
            return written_down(fact(asked.result)[0])
        for name in NAMES:
            if name not in written:
                return call("bash", command=f"curl -s {web.url}/{name}")
        if asked.results and asked.results[0].name == "memory_search":
            return [
                call("write_file", path="scratch/all.md", content=asked.result),
                call("finish", summary=f"All ten.\n\n{asked.result}"),
            ]
        return call("memory_search", query="startups raised million")

    return next_step


def test_ten_startups_in_a_window_far_too_small(tmp_path: Path, manner: Manner) -> None:
    pages = {f"/{name}": page(name) for name in NAMES}
    with (
        WebServer(pages) as web,
        ModelServer(researcher(web), window=WINDOW) as server,
        manner.daemon(tmp_path, server) as daemon,
    ):
        daemon.write("scout/GOAL.md", GOAL)
        daemon.until_state("scout", "completed")
        check(daemon, "scout", server)

        events = daemon.events("scout", "memory.compacted")
        assert len(events) >= 2
        assert {event["data"]["in_a_row"] for event in events} == {1}
        assert web.visits == [f"/{name}" for name in NAMES]  # each once, in order
        for name in NAMES:
            text = daemon.read(f"scout/runs/*/published/{name}.md")
            assert text == f"{name} raised {len(name)}00 million.\n"
        output = daemon.read("scout/runs/*/_output.md")
        notes = daemon.read(f"scout/memory/{NOTES}")
        assert all(name in notes for name in NAMES[:-2])
        assert "All ten." in output
        kept = daemon.names("scout/conversations/*.jsonl")
        assert len(kept) == len(events)
        whole = [
            line for k in kept for line in daemon.lines(f"scout/conversations/{k}")
        ]
        whole += daemon.lines("scout/conversation.jsonl")
        answers = [line for line in whole if line["role"] == "assistant"]
        assert len(answers) == len(server.requests)  # nothing that was said is lost
