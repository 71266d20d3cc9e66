"""Fallback chains: who is asked instead, who hears of it, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Stop
from agiraph.model.names import COORDINATOR
from tests.support.inside import Inside, Said, call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = "led/one", "led/two"
CHAIN = [ONE, TWO]
DOWN = ProviderFault(Fault.OVERLOADED, "the service of led/one is busy")
BROKE = ProviderFault(Fault.QUOTA, "led/one has no credit left")


def asked(a: Inside, who: str = COORDINATOR) -> list[str]:
    return [request.model for request in a.model.requests[who]]


@pytest.mark.parametrize("fault", [DOWN, BROKE], ids=["down", "quota"])
async def test_the_next_model_is_asked_where_the_first_fails(
    tmp_path: Path, fault: ProviderFault
) -> None:
    async with inside(tmp_path) as a:
        a.model.faults[ONE] = fault
        await a.begin(model=CHAIN)
        await a.asked(COORDINATOR, 2)

        assert asked(a) == CHAIN
        status = a.home / "_status.md"
        told = f"{TWO} is asked instead: {ONE} is put off until"
        await a.until(lambda: told in status.read_text("utf-8"))
        page = status.read_text("utf-8")
        assert str(fault) in page
        (event,) = [e for e in a.said if e.type.value == "model.changed"]
        assert event.data["model"] == TWO
        assert event.data["before"] == ONE
        assert str(fault) in str(event.data["words"])
        assert "agent.held" not in a.events("agent.")


async def test_what_was_said_so_far_goes_on_under_the_other_model(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin(model=CHAIN)
        await a.asked(COORDINATOR, 1)
        a.model.faults[ONE] = DOWN
        a.model.says(COORDINATOR, call("list_files", path="inputs"))
        await a.asked(COORDINATOR, 3)

        assert asked(a) == [ONE, ONE, TWO]
        assert "inputs/ is empty" in a.model.heard(COORDINATOR)
        sessions = [line for line in a.lines() if line["role"] == "system"]
        assert [line["model"] for line in sessions] == CHAIN
        assert a.model.requests[COORDINATOR][-1].lines[1].own == {}  # type: ignore[union-attr]  # an answer


async def test_the_first_model_is_asked_again_when_its_time_has_come(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.faults[ONE] = DOWN
        await a.begin(model=CHAIN)
        await a.asked(COORDINATOR, 2)
        del a.model.faults[ONE]
        await a.leap(61.0)
        a.model.says(COORDINATOR, call("list_files", path="inputs"))
        await a.asked(COORDINATOR, 3)

        assert asked(a) == [ONE, TWO, ONE]
        a.model.says(COORDINATOR, call("list_files", path="inputs"))
        await a.asked(COORDINATOR, 4)
        page = (a.home / "_status.md").read_text("utf-8")
        assert "fallback" not in page


async def test_a_model_that_is_down_is_down_for_every_worker(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.faults[ONE] = DOWN
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin(model=CHAIN)
        await a.asked("n")

        assert asked(a, "n") == [TWO]
        await a.until(lambda: a.events("model.", worker="Alice"))


async def test_a_refusal_is_put_to_the_next_model_and_changes_nothing_for_others(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), node("m"), say("ok"))
        a.model.says("n", Said("I would rather not.", stop=Stop.REFUSAL), publish())
        await a.begin(model=CHAIN)
        await a.until(lambda: a.state("n") == "completed")
        await a.asked("m")

        assert asked(a, "n") == CHAIN
        assert asked(a, "m") == [ONE]
        told = a.lines(a.desk.nodes["n"].status.worker or "")
        assert "rather not" not in str(told)
        # What was refused was paid for all the same.
        assert a.desk.nodes["n"].status.spend.usage.input == 20


async def test_where_all_refuse_the_refusal_counts(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        refused = Said("I would rather not.", stop=Stop.REFUSAL)
        a.model.says(COORDINATOR, node("n"), say("ok"))
        a.model.says("n", refused, refused)
        await a.begin(model=CHAIN)
        await a.until(lambda: a.state("n") == "failed")

        assert asked(a, "n") == CHAIN
        assert "rather not" in a.desk.nodes["n"].status.error


async def test_where_all_are_down_the_work_is_held_until_one_is_back(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.faults = dict.fromkeys(CHAIN, DOWN)
        await a.begin(model=CHAIN)
        await a.until(lambda: "agent.held" in a.events("agent."))
        a.model.faults = {ONE: DOWN}
        await a.leap(130.0)
        await a.until(lambda: asked(a)[-1] == TWO and len(asked(a)) > 2)
        a.model.says(COORDINATOR, call("finish", summary="done"))
        await a.until(lambda: "agent.completed" in a.events("agent."))


async def test_a_model_alone_is_waited_for_as_ever(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.faults[ONE] = DOWN
        await a.begin(model=ONE)
        await a.until(lambda: "agent.held" in a.events("agent."))

        assert a.world.setbacks.of([ONE], "") == {}
