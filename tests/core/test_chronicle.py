"""Who decided what and why, as the events of an agent have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agiraph.core.chronicle import PERSON, Item, Letter, chronicle

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

RUN = "2026-11-21-01"


def event(kind: str, **more: Any) -> JsonObject:
    where = {key: more.pop(key) for key in ("node", "worker") if key in more}
    return {"ts": "t", "type": kind, "agent": "a", "run": RUN, **where, "data": more}


def decided(*events: JsonObject, **letters: Letter) -> list[Item]:
    return chronicle(events, letters).decided


def test_a_stage_is_closed_with_its_assessment() -> None:
    [item] = decided(event("stage.reconvened", assessment="A is good."))
    assert (item.who, item.why) == ("coordinator", "A is good.")
    assert item.path == f"runs/{RUN}/_run.yaml"


def test_a_node_is_cancelled_by_whoever_gave_the_reason() -> None:
    by_model, by_hand = decided(
        event("node.cancelled", node="n", error="enough is there"),
        event("node.cancelled", node="m", error="the file STOP in the node's folder"),
    )
    assert (by_model.who, by_model.why) == ("coordinator", "enough is there")
    assert by_hand.who == PERSON


def test_nodes_that_one_made_are_one_decision() -> None:
    people, model = decided(
        event("node.created", node="x", by="coordinator", title="x"),
        event("node.created", node="mine", by="human", title="mine"),
        event("node.created", node="y", by="coordinator", title="y"),
    )
    assert (model.who, model.what) == ("coordinator", "made 2 nodes: x, y")
    assert (people.who, people.what) == (PERSON, "made the node mine")


def test_a_changed_plan_is_a_decision_and_other_files_are_work() -> None:
    [item] = decided(
        event("tool.called", tool="write_file", about="scratch/a.md"),
        event("tool.called", tool="edit_file", about="_plan.md"),
        event("tool.called", tool="read_file", about="_plan.md"),
    )
    assert (item.what, item.path) == ("changed the plan", f"runs/{RUN}/_plan.md")


def test_what_people_write_and_answer_is_theirs() -> None:
    wrote, answered = decided(
        event("message.sent", id="m1", to="*", **{"from": "human"}),
        event("message.sent", id="m2", to="human", **{"from": "Ada"}),
        event("human.response", id="q-001", text="2026"),
        m1=Letter("Use metric units.", "runs/1/_messages/1.md"),
    )
    assert wrote.what == "wrote to everyone: Use metric units."
    assert wrote.path == "runs/1/_messages/1.md"
    assert (answered.who, answered.what) == (PERSON, "answered q-001: 2026")


def test_a_soul_that_came_with_the_home_was_written_by_nobody() -> None:
    later = event("file.changed", path="a/SOUL.md")
    found = decided(
        event("agent.created"),
        event("file.changed", path="a/GOAL.md"),
        event("file.changed", path="a/SOUL.md"),
        later,
    )
    assert [item.what for item in found] == ["wrote GOAL.md", "wrote SOUL.md"]


def test_ends_and_faults_happen_and_say_where_to_look() -> None:
    told = chronicle(
        [
            event("node.completed", node="n", worker="Ada", summary="Done."),
            event("node.failed", node="m", worker="Ada", error="no time"),
            event("worker.busy", worker="Ada"),
            event("unheard.of"),
            event("agent.completed", reason="All is done."),
        ]
    )
    assert [item.path for item in told.happened] == [
        f"runs/{RUN}/nodes/n/published/",
        f"runs/{RUN}/nodes/m/_status.md",
        f"runs/{RUN}/_output.md",
    ]
    assert told.decided[-1].why == "All is done."
