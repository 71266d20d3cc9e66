"""Folders that are moved, copied, synced and adopted, each as a person does it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import yaml

from tests.support.daemon import Daemon
from tests.support.scripts import (
    at_gate,
    call,
    done,
    drop,
    gate,
    open_gate,
    speak,
    told,
)
from tests.support.trees import contents

if TYPE_CHECKING:
    from pathlib import Path


def owner(daemon: Daemon, agent: str) -> dict[str, object]:
    return dict(yaml.safe_load(daemon.read(f"{agent}/_owner.yaml")))


def claim(daemon: Daemon, agent: str, **changes: object) -> None:
    """Write an owner file as a sync tool brings it from somewhere else."""
    said = owner(daemon, agent) | changes
    daemon.write(f"{agent}/_owner.yaml", yaml.safe_dump(said, sort_keys=False))


def test_the_first_daemon_that_runs_an_agent_is_on_record_before_its_run(
    daemon: Daemon,
) -> None:
    speak(daemon, "first", [done()])
    drop(daemon, "first")
    daemon.until_state("first", "completed")
    said = owner(daemon, "first")
    assert list(said) == ["host", "place", "agent", "epoch", "since", "machine"]
    assert said["place"] == str(daemon.root)
    assert said["agent"] == "first"
    assert said["epoch"] == 1
    home = daemon.root / "first"
    record = home / "_owner.yaml"
    run = next(home.glob("runs/*"))
    assert record.stat().st_mtime_ns <= (run / "_output.md").stat().st_mtime_ns


def test_a_renamed_agent_goes_on_at_the_same_step(daemon: Daemon) -> None:
    speak(daemon, "before", [gate("never"), done("It is done.")])
    drop(daemon, "before")
    at_gate(daemon, "before", "never")
    (daemon.root / "before").rename(daemon.root / "after")
    daemon.until_state("after", "completed")
    assert owner(daemon, "after")["agent"] == "after"
    assert not daemon.there("before")
    assert len(daemon.names("after/runs/*")) == 1
    assert "Cut off" in told(daemon, "after", "tool") or "unknown" in told(
        daemon, "after", "tool"
    )
    assert "It is done." in daemon.read("after/runs/*/_output.md")


def test_a_copy_of_an_agent_at_work_is_another_agent_with_the_same_past(
    daemon: Daemon,
) -> None:
    speak(
        daemon,
        "parent",
        [
            gate("go"),
            done("The parent is done."),
            done("The child is done."),
        ],
    )
    drop(daemon, "parent")
    at_gate(daemon, "parent", "go")
    subprocess.run(["cp", "-r", "parent", "child"], cwd=daemon.root, check=True)
    daemon.until_state("child", "forked")
    assert owner(daemon, "child")["agent"] == "child"
    assert owner(daemon, "parent")["agent"] == "parent"
    run = yaml.safe_load(daemon.read("child/runs/*/_run.yaml"))
    assert run["status"] == "forked"
    assert "Not done here" in told(daemon, "child", "tool")
    assert daemon.state("parent") == "working"
    open_gate(daemon, "parent", "go")
    daemon.until_state("parent", "completed")
    assert "The parent is done." in daemon.read("parent/runs/*/_output.md")
    assert daemon.state("child") == "forked"
    assert len(daemon.lines("child/usage.jsonl")) == 1  # the parent's first call

    daemon.edit("child/GOAL.md", "Do it.", "Do something else.")
    daemon.until_state("child", "completed")
    runs = daemon.names("child/runs/*")
    assert len(runs) == 2
    assert daemon.read(f"child/runs/{runs[1]}/_output.md")


def test_a_copy_of_a_finished_agent_rests_until_it_is_given_a_goal(
    daemon: Daemon,
) -> None:
    speak(daemon, "done", [done(), done("Twice.")])
    drop(daemon, "done")
    daemon.until_state("done", "completed")
    shutil.copytree(daemon.root / "done", daemon.root / "twin")
    time.sleep(3)  # nothing is waited for: that nothing happens
    assert len(daemon.names("twin/runs/*")) == 1
    daemon.edit("twin/GOAL.md", "Do it.", "Do it again.")
    daemon.until(lambda: len(daemon.names("twin/runs/*")) == 2, "a run of its own")
    daemon.until_state("twin", "completed")
    assert owner(daemon, "twin")["agent"] == "twin"
    assert owner(daemon, "done")["agent"] == "done"


def test_an_agent_of_another_machine_is_not_touched_until_it_is_adopted(
    daemon: Daemon,
) -> None:
    speak(daemon, "guest", [gate("go"), done("Done at home.")])
    drop(daemon, "guest")
    at_gate(daemon, "guest", "go")
    shutil.copytree(daemon.root / "guest", daemon.home / "guest")
    said = owner(daemon, "guest") | {"host": "another", "machine": "laptop"}
    (daemon.home / "guest/_owner.yaml").write_text(yaml.safe_dump(said))
    open_gate(daemon, "guest", "go")
    daemon.until_state("guest", "completed")

    (daemon.home / "guest").rename(daemon.root / "synced")
    before = contents(daemon.root / "synced")
    daemon.until(lambda: "synced: it is run elsewhere" in daemon.told(), "it is told")
    daemon.append("synced/_inbox.md", "Are you there?\n")
    time.sleep(1)
    assert contents(daemon.root / "synced") == before | {
        "_inbox.md": (daemon.root / "synced/_inbox.md").read_bytes()
    }
    code, page, _ = daemon.run("status", "synced")
    assert code == 0
    assert "elsewhere" in page
    assert "laptop" in page
    assert "agiraph adopt synced" in page

    code, _, words = daemon.run("adopt", "synced")
    assert code == 0, words
    assert owner(daemon, "synced")["epoch"] == 2
    daemon.until_state("synced", "completed")
    assert "unknown" in told(daemon, "synced", "tool")
    assert "Are you there?" in told(daemon, "synced")


def test_adopting_what_is_here_already_is_refused_politely(daemon: Daemon) -> None:
    speak(daemon, "mine", [done()])
    drop(daemon, "mine")
    daemon.until_state("mine", "completed")
    before = daemon.read("mine/_owner.yaml")
    code, _, words = daemon.run("adopt", "mine")
    assert code == 1
    assert "mine is run here already" in words
    assert daemon.read("mine/_owner.yaml") == before


def test_who_is_at_work_lets_go_when_another_machine_adopts_the_agent(
    daemon: Daemon,
) -> None:
    speak(daemon, "leaving", [gate("never"), done()])
    drop(daemon, "leaving")
    at_gate(daemon, "leaving", "never")
    claim(daemon, "leaving", host="another", machine="laptop", epoch=2)
    daemon.until(lambda: "leaving: it is run elsewhere" in daemon.told(), "it lets go")
    before = contents(daemon.root / "leaving")
    open_gate(daemon, "leaving", "never")
    time.sleep(1)
    now = contents(daemon.root / "leaving")
    now.pop("inputs/never")
    assert now == before


def test_two_live_epochs_pause_and_ask(daemon: Daemon) -> None:
    speak(daemon, "torn", [gate("go"), call("list_files", path="."), done()])
    drop(daemon, "torn")
    at_gate(daemon, "torn", "go")
    claim(daemon, "torn", host="another", machine="laptop")
    daemon.until(lambda: "two machines run this agent" in daemon.told(), "it is told")
    open_gate(daemon, "torn", "go")
    daemon.until_state("torn", "held")
    assert "agiraph adopt torn" in daemon.head("torn/_status.md")["waiting_for"]
    assert len(daemon.lines("torn/usage.jsonl")) == 1
    code, _, words = daemon.run("adopt", "torn")
    assert code == 0, words
    daemon.until_state("torn", "completed")
    assert owner(daemon, "torn")["epoch"] == 2


def test_an_owner_file_that_cannot_be_read_stops_that_agent_alone(
    daemon: Daemon,
) -> None:
    speak(daemon, "odd", [done()])
    speak(daemon, "even", [done()])
    (daemon.root / "odd").mkdir()
    daemon.write("odd/_owner.yaml", "host: a\nplace: [\n")
    drop(daemon, "odd")
    page = daemon.until_there("odd/_owner.yaml.error.md")
    assert "nothing" in page.read_text()
    daemon.until_state("odd", "broken")
    drop(daemon, "even")
    daemon.until_state("even", "completed")
    assert not daemon.there("odd/runs")
    (daemon.root / "odd/_owner.yaml").unlink()
    daemon.until_state("odd", "completed")
    assert not daemon.there("odd/_owner.yaml.error.md")


def test_a_tree_that_was_moved_goes_on_and_one_that_was_copied_does_not(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {}) as daemon:
        speak(daemon, "news", [gate("go"), done("Home at last.")])
        drop(daemon, "news")
        at_gate(daemon, "news", "go")
        daemon.kill()
        shutil.copytree(daemon.root, tmp_path / "copy/agents", symlinks=True)
        (tmp_path / "moved").mkdir()
        daemon.root.rename(tmp_path / "moved/agents")
        for name in ("copy", "moved"):
            os.symlink(tmp_path / "scripts", tmp_path / name / "scripts")
        (tmp_path / "moved/agents").rename(daemon.root)

        with Daemon(tmp_path / "copy", {}) as copied:
            words = "news: it is run elsewhere"
            copied.until(lambda: words in copied.told(), "it is left alone")
        daemon.root.rename(tmp_path / "moved/agents")
        with Daemon(tmp_path / "moved", {}) as moved:
            moved.until_state("news", "completed")
            assert owner(moved, "news")["place"] == str(moved.root)
            assert "Home at last." in moved.read("news/runs/*/_output.md")
        daemon.root.mkdir()
