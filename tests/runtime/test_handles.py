"""Where the system lets nothing more be opened for a moment, no tool fails of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agiraph.errors import TooManyOpen
from agiraph.model.names import COORDINATOR
from agiraph.runtime import world
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("method", ["entries", "entry", "read"])
async def test_a_tool_that_finds_no_descriptor_waits_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(world, "DISK_RETRY", 0.05)
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("I wait."))
        await a.begin()
        await a.asked("n")
        real, refused = getattr(a.world.reader, method), []

        def refuse(path: object, **more: Any) -> object:
            if "nodes/n" in str(path) and len(refused) < 3:
                refused.append(path)
                raise TooManyOpen(f"{path} cannot be read: too many open files")
            return real(path, **more)

        monkeypatch.setattr(a.world.reader, method, refuse)
        a.model.says("n", call("list_files", path="scratch"), publish("done"))
        a.model.says(COORDINATOR, call("finish", summary="Done."))
        await a.until(lambda: a.state("n") == "completed")

        assert refused
        lines = a.lines("Alice")
        assert not [x for x in lines if x["role"] == "tool" and x.get("error")]


async def test_an_agent_that_could_not_be_judged_for_a_moment_is_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inside(tmp_path) as a:
        real, refused = a.world.reader.entry, []

        def refuse(path: object, **more: Any) -> object:
            if "_owner.yaml" in str(path) and not refused:
                refused.append(path)
                raise TooManyOpen(f"{path} cannot be read: too many open files")
            return real(path, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(a.world.reader, "entry", refuse)
        a.goal("The goal.")
        with pytest.raises(TooManyOpen):
            await a.look()
        await a.look()
        assert a.desk.run is not None
