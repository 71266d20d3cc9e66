"""What fails, stops half-way or is not good enough, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cast import after
from tests.support.model_server import call, hang, say

if TYPE_CHECKING:
    from tests.support.house import House
    from tests.support.model_asked import Asked
    from tests.support.model_server import Call, Scripted

LOOK = call("list_files", path="scratch")


def node(name: str, **more: object) -> Call:
    return call("create_work_node", id=name, task=f"Write {name}.md.", **more)


def write(name: str, content: str = "Text.\n") -> Call:
    return call("write_file", path=f"scratch/{name}.md", content=content)


def assign(name: str, worker: str) -> Call:
    return call("assign_worker", node_id=name, worker_id=worker)


PUBLISH = call("publish", summary="It is written.")
FINISH = call("finish", summary="Done.")


def test_a_failed_node_is_tried_again_by_the_same_worker_where_it_was(
    house: House,
) -> None:
    def goes_on(asked: Asked) -> Scripted:
        assert "[your node was assigned to you again" in asked.last_user
        assert asked.called[0] == "list_files"  # it knows what it did before
        return [write("a"), PUBLISH]

    story = house.tell(
        "retried",
        coordinator=[
            node("a", worker="Alice", max_turns=2),
            after("[node a failed, worker Alice, 2 turns", do=assign("a", "Alice")),
            after("[node a completed", do=FINISH),
        ],
        a=[LOOK, write("draft"), goes_on],
    )
    story.until("completed")

    again = ["assigned", "started"]
    assert story.kinds("a") == ["created", *again, "failed", *again, "completed"]
    assert story.tree.names(f"{story.node('a')}/published/*") == ["a.md", "draft.md"]
    sessions = [
        line
        for line in story.tree.lines(f"{story.run}/workers/Alice/conversation.jsonl")
        if line["role"] == "system"
    ]
    assert len(sessions) == 1
    story.check()


def test_a_failed_node_goes_to_another_worker_with_what_is_there(house: House) -> None:
    def begins(asked: Asked) -> Scripted:
        if asked.who == "Alice":
            return write("draft", "Half of it.\n")
        assert "## What was done before" in asked.first_user
        assert "It failed: max_turns: 2 of 2 turns are used" in asked.first_user
        return call("read_file", path="scratch/draft.md")

    def bob(asked: Asked) -> Scripted:
        if asked.who == "Alice":
            return LOOK
        assert "Half of it." in asked.result
        return [write("a"), PUBLISH]

    story = house.tell(
        "reassigned",
        coordinator=[
            node("a", worker="Alice", max_turns=2),
            after("[node a failed", do=assign("a", "Bob")),
            after("[node a completed, worker Bob", do=FINISH),
        ],
        a=[begins, bob],
    )
    story.until("completed")

    assert story.tree.head(f"{story.node('a')}/_status.md")["worker"] == "Bob"
    assert [one.who for one in story.asked_by("a")][:2] == ["Alice", "Alice"]
    story.check()


def test_a_failed_node_is_dropped_and_its_dependants_with_it(house: House) -> None:
    def cancels(asked: Asked) -> Scripted:
        assert "[node b stays pending] it waits for a, which is failed" in (
            asked.last_user
        )
        reason = "it cannot be done"
        return [call("cancel_node", node_id=n, reason=reason) for n in "ab"]

    finish = call("finish", summary="Not done: a failed, so b was dropped.")
    story = house.tell(
        "dropped",
        coordinator=[
            [node("a", max_turns=2), node("b", depends_on=["a"])],
            after("[node a failed", do=cancels),
            finish,
        ],
        a=[LOOK, LOOK],
    )
    story.until("completed")

    assert story.kinds("b") == ["created", "cancelled"]
    assert story.tree.read(f"{story.run}/_output.md").startswith("Not done")
    story.check()


def test_dependants_of_a_partial_result_wait_for_the_coordinators_word(
    house: House,
) -> None:
    def says_so(asked: Asked) -> Scripted:
        assert "[node a completed (partial)" in asked.last_user
        assert story.tree.state(story.node("b")) == "pending"
        return assign("b", "Bob")

    story = house.tell(
        "partial",
        coordinator=[
            [
                node("a", accept=[{"file": "never.md"}]),
                node("b", refs={"a": "a/published/a.md"}),
            ],
            after("[node a completed", do=says_so),
            after("[node b completed", do=FINISH),
        ],
        a=[
            [
                write("a", "Half.\n"),
                call("publish", summary="Half of it.", partial=True),
            ]
        ],
        b=[[write("b"), PUBLISH]],
    )
    story.until("completed")

    assert story.asked_by("b")[0].first_user.count("Half.")
    assert story.kinds("b")[-1] == "completed"
    story.check()


def test_publish_is_refused_until_every_check_passes(house: House) -> None:
    def writes_the_file(asked: Asked) -> Scripted:
        assert "scratch/tool.py is not there" in asked.result
        wrong = call("write_file", path="scratch/tool.py", content="print(1 / 0)\n")
        return [wrong, PUBLISH]

    def mends_it(asked: Asked) -> Scripted:
        refused = asked.results[-1]
        assert refused.error is not False
        assert "ZeroDivisionError" in refused.text
        assert "exit code 1" in refused.text
        right = call("write_file", path="scratch/tool.py", content="print(1)\n")
        return [right, PUBLISH]

    story = house.tell(
        "accepted",
        coordinator=[
            node("a", accept=[{"file": "tool.py"}, {"run": "python3 tool.py"}]),
            after("[node a completed", do=FINISH),
        ],
        a=[[write("notes"), PUBLISH], writes_the_file, mends_it],
    )
    story.until("completed")

    published = f"{story.node('a')}/published"
    assert story.tree.read(f"{published}/tool.py") == "print(1)\n"
    assert story.tree.names(f"{published}/*") == ["notes.md", "tool.py"]
    story.check()


def test_a_checkpointed_node_goes_on_with_its_context(house: House) -> None:
    def goes_on(asked: Asked) -> Scripted:
        assert asked.called == ["write_file", "checkpoint"]
        assert "assigned to you again" in asked.last_user
        return PUBLISH

    story = house.tell(
        "checkpointed",
        coordinator=[
            node("a", worker="Alice"),
            after("[node a checkpointed", do=assign("a", "Alice")),
            after("[node a completed", do=FINISH),
        ],
        a=[[write("a"), call("checkpoint", summary="Drafted; to be read.")], goes_on],
    )
    story.until("completed")

    kinds = story.kinds("a")
    assert kinds == [
        *("created", "assigned", "started", "checkpointed"),
        *("assigned", "started", "completed"),
    ]
    story.check()


def test_a_node_whose_time_is_used_up_fails_and_keeps_its_scratch(house: House) -> None:
    story = house.tell(
        "slow",
        coordinator=[
            node("a", timeout="1s"),
            after("[node a failed", do=FINISH),
        ],
        a=[write("a"), hang(50)],
    )
    story.until("completed")

    assert story.why("a") == "timeout: its time was used up"
    assert story.tree.there(f"{story.node('a')}/scratch/a.md")
    story.check(unanswered=1)


def test_a_worker_that_only_talks_fails_after_three_reminders(house: House) -> None:
    story = house.tell(
        "talker",
        coordinator=[node("a"), after("[node a failed", do=FINISH)],
        a=lambda asked: say(f"I am thinking about it, for the {asked.turn}th time."),
    )
    story.until("completed")

    asked = story.asked_by("a")
    assert len(asked) == 4  # the brief, and three reminders
    for count in (1, 2, 3):
        assert f"(reminder {count} of 3" in asked[count].last_user
    assert story.why("a").startswith("no_publish")
    story.check()
