"""Nobody is told of a node's end before it is on the disk; so it is told once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import Full
from agiraph.model.names import COORDINATOR
from agiraph.model.node import NodeState
from tests.support.inside import Inside, call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

END = "[node n completed"


class HeldBack:
    """Pages of a node with a word in them wait until they may be written."""

    def __init__(self, a: Inside, name: str, word: str) -> None:
        self.waits = asyncio.Event()
        self.go_on = asyncio.Event()
        self._write = a.pen.write
        self._path, self._word = f"nodes/{name}/_status.md", word.encode()
        a.pen.write = self.write  # type: ignore[method-assign]

    async def write(
        self,
        path: PurePosixPath,
        data: bytes,
        *,
        within: PurePosixPath | None = None,
    ) -> None:
        if str(path).endswith(self._path) and self._word in data:
            self.waits.set()
            await self.go_on.wait()
        await self._write(path, data, within=within)


async def ring(a: Inside) -> None:
    """Others have news; whoever waits looks what has become of the node."""
    for _ in range(40):
        a.desk.bell.ring()
        await asyncio.sleep(0.01)


WAYS = {
    "it rests": (node("n"), say("I wait.")),
    "it waits": (node("n"), call("wait", nodes=["n"])),
}


@pytest.mark.parametrize("way", list(WAYS))
async def test_the_coordinator_is_told_once_of_an_end_that_a_kill_takes_back(
    tmp_path: Path, way: str
) -> None:
    async with inside(tmp_path) as a:
        page = HeldBack(a, "n", "completed")
        a.model.says(COORDINATOR, *WAYS[way])
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(page.waits.is_set)
        asked = a.model.asked(COORDINATOR)
        await ring(a)
        assert END not in a.told()

        await a.restart()  # it dies before the page is there
        await a.asked(COORDINATOR, asked + 1)
        a.model.says(COORDINATOR, call("finish", summary="done"))
        await a.until(lambda: a.results("finish"))
        await a.until(lambda: a.state("n") == "completed")

        assert "has ended" in a.results("finish")[0]
        assert a.told().count(END) == 1


async def test_while_an_end_is_being_written_the_coordinator_is_not_asked_what_to_do(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        page = HeldBack(a, "n", "completed")
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(page.waits.is_set)
        await ring(a)
        assert a.model.asked(COORDINATOR) == 2
        assert "completed" not in a.text("_board.md")

        page.go_on.set()
        await a.asked(COORDINATOR, 3)
        assert a.told().count(END) == 1


async def test_what_needs_a_node_starts_once_its_end_is_on_the_disk(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        page = HeldBack(a, "n", "completed")
        both = calls(node("n"), node("after", depends_on=["n"]))
        a.model.says(COORDINATOR, both, say("I wait."))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(page.waits.is_set)
        await ring(a)
        assert a.state("after") == "pending"

        page.go_on.set()
        await a.asked("after")


async def test_ends_of_different_nodes_are_written_side_by_side(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        page = HeldBack(a, "n", "completed")
        a.model.says(COORDINATOR, calls(node("n"), node("m")), say("I wait."))
        a.model.says("n", publish("first"))
        a.model.says("m", publish("second"))
        await a.begin()
        await a.until(page.waits.is_set)
        await a.until(lambda: "[node m completed" in a.told())
        assert END not in a.told()

        page.go_on.set()
        a.model.says(COORDINATOR, say("I wait on."))
        await a.until(lambda: END in a.told())


async def test_a_change_while_an_end_is_written_keeps_the_end(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        page = HeldBack(a, "n", "status: completed")
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        a.model.says("n", publish("first"))
        await a.begin()
        await a.until(page.waits.is_set)
        status = replace(a.desk.nodes["n"].status, released=True)
        more = asyncio.create_task(a.desk.set_node("n", status))
        await asyncio.sleep(0)
        assert a.desk.recorded["n"].status.state is NodeState.RUNNING

        page.go_on.set()
        await more
        await a.until(lambda: END in a.told())
        assert a.desk.recorded is a.desk.nodes
        assert "status: completed" in a.text("nodes/n/_status.md")


async def test_a_page_that_the_disk_had_refused_does_not_take_a_newer_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agiraph.runtime.world.DISK_RETRY", 0.2)
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin()
        await a.asked("n")
        write, refused = a.pen.write, asyncio.Event()

        async def full_once(path: PurePosixPath, data: bytes) -> None:
            if str(path).endswith("n/_status.md") and not refused.is_set():
                refused.set()
                raise Full("no room")
            await write(path, data)

        a.pen.write = full_once  # type: ignore[method-assign, assignment]
        first = a.desk.set_state("n", NodeState.HELD, waiting_for="money")
        older = asyncio.create_task(first)
        await refused.wait()
        await a.desk.set_state("n", NodeState.RUNNING)
        await older

        assert "status: running" in a.text("nodes/n/_status.md")
