"""How work is split is the coordinator's choice alone: four ways, no code for any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cast import after
from tests.support.model_server import call, say

if TYPE_CHECKING:
    from tests.support.house import House
    from tests.support.model_asked import Asked
    from tests.support.model_server import Call, Scripted

TOWNS = ("bonn", "kiel", "lyon", "nice", "oslo", "rome")


def once(node: str, task: str, **more: object) -> Call:
    """A node that is a single inference."""
    return call("create_work_node", id=node, task=task, max_turns=1, **more)


def written(path: str, content: str, summary: str) -> list[Call]:
    return [
        call("write_file", path=f"scratch/{path}", content=content),
        call("publish", summary=summary),
    ]


def test_many_small_inferences_and_one_that_brings_them_together(house: House) -> None:
    refs = {town: f"{town}/published/answer.md" for town in TOWNS}

    def sums_up(asked: Asked) -> Scripted:
        assert all(f"{town} is a town." in asked.first_user for town in TOWNS)
        return "Six towns."

    answers = {town: [f"{town} is a town."] for town in TOWNS}
    story = house.tell(
        "inferences",
        coordinator=[
            [
                *(once(town, f"One sentence on {town}.") for town in TOWNS),
                once("sum", "How many towns are these?", refs=refs),
            ],
            after("[node sum completed", do=call("finish", summary="Six towns.")),
        ],
        sum=sums_up,
        **answers,
    )
    story.until("completed")

    for node in (*TOWNS, "sum"):
        [asked] = story.asked_by(node)
        assert asked.tools == {}
    answer = story.tree.read(f"{story.node('sum')}/published/answer.md")
    assert answer == "Six towns.\n"
    story.check()


def test_a_few_strong_workers_with_turns_who_remember(house: House) -> None:
    first = call("create_work_node", id="first", task="Draft it.", worker="Vera")
    second = call(
        "create_work_node",
        id="second",
        task="Revise it.",
        worker="Vera",
        refs={"draft": "first/published/draft.md"},
    )

    def revises(asked: Asked) -> Scripted:
        assert "Short words read best." in asked.first_user
        return call("read_ref", ref_name="draft")

    def publishes(asked: Asked) -> Scripted:
        assert "A draft." in asked.result
        return written("text.md", "A text.\n", "text.md, revised")

    story = house.tell(
        "strong",
        learned="Short words read best.",
        coordinator=[
            [
                call("spawn_worker", name="Vera", role="author", memory="I write.\n"),
                first,
                second,
            ],
            after("[node second completed", do=call("finish", summary="Revised.")),
        ],
        first=[
            call("bash", command="echo 'A draft.' > draft.md && cat draft.md"),
            call("publish", summary="draft.md"),
        ],
        second=[revises, publishes],
    )
    story.until("completed")

    briefs = {asked.node: asked.first_user for asked in story.asked_by("Vera")}
    assert "I write." in briefs["first"]
    assert len(story.asked_by("first")) >= 3  # two steps, and a look back
    history = story.tree.read(f"{story.run}/workers/Vera/history.json")
    assert '"first"' in history
    story.check()


def test_small_inferences_for_a_strong_worker(house: House) -> None:
    refs = {town: f"{town}/published/answer.md" for town in TOWNS[:3]}
    whole = call(
        "create_work_node",
        id="whole",
        task="Put the sentences into towns.md.",
        worker={"name": "Vera", "role": "editor"},
        refs=refs,
    )

    def edits(asked: Asked) -> Scripted:
        lines = [result.text.splitlines()[-1] for result in asked.results]
        return written("towns.md", "\n".join(lines) + "\n", "towns.md")

    story = house.tell(
        "mixed",
        coordinator=[
            [*(once(town, f"One sentence on {town}.") for town in TOWNS[:3]), whole],
            after("[node whole completed", do=call("finish", summary="Put together.")),
        ],
        whole=[[call("read_ref", ref_name=town) for town in TOWNS[:3]], edits],
        **{town: [f"{town} is a town."] for town in TOWNS[:3]},
    )
    story.until("completed")

    towns = story.tree.read(f"{story.node('whole')}/published/towns.md")
    assert all(f"{town} is a town." in towns for town in TOWNS[:3])
    story.check()


def test_a_command_line_worker_is_refused_in_words(house: House) -> None:
    def takes_another(asked: Asked) -> Scripted:
        spawned, made = asked.results
        for refused in (spawned, made):
            assert refused.error is not False
            assert "cannot be run as workers yet" in refused.text
        return once("part", "Answer.")

    worker = {"name": "Claude", "type": "autonomous", "command": "claude"}
    story = house.tell(
        "autonomous",
        coordinator=[
            [
                call("spawn_worker", name="Claude", type="autonomous"),
                call("create_work_node", id="tool", task="Make it.", worker=worker),
            ],
            takes_another,
            after("[node part completed", do=call("finish", summary="By another.")),
        ],
        part=["An answer."],
    )
    story.until("completed")

    assert story.tree.names(f"{story.run}/nodes/*") == ["part"]
    assert "Claude" not in story.tree.names(f"{story.run}/workers/*")
    story.check()


def test_a_small_goal_needs_no_nodes(house: House) -> None:
    story = house.tell(
        "alone",
        coordinator=[
            say("I write it myself.", call("write_file", path="a.md", content="A\n")),
            lambda asked: (
                call("write_file", path="scratch/a.md", content="A\n")
                if asked.results[0].error is not False
                else call("list_files", path="scratch")
            ),
            call("finish", summary="A is written."),
        ],
    )
    story.until("completed")

    assert story.tree.read(f"{story.run}/published/a.md") == "A\n"
    assert story.tree.names(f"{story.run}/nodes/*") == []
    story.check()
