"""Nodes and workers that a person writes, changes, stops and runs again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.scripts import (
    at_gate,
    call,
    calls,
    done,
    drop,
    gate,
    open_gate,
    publish,
    say,
    speak,
    told,
    when,
)

if TYPE_CHECKING:
    from tests.support.daemon import Daemon

RUN = "runs/*"


def run_of(daemon: Daemon, agent: str) -> str:
    """The path of an agent's one run."""
    return f"{agent}/runs/{daemon.names(f'{agent}/runs/*')[0]}"


def spec(daemon: Daemon, run: str, node: str, text: str, head: str = "") -> None:
    front = f"---\n{head}\n---\n" if head else ""
    daemon.write(f"{run}/nodes/{node}/_spec.md", f"{front}{text}\n")


def ended(daemon: Daemon, agent: str, **parts: object) -> str:
    """An agent whose run has ended, with models for the nodes to come; its run."""
    speak(daemon, agent, [done()], **parts)
    drop(daemon, agent)
    daemon.until_state(agent, "completed")
    return run_of(daemon, agent)


def test_a_spec_of_a_person_joins_the_board_of_a_running_run(daemon: Daemon) -> None:
    speak(
        daemon,
        "joins",
        [gate("go"), when("node mine completed", done()), say("I wait.")],
        mine=publish("M"),
    )
    drop(daemon, "joins")
    at_gate(daemon, "joins", "go")
    run = run_of(daemon, "joins")
    spec(daemon, run, "mine", "Write m.")
    daemon.until_state(f"{run}/nodes/mine", "completed")
    assert daemon.read(f"{run}/nodes/mine/published/a.md") == "M\n"
    assert daemon.events("joins", "node.created")[0]["data"]["by"] == "human"
    assert "mine" in daemon.read(f"{run}/_board.md")
    open_gate(daemon, "joins", "go")
    daemon.until_state("joins", "completed")
    assert "[node mine completed" in told(daemon, "joins")


def test_a_spec_in_an_ended_run_runs_without_waking_the_coordinator(
    daemon: Daemon,
) -> None:
    run = ended(daemon, "reopens", late=[gate("go"), publish("L")])
    spec(daemon, run, "late", "Write l.")
    at_gate(daemon, "reopens", "go")
    assert "status: reopened" in daemon.read(f"{run}/_run.yaml")
    open_gate(daemon, "reopens", "go")
    daemon.until(
        lambda: "status: completed" in daemon.read(f"{run}/_run.yaml"), "it ends again"
    )
    assert daemon.read(f"{run}/nodes/late/published/a.md") == "L\n"
    assert len(daemon.names("reopens/runs/*")) == 1
    mine = [c for c in daemon.lines("reopens/usage.jsonl") if not c.get("node")]
    assert len(mine) == 1, "the coordinator was not asked again"


def test_without_a_coordinator_people_make_the_nodes_and_the_run_ends(
    daemon: Daemon,
) -> None:
    speak(daemon, "alone", [], one=publish("1"), two=publish("2"))
    drop(daemon, "alone", coordinator=False)
    daemon.until_there("alone/runs/*/_run.yaml")
    run = run_of(daemon, "alone")
    spec(daemon, run, "two", "Two.", "depends_on: [one]")
    spec(daemon, run, "one", "One.")
    daemon.until_state(f"{run}/nodes/two", "completed")
    daemon.until_state("alone", "completed")
    spec(daemon, run, "one", "One, but better.")
    daemon.until(lambda: "stale" in daemon.read(f"{run}/_board.md"), "it is stale")


def test_a_changed_spec_counts_as_its_node_stands(daemon: Daemon) -> None:
    """Pending: the new text. Running: a diff. Failed: pending. Completed: stale."""
    speak(
        daemon,
        "changes",
        [
            calls(
                call("create_work_node", id="run", task="Paint it red."),
                call(
                    "create_work_node", id="wait", task="Old text.", depends_on=["run"]
                ),
                call("create_work_node", id="fail", task="Fail.", max_turns=2),
            ),
            when("answer to q-001|node fail completed", done()),
            when("node fail failed", call("ask_human", question="What now?")),
        ],
        otherwise=say("I wait."),
        run=[gate("go"), publish("R")],
        wait=publish("W"),
        fail=[
            call("list_files", path="scratch"),
            call("list_files", path="inputs"),
            publish("F"),
        ],
    )
    drop(daemon, "changes")
    at_gate(daemon, "changes", "go")
    run = run_of(daemon, "changes")
    daemon.until_state(f"{run}/nodes/fail", "failed")
    assert "turns" in daemon.head(f"{run}/nodes/fail/_status.md")["error"]
    daemon.edit(f"{run}/nodes/wait/_spec.md", "Old text.", "New text.")
    daemon.edit(f"{run}/nodes/run/_spec.md", "red", "green")
    daemon.edit(f"{run}/nodes/fail/_spec.md", "max_turns: 2", "max_turns: 9")
    daemon.edit(f"{run}/nodes/fail/_spec.md", "Fail.", "Try again.")
    daemon.until_state(f"{run}/nodes/fail", "completed")
    open_gate(daemon, "changes", "go")
    daemon.until_state("changes", "completed")
    painter = daemon.head(f"{run}/nodes/run/_status.md")["worker"]
    said = told(daemon, f"{run}/workers/{painter}")
    assert "-Paint it red." in said
    assert "+Paint it green." in said
    waiter = daemon.head(f"{run}/nodes/wait/_status.md")["worker"]
    assert "New text." in told(daemon, f"{run}/workers/{waiter}")
    assert "Old text." not in told(daemon, f"{run}/workers/{waiter}")
    daemon.edit(f"{run}/nodes/run/_spec.md", "green", "blue")
    daemon.until_event("changes", "node.stale", node="run")
    daemon.until(
        lambda: daemon.read(f"{run}/_board.md").count("stale") >= 2,
        "it and what depends on it show as stale",
    )


def test_stop_in_a_node_cancels_it_and_deleting_it_makes_it_pending(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "halt",
        [
            call("create_work_node", id="a", task="A."),
            when("node a completed", done()),
        ],
        otherwise=say("I wait."),
        a=[gate("go"), gate("go"), publish("A")],
    )
    drop(daemon, "halt")
    at_gate(daemon, "halt", "go")
    run = run_of(daemon, "halt")
    daemon.append("halt/_inbox.md", "q\n")
    (daemon.root / run / "nodes/a/STOP").touch()
    daemon.until_state(f"{run}/nodes/a", "cancelled")
    assert "STOP" in daemon.head(f"{run}/nodes/a/_status.md")["error"]
    daemon.until(
        lambda: "Cut off" in told(daemon, f"{run}/workers/worker-1", "tool"),
        "its command is ended",
    )
    open_gate(daemon, "halt", "go")
    (daemon.root / run / "nodes/a/STOP").unlink()
    daemon.until_state("halt", "completed")
    assert daemon.state(f"{run}/nodes/a") == "completed"


def test_rerun_runs_the_node_again_and_keeps_the_old_result(daemon: Daemon) -> None:
    run = ended(daemon, "again", a=[publish("one"), publish("two")])
    spec(daemon, run, "a", "Count.")
    daemon.until_state("again", "completed")
    daemon.until_state(f"{run}/nodes/a", "completed")
    speak(daemon, "again2", [])
    (daemon.root / run / "nodes/a/RERUN").touch()
    daemon.until_there(f"{run}/nodes/a/published.1")
    daemon.until_state("again", "completed")
    daemon.until_state(f"{run}/nodes/a", "completed")
    assert not daemon.there(f"{run}/nodes/a/RERUN")
    assert daemon.there(f"{run}/nodes/a/published/a.md")
    assert daemon.read(f"{run}/nodes/a/published.1/a.md") == "one\n"


def test_a_worker_of_a_person_works_and_a_retired_one_gets_no_new_work(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "staff",
        [gate("go"), when("node two completed", done()), say("I wait.")],
        one=publish("1"),
        two=publish("2"),
    )
    drop(daemon, "staff")
    at_gate(daemon, "staff", "go")
    run = run_of(daemon, "staff")
    daemon.write(
        f"{run}/workers/Zoe/identity.md", "---\nrole: poet\n---\nYou write in rhyme.\n"
    )
    daemon.until_state(f"{run}/workers/Zoe", "idle")
    spec(daemon, run, "one", "One.", "worker: Zoe")
    daemon.until_state(f"{run}/nodes/one", "completed")
    assert "You write in rhyme." in told(daemon, f"{run}/workers/Zoe", "system")
    daemon.edit(f"{run}/workers/Zoe/identity.md", "role: poet", "retired: true")
    daemon.until_state(f"{run}/workers/Zoe", "stopped")
    spec(daemon, run, "two", "Two.")
    daemon.until_state(f"{run}/nodes/two", "completed")
    assert daemon.head(f"{run}/nodes/two/_status.md")["worker"] != "Zoe"
    open_gate(daemon, "staff", "go")
    daemon.until_state("staff", "completed")


def test_stop_in_the_home_ends_the_run_and_its_deletion_starts_nothing(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "stop",
        [call("create_work_node", id="a", task="A."), say("I wait."), done()],
        a=[gate("go"), publish("A")],
    )
    drop(daemon, "stop")
    at_gate(daemon, "stop", "go")
    (daemon.root / "stop/STOP").touch()
    daemon.until_state("stop", "stopped")
    run = run_of(daemon, "stop")
    assert "status: stopped" in daemon.read(f"{run}/_run.yaml")
    assert daemon.state(f"{run}/nodes/a") == "cancelled"
    (daemon.root / "stop/STOP").unlink()
    speak(daemon, "beside", [done()])
    drop(daemon, "beside")
    daemon.until_state("beside", "completed")
    assert daemon.state("stop") == "stopped"
    assert daemon.state(f"{run}/nodes/a") == "cancelled"
    daemon.edit("stop/GOAL.md", "Do it.", "Do it after all.")
    daemon.until_state("stop", "completed")
    assert len(daemon.names("stop/runs/*")) == 2


def test_pause_holds_the_next_step_and_its_deletion_goes_on_there(
    daemon: Daemon,
) -> None:
    late = call("write_file", path="scratch/late.md", content="late")
    for agent in ("pause", "tree"):
        speak(daemon, agent, [calls(gate("go"), late), done()])
        drop(daemon, agent)
    for agent in ("pause", "tree"):
        at_gate(daemon, agent, "go")
    (daemon.root / "pause/PAUSE").touch()
    daemon.until_state("pause", "paused")
    open_gate(daemon, "pause", "go")
    daemon.until(lambda: "opened" in told(daemon, "pause", "tool"), "it is recorded")
    assert not daemon.there("pause/runs/*/scratch/late.md")
    (daemon.root / "PAUSE").touch()
    daemon.until_state("tree", "paused")
    (daemon.root / "pause/PAUSE").unlink()
    open_gate(daemon, "tree", "go")
    daemon.until(lambda: "opened" in told(daemon, "tree", "tool"), "it is recorded")
    daemon.append("tree/_inbox.md", "While you were paused.\n")
    daemon.until_event("tree", "message.sent")
    for agent in ("pause", "tree"):
        assert daemon.state(agent) == "paused"
        assert len(daemon.lines(f"{agent}/usage.jsonl")) == 1
        assert not daemon.there(f"{agent}/runs/*/scratch/late.md")
    (daemon.root / "PAUSE").unlink()
    for agent in ("pause", "tree"):
        daemon.until_state(agent, "completed")
        assert daemon.there(f"{agent}/runs/*/published/late.md")
    assert "While you were paused." in told(daemon, "tree")


def test_an_edited_memory_is_noticed_within_the_run(daemon: Daemon) -> None:
    speak(
        daemon,
        "memory",
        [gate("one"), gate("two"), call("memory_read", path="MEMORY.md"), done()],
    )
    drop(daemon, "memory")
    at_gate(daemon, "memory", "one")
    daemon.write("memory/MEMORY.md", "The door code is 4711.\n")
    open_gate(daemon, "memory", "one")
    at_gate(daemon, "memory", "two")
    # What was written after it is accepted: so the look has seen MEMORY.md, too.
    daemon.append("memory/_inbox.md", "hello\n")
    daemon.until_event("memory", "message.sent")
    open_gate(daemon, "memory", "two")
    daemon.until_state("memory", "completed")
    assert "MEMORY.md was edited by a person" in told(daemon, "memory")
    assert "4711" in told(daemon, "memory", "tool")
