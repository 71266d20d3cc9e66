"""Work that waits for a person: for money, and for an answer, however it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.cast import after
from tests.support.model_server import call

if TYPE_CHECKING:
    from tests.support.cast import Step
    from tests.support.house import House, Story
    from tests.support.model_asked import Asked
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


def by_the_file(story: Story) -> None:
    """In the place that the question's file has for it."""
    question = f"{story.agent}/_questions/q-001.md"
    text = story.tree.read(question)
    assert QUESTION in text
    head, _, rest = text.partition("answer:")
    line, _, below = rest.partition("\n")
    del line
    story.tree.write(question, f"{head}answer: {ANSWER}\n{below}")


def by_the_inbox(story: Story) -> None:
    """As a line of the inbox that names the question."""
    story.tree.append(f"{story.agent}/_inbox.md", f"q-001: {ANSWER}\n")


WAYS = pytest.mark.parametrize("way", [by_the_file, by_the_inbox])


def records(story: Story) -> list[tuple[str, str]]:
    """What was asked and answered, as the events have it."""
    found = story.tree.events(story.agent, "human.")
    return [(event["type"], event["data"]["text"]) for event in found]


@WAYS
def test_a_worker_asks_and_goes_on_with_the_answer(house: House, way: object) -> None:
    def sets_up(asked: Asked) -> Scripted:
        assert ANSWER in asked.result
        return [write("db.md", f"{ANSWER}\n"), call("publish", summary="Set up.")]

    assert callable(way)
    story = house.tell(
        f"worker-{way.__name__}".replace("_", "-"),
        coordinator=[
            call("create_work_node", id="database", task="Set up a database."),
            after("[node database completed", do=call("finish", summary="Set up.")),
        ],
        database=[ASK, sets_up],
    )
    story.until("waiting_for_human")
    assert story.tree.state(story.node("database")) == "waiting_for_human"
    assert QUESTION in story.tree.read(f"{story.agent}/_outbox.md")

    way(story)
    story.until("completed")
    assert story.tree.read(f"{story.node('database')}/published/db.md") == f"{ANSWER}\n"
    told = [("human.question", QUESTION), ("human.response", ANSWER)]
    assert records(story) == told
    assert "waiting" in story.kinds("database")
    story.check()


@WAYS
def test_the_coordinator_asks_and_is_told_the_answer(house: House, way: object) -> None:
    def goes_on(asked: Asked) -> Scripted:
        assert "asked as q-001" in asked.all_text
        return write("db.md", f"{ANSWER}\n")

    steps: list[Step] = [
        ASK,
        after(f"[answer to q-001] {ANSWER}", do=goes_on),
        call("finish", summary="Set up."),
    ]
    assert callable(way)
    story = house.tell(
        f"coordinator-{way.__name__}".replace("_", "-"), coordinator=steps
    )
    story.until("waiting_for_human")

    way(story)
    story.until("completed")
    assert story.tree.read(f"{story.run}/published/db.md") == f"{ANSWER}\n"
    told = [("human.question", QUESTION), ("human.response", ANSWER)]
    assert records(story) == told
    story.check()


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
