"""Stages wake the coordinator when their contract is met, and stop nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.cast import after
from tests.support.model_server import call, hang

if TYPE_CHECKING:
    from typing import Any

    from tests.support.cast import Step
    from tests.support.house import House, Story
    from tests.support.model_server import Call


def stage(title: str, **contract: Any) -> Call:
    return call(
        "reconvene", assessment="Nothing yet.", next_stage=title, contract=contract
    )


def once(node: str) -> Call:
    return call("create_work_node", id=node, task=f"Answer on {node}.", max_turns=1)


def cancelling(told: str, *late: str) -> list[Step]:
    """Once it is told, the coordinator looks, drops who is late, and ends."""
    drop = [call("cancel_node", node_id=n, reason="enough is there") for n in late]
    finish = call("finish", summary="Enough.")
    return [after(told, do=call("check_board")), *([drop] if drop else []), finish]


@pytest.mark.parametrize(
    ("policy", "fast", "slow"),
    [("any", ["a"], ["b"]), ("majority", ["a", "b"], ["c"])],
)
def test_a_met_contract_wakes_the_coordinator_while_others_go_on(
    house: House, policy: str, fast: list[str], slow: list[str]
) -> None:
    told = f"[stage 1] its contract {policy} is met ({len(fast)} of "
    story = house.tell(
        policy,
        coordinator=[
            [
                stage("Race", checkpoint_policy=policy),
                *map(once, fast + slow),
            ],
            *cancelling(told, *slow),
        ],
        **{node: [f"{node} is done."] for node in fast},
        **{node: [hang(50)] for node in slow},
    )
    story.until("completed")

    board = next(r.text for a in story.asked for r in a.results if "Workers:" in r.text)
    for node in slow:
        assert f"{node}" in board
        assert "running" in board
        assert story.kinds(node) == ["created", "assigned", "started", "cancelled"]
        assert story.tree.read(f"{story.node(node)}/_status.md").count("enough")
    for node in fast:
        assert story.kinds(node)[-1] == "completed"
    story.check(unanswered=len(slow))


def test_all_must_complete_unless_the_contract_says_otherwise(house: House) -> None:
    story = house.tell(
        "every",
        coordinator=[
            [stage("All"), once("a"), once("b")],
            after(
                "[stage 1] its contract all_must_complete is met (2 of 2 completed)",
                do=call("finish", summary="Both."),
            ),
        ],
        a=["A."],
        b=["B."],
    )
    story.until("completed")

    kinds = [e["type"] for e in story.tree.events("every", "stage.")]
    assert kinds == ["stage.started", "stage.completed", "stage.reconvened"]
    story.check()


def test_a_stage_that_can_no_longer_be_met_says_how_it_ended(house: House) -> None:
    talk = call("create_work_node", id="b", task="Write.", max_turns=2)
    story = house.tell(
        "unmet",
        coordinator=[
            [stage("All"), once("a"), talk],
            after(
                "[stage 1] all its nodes have ended, 1 of 2 completed",
                do=call("finish", summary="One of two."),
            ),
        ],
        a=["A."],
        b=[call("list_files", path="scratch"), call("list_files", path="scratch")],
    )
    story.until("completed")

    assert story.why("b") == "max_turns: 2 of 2 turns are used"
    story.check()


def test_a_stage_whose_turns_are_used_up_wakes_the_coordinator(house: House) -> None:
    look = call("list_files", path="scratch")
    node = call("create_work_node", id="a", task="Look about.")
    story = house.tell(
        "turns",
        coordinator=[
            [stage("Look", max_turns=2), node],
            *cancelling("[stage 1] its turns are used up (2 of 2)", "a"),
        ],
        a=[look, look, hang(50)],
    )
    story.until("completed")

    assert story.kinds("a")[-1] == "cancelled"
    story.check(unanswered=1)


def test_a_stage_whose_time_is_up_wakes_the_coordinator(house: House) -> None:
    story = house.tell(
        "time",
        coordinator=[
            [stage("Quick", timeout="1s"), once("a")],
            *cancelling("[stage 1] its time is up (1 s)", "a"),
        ],
        a=[hang(50)],
    )
    story.until("completed")

    assert story.kinds("a") == ["created", "assigned", "started", "cancelled"]
    [completed] = story.tree.events("time", "stage.completed")
    assert completed["data"]["words"] == "[stage 1] its time is up (1 s)"
    story.check(unanswered=1)


def test_reconvene_keeps_the_assessment_and_opens_the_next_stage(house: House) -> None:
    second = call(
        "reconvene", assessment="A is good, B is missing.", next_stage="Mending"
    )
    story: Story = house.tell(
        "reconvened",
        coordinator=[
            [stage("First"), once("a")],
            after("[stage 1]", do=[second, once("b")]),
            after("[stage 2]", do=call("finish", summary="Mended.")),
        ],
        a=["A."],
        b=["B."],
    )
    story.until("completed")

    stages = yaml.safe_load(story.tree.read(f"{story.run}/_run.yaml"))["stages"]
    assert [each["title"] for each in stages] == ["First", "Mending"]
    assert stages[0]["assessment"] == "A is good, B is missing."
    numbers = [
        story.tree.head(f"{story.node(node)}/_spec.md").get("stage") for node in "ab"
    ]
    assert numbers == [1, 2]
    story.check()


def test_reconvene_waits_for_a_persons_approval_where_it_must_ask(house: House) -> None:
    story = house.tell(
        "asks-first",
        settings={"permissions": {"reconvene": "ask"}},
        coordinator=[stage("First"), call("finish", summary="One stage.")],
    )
    story.until("waiting_for_human")
    run = yaml.safe_load(story.tree.read(f"{story.run}/_run.yaml"))
    assert not run.get("stages")

    story.tree.append("asks-first/_inbox.md", "q-001: yes\n")
    story.until("completed")
    [opened] = yaml.safe_load(story.tree.read(f"{story.run}/_run.yaml"))["stages"]
    assert opened["title"] == "First"
    story.check()
