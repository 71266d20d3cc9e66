"""What a changed GOAL.md does: during its run, after it, and to the settings."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from tests.support.scripts import (
    at_gate,
    call,
    calls,
    done,
    drop,
    gate,
    goal,
    open_gate,
    publish,
    speak,
    told,
    when,
)

if TYPE_CHECKING:
    from tests.support.daemon import Daemon


def runs(daemon: Daemon, agent: str) -> list[str]:
    return daemon.names(f"{agent}/runs/*")


def accepted(daemon: Daemon, path: str) -> int:
    """How many versions of a file were accepted."""
    found = daemon.events(path.partition("/")[0], "file.changed")
    return sum(event["data"]["path"] == path for event in found)


def test_a_goal_changed_during_the_run_reaches_the_coordinator_as_a_diff(
    daemon: Daemon,
) -> None:
    late = call("write_file", path="scratch/late.md", content="late")
    speak(daemon, "during", [calls(gate("go"), late), done()])
    drop(daemon, "during", "Bring red apples.\nAnd wash them.")
    at_gate(daemon, "during", "go")
    daemon.edit("during/GOAL.md", "red", "green")
    daemon.until(lambda: accepted(daemon, "during/GOAL.md") == 2, "it is accepted")
    open_gate(daemon, "during", "go")
    daemon.until_state("during", "completed")
    said = told(daemon, "during")
    assert "-Bring red apples." in said
    assert "+Bring green apples." in said
    assert "the goal was changed by a person" in said
    assert "put off by the person" in told(daemon, "during", "tool")
    assert not daemon.there("during/runs/*/published/late.md")
    assert len(runs(daemon, "during")) == 1
    record = daemon.read("during/runs/*/_run.yaml")
    assert "green" in record


def test_a_goal_changed_after_the_run_opens_another_and_the_conversation_goes_on(
    daemon: Daemon,
) -> None:
    speak(daemon, "after", [done("First is done."), done("Second is done.")])
    drop(daemon, "after", "First.")
    daemon.until_state("after", "completed")
    daemon.edit("after/GOAL.md", "First.", "Second.")
    daemon.until(lambda: len(runs(daemon, "after")) == 2, "a second run")
    second = f"after/runs/{runs(daemon, 'after')[1]}"
    daemon.until_there(f"{second}/_output.md")
    daemon.until_state("after", "completed")
    assert "Second is done." in daemon.read(f"{second}/_output.md")
    said = told(daemon, "after")
    assert "First." in said
    assert "Second." in said
    assert len(daemon.lines("after/conversation.jsonl")) == 7  # one session


def test_a_goal_saved_unchanged_does_nothing(daemon: Daemon) -> None:
    speak(daemon, "same", [done()])
    drop(daemon, "same")
    daemon.until_state("same", "completed")
    daemon.until(lambda: accepted(daemon, "same/SOUL.md"), "its SOUL.md is known")
    before = daemon.read("same/events.jsonl")
    path = daemon.root / "same/GOAL.md"
    daemon.write("same/GOAL.md", path.read_text())
    path.write_text(path.read_text())
    os.utime(path)
    speak(daemon, "marker", [done()])
    drop(daemon, "marker")
    daemon.until_state("marker", "completed")
    time.sleep(0.5)  # nothing is waited for: that nothing happens
    assert daemon.read("same/events.jsonl") == before
    assert len(runs(daemon, "same")) == 1
    assert len(daemon.lines("same/usage.jsonl")) == 1


def test_another_run_number_opens_a_run_with_the_same_goal(daemon: Daemon) -> None:
    speak(daemon, "number", [done(), done()])
    drop(daemon, "number", "Again and again.")
    daemon.until_state("number", "completed")
    daemon.write("number/GOAL.md", goal("number", "Again and again.", run=2))
    daemon.until(lambda: len(runs(daemon, "number")) == 2, "a second run")
    daemon.until_there(f"number/runs/{runs(daemon, 'number')[1]}/_output.md")
    assert told(daemon, "number").count("Again and again.") == 2


def test_more_workers_are_allowed_from_the_moment_the_file_says_so(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "hands",
        [
            calls(
                call("create_work_node", id="one", task="One."),
                call("create_work_node", id="two", task="Two."),
            ),
            call("wait", nodes=["one", "two"]),
            done(),
        ],
        one=[gate("one"), publish("1")],
        two=[gate("two"), publish("2")],
    )
    drop(daemon, "hands", max_workers=1)
    daemon.until_state("hands/runs/*/nodes/one", "running")
    assert daemon.state("hands/runs/*/nodes/two") == "pending"
    daemon.write("hands/GOAL.md", goal("hands", "Do it.", max_workers=2))
    daemon.until_state("hands/runs/*/nodes/two", "running")
    open_gate(daemon, "hands", "one")
    open_gate(daemon, "hands", "two")
    daemon.until_state("hands", "completed")
    assert len(runs(daemon, "hands")) == 1


def test_a_budget_that_is_reached_holds_the_work_until_it_is_raised(
    daemon: Daemon,
) -> None:
    speak(daemon, "poor", [done("Rich at last.")])
    drop(daemon, "poor", budget={"tokens": 100})
    daemon.until_state("poor", "held")
    waits = str(daemon.head("poor/_status.md")["waiting_for"])
    assert "budget" in waits
    assert "tokens" in waits
    assert not daemon.there("poor/usage.jsonl")
    daemon.write("poor/GOAL.md", goal("poor", "Do it.", budget={"tokens": 1_000_000}))
    daemon.until_state("poor", "completed")
    assert len(daemon.events("poor", "budget.reached")) == 1


def test_a_deleted_goal_ends_the_loops_and_a_returned_one_goes_on(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "away",
        [
            call("create_work_node", id="a", task="A."),
            call("wait"),
            done("Home again."),
        ],
        a=[
            gate("go"),
            when("Cut off|unknown", call("bash", command="echo b")),
            publish("A"),
        ],
    )
    drop(daemon, "away")
    at_gate(daemon, "away", "go")
    text = daemon.read("away/GOAL.md")
    (daemon.root / "away/GOAL.md").unlink()
    daemon.until(
        lambda: "Cut off" in told(daemon, "away/runs/*/workers/*", "tool"),
        "its command is ended",
    )
    daemon.until_state("away", "held")
    assert "GOAL.md" in daemon.head("away/_status.md")["waiting_for"]
    assert not daemon.there("away/GOAL.md")
    assert "status: open" in daemon.read("away/runs/*/_run.yaml")
    open_gate(daemon, "away", "go")
    daemon.write("away/GOAL.md", text)
    daemon.until_state("away", "completed")
    assert len(runs(daemon, "away")) == 1
    assert "Home again." in daemon.read("away/runs/*/_output.md")


def test_a_goal_deleted_for_a_moment_as_editors_do_changes_nothing(
    daemon: Daemon,
) -> None:
    speak(daemon, "blink", [gate("go"), done()])
    drop(daemon, "blink")
    at_gate(daemon, "blink", "go")
    path = daemon.root / "blink/GOAL.md"
    path.rename(daemon.root / "blink/GOAL.md~")
    time.sleep(1.0)
    (daemon.root / "blink/GOAL.md~").rename(path)
    open_gate(daemon, "blink", "go")
    daemon.until_state("blink", "completed")
    assert "opened" in told(daemon, "blink", "tool")


def test_a_deleted_home_is_never_made_again_and_a_returned_one_goes_on(
    daemon: Daemon,
) -> None:
    agents = ("gone", "moved")
    for agent in agents:
        speak(
            daemon,
            agent,
            [
                call("create_work_node", id="a", task="A."),
                call("wait"),
                done("Home again."),
            ],
            a=[gate("go"), publish("A")],
        )
        drop(daemon, agent)
    for agent in agents:
        at_gate(daemon, agent, "go")
    away = daemon.home / "moved"
    (daemon.root / "moved").rename(away)
    (daemon.root / "gone").rename(daemon.home / "gone")
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        assert not (daemon.root / "gone").exists()
        assert not (daemon.root / "moved").exists()
        time.sleep(0.05)
    (away / "inputs/go").touch()
    away.rename(daemon.root / "moved")
    daemon.until_state("moved", "completed")
    assert len(runs(daemon, "moved")) == 1
    assert not (daemon.root / "gone").exists()
