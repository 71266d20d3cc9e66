"""Work that waits for a person holds itself back, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cast import after
from tests.support.model_server import call

if TYPE_CHECKING:
    from tests.support.house import House, Story
    from tests.support.model_server import Scripted

QUESTION = "PostgreSQL or SQLite for the project's database?"
ANSWER = "PostgreSQL, please."
ASK = call("ask_human", question=QUESTION, options=["PostgreSQL", "SQLite"])
LOOK = call("list_files", path="scratch")


def write(path: str, content: str) -> Scripted:
    return call("write_file", path=f"scratch/{path}", content=content)


def test_a_budget_that_is_used_up_holds_the_work_until_it_is_raised(
    house: House,
) -> None:
    story = house.tell(
        "thrifty",
        settings={"budget": {"tokens": 20_000}},
        coordinator=[
            write("a.md", "A\n"),
            LOOK,
            LOOK,
            write("b.md", "B\n"),
            call("finish", summary="Both are written."),
        ],
    )
    story.until("held")

    waiting = str(story.tree.head("thrifty/_status.md")["waiting_for"])
    assert "the agent's budget does not allow another call" in waiting
    assert "of 20,000 tokens" in waiting
    assert "raise the number in the file" in waiting
    asked = len(story.asked)
    assert asked < 5
    spent = sum(
        line[key]
        for line in story.tree.lines("thrifty/usage.jsonl")
        for key in ("input", "output", "cache_read", "cache_write")
    )
    assert spent <= 20_000

    story.tree.edit("thrifty/GOAL.md", "tokens: 20000", "tokens: 200000")
    story.until("completed")
    assert story.tree.names(f"{story.run}/published/*") == ["a.md", "b.md"]
    kinds = [event["type"] for event in story.tree.events("thrifty", "agent.")]
    assert kinds[-3:] == ["agent.held", "agent.resumed", "agent.completed"]
    assert len(story.tree.names(f"{story.run}")) == 1
    story.check()


def test_a_nodes_own_budget_holds_that_node_alone(house: House) -> None:
    story = house.tell(
        "one-node",
        coordinator=[
            call("create_work_node", id="dear", task="Think long.", hold=True),
            call("create_work_node", id="cheap", task="Answer.", max_turns=1),
            after("[node cheap completed", do=call("check_board")),
            after("[node dear completed", do=call("finish", summary="Both.")),
        ],
        cheap=["An answer."],
        dear=[[write("dear.md", "Thought.\n"), call("publish", summary="Thought.")]],
    )
    spec = f"{story.run}/nodes/dear/_spec.md"
    story.tree.until_there(spec)
    story.tree.edit(spec, "hold: true", "hold: false\nbudget: {tokens: 600}")
    story.until("held", node="dear")
    story.until("completed", node="cheap")
    assert "node's budget" in str(
        story.tree.head(f"{story.node('dear')}/_status.md")["waiting_for"]
    )

    story.tree.edit(spec, "tokens: 600", "tokens: 60000")
    story.until("completed")
    story.check()


def by_the_inbox(story: Story) -> None:
    """As a line of the inbox that names the question."""
    story.tree.append(f"{story.agent}/_inbox.md", f"q-001: {ANSWER}\n")


def test_the_rest_of_the_graph_goes_on_while_a_question_is_open(house: House) -> None:
    story = house.tell(
        "meanwhile",
        coordinator=[
            [
                call("create_work_node", id="asks", task="Ask."),
                call("create_work_node", id="other", task="Answer.", max_turns=1),
            ],
            after("[node other completed", "[node asks", do=LOOK),
            call("finish", summary="Both."),
        ],
        asks=[ASK, [write("a.md", "A\n"), call("publish", summary="Asked.")]],
        other=["An answer."],
    )
    story.until("completed", node="other")
    story.until("waiting_for_human")
    assert story.tree.state(story.node("asks")) == "waiting_for_human"

    by_the_inbox(story)
    story.until("completed")
    story.check()
