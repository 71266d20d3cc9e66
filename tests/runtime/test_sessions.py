"""Sessions of workers: resumed with their node, carried on by another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_checkpointed_node_goes_on_in_its_session_after_another_node(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("first", worker="Alice"), say("ok"))
        a.model.says(
            "first",
            call("list_files", path="inputs"),
            call("checkpoint", summary="half"),
        )
        a.model.says("second", publish())
        await a.begin()
        await a.until(lambda: a.state("first") == "checkpointed")
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, node("second", worker="Alice"), say("ok"))
        await a.until(lambda: a.state("second") == "completed")
        await a.asked(COORDINATOR, 5)
        a.model.says(
            COORDINATOR,
            call("assign_worker", node_id="first", worker_id="Alice"),
            say("ok"),
        )
        await a.asked("first", 3)

        heard = a.model.heard("first")
        assert "inputs/ is empty" in heard
        assert "go on where you were" in heard
        assert "Do second." not in heard

        await a.restart()
        await a.asked("first", 4)
        assert a.model.heard("first") == heard


async def test_a_worker_goes_on_with_another_model_when_the_settings_say_so(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin(model="led/one", worker_model="led/two")
        await a.asked("n")
        a.goal("The goal.", model="led/one", worker_model="led/three")
        await a.look()
        a.model.says("n", call("list_files", path="inputs"))
        await a.asked("n", 2)

        first, second = a.model.requests["n"]
        assert (first.model, second.model) == ("led/two", "led/three")
        assert "Do n." in a.model.heard("n")
        assert "inputs/ is empty" in a.model.heard("n")
