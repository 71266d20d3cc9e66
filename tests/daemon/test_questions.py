"""A question waits for its answer, wherever a person writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.scripts import (
    call,
    done,
    drop,
    publish,
    say,
    speak,
    told,
    when,
)

if TYPE_CHECKING:
    from tests.support.daemon import Daemon

ASK = "Should I use PostgreSQL or SQLite?"


def asking(daemon: Daemon, agent: str) -> None:
    """A coordinator that asks, parks, and ends once it is answered."""
    speak(
        daemon,
        agent,
        [
            when("answer to q-001", done("Answered.")),
            call("ask_human", question=ASK),
            say("I wait for the answer."),
        ],
    )
    drop(daemon, agent)


def test_an_answer_counts_wherever_it_is_written(daemon: Daemon) -> None:
    for agent in ("line", "prose", "chat"):
        asking(daemon, agent)
    for agent in ("line", "prose", "chat"):
        daemon.until_state(agent, "waiting_for_human")
        assert "q-001" in daemon.head(f"{agent}/_status.md")["waiting_for"]
        assert ASK in daemon.read(f"{agent}/_outbox.md")
        assert len(daemon.lines(f"{agent}/usage.jsonl")) == 2
    daemon.edit("line/_questions/q-001.md", "answer:", "answer: SQLite, by line")
    daemon.append("prose/_questions/q-001.md", "SQLite, by prose\n")
    daemon.append("chat/_inbox.md", "q-001: SQLite, by chat\n")
    for agent in ("line", "prose", "chat"):
        daemon.until_state(agent, "completed")
        assert told(daemon, agent).count(f"SQLite, by {agent}") == 1, agent
        assert len(daemon.events(agent, "human.response")) == 1


def test_a_worker_parks_with_its_question_while_the_others_go_on(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "worker",
        [
            when("node db completed", done()),
            call("create_work_node", id="db", task="DB.", worker="Bob"),
            call("create_work_node", id="ui", task="UI.", worker="Eve"),
        ],
        otherwise=say("Noted."),
        db=[call("ask_human", question=ASK), publish("DB")],
        ui=publish("UI"),
    )
    drop(daemon, "worker", max_workers=1)
    daemon.until_state("worker/runs/*/nodes/db", "waiting_for_human")
    daemon.until_state("worker/runs/*/nodes/ui", "completed")
    assert daemon.state("worker/runs/*/workers/Bob") == "waiting_for_human"
    daemon.until_state("worker", "waiting_for_human")
    daemon.append("worker/_inbox.md", "@Bob SQLite will do.\n")
    daemon.until_state("worker", "completed")
    answers = told(daemon, "worker/runs/*/workers/Bob", "tool")
    assert "SQLite will do." in answers


def test_two_answers_that_differ_count_for_nothing_until_one_is_left(
    daemon: Daemon,
) -> None:
    asking(daemon, "both")
    daemon.until_state("both", "waiting_for_human")
    page = daemon.read("both/_questions/q-001.md")
    daemon.write(
        "both/_questions/q-001.md",
        page.replace("answer:", "answer: SQLite") + "PostgreSQL\n",
    )
    daemon.until_there("both/_questions/q-001.md.error.md")
    assert "stays open" in daemon.read("both/_questions/q-001.md.error.md")
    assert daemon.state("both") == "waiting_for_human"
    daemon.write("both/_questions/q-001.md", page.replace("answer:", "answer: SQLite"))
    daemon.until_state("both", "completed")
    assert not daemon.there("both/_questions/q-001.md.error.md")
