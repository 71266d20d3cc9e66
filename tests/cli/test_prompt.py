from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from agiraph.cli.rehearsal import next_call
from agiraph.model.agent import TreeSettings
from agiraph.model.layout import Home
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agiraph.cli.rehearsal import Next
    from agiraph.model.conversation import Spoken
    from tests.cli.conftest import Run
    from tests.support.inside import Inside

SYSTEM = "Rules.\n\n## Who you are (SOUL.md)\n\nYou are calm.\n"


@pytest.fixture
def spoken(root: Path) -> Path:
    """An agent whose coordinator has answered once."""
    ts = "2026-11-21T10:00:00+00:00"
    usage = {"input": 90, "output": 10, "cache_read": 0, "cache_write": 0}
    lines = [
        {"role": "system", "session": 1, "model": "x/y", "why": "start"}
        | {"content": SYSTEM, "tools": []},
        {"role": "user", "content": "Do it.", "kind": "brief", "from": "agiraph"},
        {"role": "assistant", "turn": 1, "model": "x/y", "content": "I begin."}
        | {"stop": "end", "usage": usage},
    ]
    text = "".join(json.dumps({"ts": ts, **line}) + "\n" for line in lines)
    (root / "news" / "conversation.jsonl").write_text(text)
    return root


def test_the_next_prompt_is_shown_part_by_part(run: Run, spoken: Path) -> None:
    page = run("check", "--prompt", "news")
    assert page.exit_code == 0, page.output
    for words in ("rules, shared", "brief from agiraph", "answer 1"):
        assert words in page.stdout
    assert "the service said 100" in page.stdout

    told = json.loads(run("check", "--prompt", "news", "--json").stdout)
    assert told["tokens"] == sum(part["tokens"] for part in told["parts"])
    sources = [part["source"] for part in told["parts"]]
    assert all("news/conversation.jsonl" in each or "waits" in each for each in sources)


def test_the_first_prompt_is_shown_before_anything_was_sent(
    run: Run, root: Path
) -> None:
    home = root / "fresh"
    home.mkdir()
    (home / "GOAL.md").write_text("---\nmodel: x/y\n---\nAbout lamps.\n")
    (home / "_inbox.md").write_text("Oil only.\n")
    page = run("check", "--prompt", "fresh")

    assert page.exit_code == 0, page.output
    for words in ("tools (", "who it is", "About lamps.", "waits: _inbox.md#1"):
        assert words in page.stdout
    assert page.stdout.rstrip().endswith("[message from human]\nOil only.")
    assert sorted(each.name for each in home.iterdir()) == ["GOAL.md", "_inbox.md"]


def everything(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


async def rehearsed(a: Inside, worker: str = "") -> Next:
    """What the next call would send, of an agent whose daemon has ended."""
    before, home = everything(a.root), Home(a.home.name)
    path = home.conversation
    if worker:
        path = home.run(a.run.name).worker(worker).conversation
    found = await asyncio.to_thread(
        next_call, str(a.root), TreeSettings(), home.agent, path, worker=worker
    )
    assert everything(a.root) == before
    return found


def texts(lines: Sequence[Spoken]) -> list[str]:
    return [line.content for line in lines]


async def test_it_is_what_the_call_then_sends(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin("The goal.", model="led/model")
        await a.asked(COORDINATOR, 2)
        await a.asked("n")
        await a.until(lambda: len(a.lines()) == 5)
        await a.end()
        a.write("_inbox.md", "Hurry up.\n")
        a.goal("The goal, in green.", model="led/model")
        a.write("SOUL.md", "I am in a hurry.\n")
        coming = await rehearsed(a)
        await a.restart()
        await a.asked(COORDINATOR, 3)

        real = a.model.requests[COORDINATOR][2]
        assert coming.prefix is not None
        assert coming.prefix.content == real.prefix.content
        assert texts([*coming.said, *coming.waiting]) == texts(real.lines)
        assert "Hurry up." in "".join(texts(coming.waiting))
        assert "in green" in "".join(texts(coming.waiting))


async def test_of_a_worker_too(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("I wait."))
        a.model.says("n", call("check_messages"))
        await a.begin("The goal.", model="led/model")
        await a.asked("n", 2)
        await a.end()
        a.write("_inbox.md", "@Alice Hurry up.\n")
        coming = await rehearsed(a, "Alice")
        await a.restart()
        await a.asked("n", 3)

        assert texts([*coming.said, *coming.waiting]) == texts(
            a.model.requests["n"][2].lines
        )
        assert "Hurry up." in texts(coming.waiting)[-1]


async def test_calls_without_a_result_are_named(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), call("wait"))
        await a.begin("The goal.", model="led/model")
        await a.asked("n")
        await a.until(lambda: "wait" in str(a.lines()[-1]))
        await a.end()

        coming = await rehearsed(a)
        assert [each.name for each in coming.open] == ["wait"]
