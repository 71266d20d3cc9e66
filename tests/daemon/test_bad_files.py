"""A bad file hurts only itself, and is told in words that help."""

from __future__ import annotations

import os
import shutil
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import Daemon
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
    say,
    speak,
    told,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Bad:
    """One kind of bad file: how it is made, and what a person must be told of it."""

    name: str
    make: Callable[[Path], object]
    words: tuple[str, ...]


def words(written: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(written, "utf-8")


def raw(written: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(written)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "mine.txt").write_text("a person's own\n")


def device(path: Path) -> None:
    os.mknod(path, 0o20666, os.makedev(1, 3))


# What is wrong with any file of a person, whatever it should hold.
UNREADABLE = (
    Bad("binary", raw(b"\x7fELF\x00\x01\x02" * 99), ("NUL byte", "text")),
    Bad("latin", raw("Gr\u00fc\u00dfe an alle".encode("latin-1")), ("UTF-8", "Line 1")),
    Bad("huge", raw(b"All work and no play.\n" * 1_400_000), ("bytes", "at most")),
    Bad("folder", folder, ("folder", "regular file")),
    Bad("fifo", os.mkfifo, ("regular file",)),
    Bad("dangling", lambda path: path.symlink_to("nowhere"), ("link", "regular file")),
    Bad("linked", lambda path: path.symlink_to("/etc/passwd"), ("link", "regular")),
    Bad(
        "conflict", words("A\n<<<<<<< HEAD\nB\n=======\nC\n>>>>>>> x\n"), ("conflict",)
    ),
)
# What is wrong with a GOAL.md.
UNFIT = (
    Bad("yaml", words("---\nmodel: [a\nmode: finite\n---\nText.\n"), ("Line 3",)),
    Bad(
        "types",
        words("---\nmode: finite\nmax_workers: many\n---\nText.\n"),
        ("Line 3, column 14", "many", "whole number"),
    ),
    Bad("unended", words("---\nmode: finite\nText.\n"), ("---",)),
    Bad("empty", words(""), ("no text", "the goal, in words")),
    Bad("bodiless", words("---\nmode: finite\n---\n"), ("no text", "the goal")),
)


def clear(path: Path) -> None:
    """Take away what is there, as a person would before putting the right thing."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(path.name + ".old"))
    else:
        path.unlink()


def error_of(daemon: Daemon, path: str, words: tuple[str, ...]) -> str:
    daemon.until_there(f"{path}.error.md")
    page = daemon.read(f"{path}.error.md")
    for word in words:
        assert word in page, f"{word!r} is not in the words on {path}: {page}"
    assert "Traceback" not in page
    return page


def test_a_goal_that_cannot_be_read_is_told_and_starts_when_it_is_mended(
    daemon: Daemon,
) -> None:
    kinds = (*UNREADABLE, *UNFIT)
    for bad in kinds:
        speak(daemon, bad.name, [done()])
        (daemon.root / bad.name).mkdir()
        bad.make(daemon.root / bad.name / "GOAL.md")
    speak(daemon, "sound", [done()])
    drop(daemon, "sound")
    daemon.until_state("sound", "completed")
    for bad in kinds:
        page = error_of(daemon, f"{bad.name}/GOAL.md", bad.words)
        assert "nothing; the agent does not start" in page
        daemon.until_state(bad.name, "broken")
        assert "GOAL.md.error.md" in daemon.head(f"{bad.name}/_status.md")["error"]
        assert not daemon.there(f"{bad.name}/runs")
    assert (daemon.root / "folder/GOAL.md/mine.txt").read_text() == "a person's own\n"
    assert not (daemon.root / "dangling/nowhere").exists()
    for bad in kinds:
        clear(daemon.root / bad.name / "GOAL.md")
        daemon.write(f"{bad.name}/GOAL.md", goal(bad.name, "Do it."))
    for bad in kinds:
        daemon.until_state(bad.name, "completed")
        assert not daemon.there(f"{bad.name}/GOAL.md.error.md"), bad.name
        assert len(daemon.names(f"{bad.name}/runs/*")) == 1
        mended = daemon.events(bad.name, "file.mended")
        assert [event["data"]["path"] for event in mended] == [f"{bad.name}/GOAL.md"]


def test_a_device_in_place_of_a_goal_is_told(daemon: Daemon) -> None:
    (daemon.root / "device").mkdir()
    try:
        device(daemon.root / "device/GOAL.md")
    except PermissionError:
        pytest.skip("device nodes may not be made here")
    error_of(daemon, "device/GOAL.md", ("device", "regular file"))


def test_a_goal_that_turns_bad_leaves_the_last_good_one_in_force(
    daemon: Daemon,
) -> None:
    speak(daemon, "turns", [gate("go"), done()])
    drop(daemon, "turns")
    at_gate(daemon, "turns", "go")
    good = daemon.read("turns/GOAL.md")
    daemon.write("turns/GOAL.md", good.replace("reflection: false", "reflection: 7"))
    page = error_of(daemon, "turns/GOAL.md", ("reflection", "7", "Line"))
    assert "the last good version" in page
    open_gate(daemon, "turns", "go")
    daemon.until_state("turns", "completed")
    daemon.write("turns/GOAL.md", good)
    daemon.until(
        lambda: not daemon.there("turns/GOAL.md.error.md"), "the error is gone"
    )
    assert len(daemon.names("turns/runs/*")) == 1


def test_an_unknown_key_is_accepted_and_the_nearest_known_one_is_named(
    daemon: Daemon,
) -> None:
    speak(daemon, "typo", [done()])
    drop(daemon, "typo", max_wokers=3)
    daemon.until_state("typo", "completed")
    daemon.until(lambda: "max_wokers" in daemon.log.read_text(), "it is remarked")
    line = next(x for x in daemon.log.read_text().splitlines() if "max_wokers" in x)
    assert "typo/GOAL.md, line" in line
    assert "max_workers" in line


def test_other_files_that_cannot_be_read_stop_nothing(daemon: Daemon) -> None:
    """triggers.yaml, SOUL.md, the inbox and agiraph.yaml, one kind after another."""
    names = ("triggers.yaml", "SOUL.md", "_inbox.md")
    for bad in UNREADABLE:
        agent = f"other-{bad.name}"
        speak(daemon, agent, [done()])
        (daemon.root / agent).mkdir()
        for name in names:
            bad.make(daemon.root / agent / name)
        drop(daemon, agent)
    for bad in UNREADABLE:
        agent = f"other-{bad.name}"
        daemon.until_state(agent, "completed")
        for name in names:
            if bad.name == "huge" and name == "_inbox.md":
                continue  # 8 MiB are read of an inbox: its words are the next test's
            error_of(daemon, f"{agent}/{name}", bad.words)
        for name in names:
            clear(daemon.root / agent / name)
            daemon.write(f"{agent}/{name}", "")
    for bad in UNREADABLE:
        for name in names:
            daemon.until(
                lambda page=f"other-{bad.name}/{name}.error.md": not daemon.there(page),
                f"the error file of {bad.name}/{name} is gone",
            )


def test_bad_settings_of_the_tree_leave_those_in_force(daemon: Daemon) -> None:
    daemon.write("agiraph.yaml", "max_agents: 7\n")
    kept = ".agiraph/agiraph.yaml"
    daemon.until(lambda: daemon.read(kept) == "max_agents: 7\n", "it is in force")
    daemon.write("agiraph.yaml", "max_agents: lots\n")
    error_of(daemon, "agiraph.yaml", ("Line 1", "lots", "whole number"))
    speak(daemon, "settings", [done()])
    drop(daemon, "settings")
    daemon.until_state("settings", "completed")
    daemon.write("agiraph.yaml", "max_agents: 8\n")
    daemon.until(lambda: not daemon.there("agiraph.yaml.error.md"), "it is gone")


def test_bad_settings_of_the_tree_stay_out_of_force_over_a_restart(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {}) as daemon:
        assert daemon.stop() == 0
        bad = "model: scripted/scripts/one.yaml\nbudget: {usd_per_day: ten}\n"
        daemon.write("agiraph.yaml", bad)
        shutil.rmtree(daemon.root / ".agiraph")  # no good version is known
        speak(daemon, "one", [done()])
        daemon.write("one/GOAL.md", "Do it.\n")
        daemon.start()
        daemon.until_state("one", "held")
        assert "agiraph.yaml" in daemon.head("one/_status.md")["waiting_for"]
        daemon.write("agiraph.yaml", bad.replace("ten", "10"))
        daemon.until_state("one", "completed")

        assert daemon.stop() == 0
        daemon.write("agiraph.yaml", "budget: [\n")
        daemon.write("two/GOAL.md", "Do it.\n")
        daemon.start()
        daemon.until_state("two", "completed")
        model = daemon.head("two/_status.md")["model"]
        assert model == "scripted/scripts/one.yaml"  # the last good version's
        error_of(daemon, "agiraph.yaml", ("broken YAML", "the last good version"))
        (daemon.root / "agiraph.yaml").unlink()
        daemon.until(lambda: not daemon.there("agiraph.yaml.error.md"), "it is gone")


def test_a_bad_trigger_and_a_bad_identity_are_told_with_their_place(
    daemon: Daemon,
) -> None:
    speak(daemon, "places", [gate("go"), done()])
    drop(daemon, "places")
    at_gate(daemon, "places", "go")
    daemon.write("places/triggers.yaml", "- id: a\n  type: sometimes\n")
    error_of(daemon, "places/triggers.yaml", ("Line 2", "sometimes", "scheduled"))
    run = f"places/runs/{daemon.names('places/runs/*')[0]}"
    daemon.write(f"{run}/workers/Zoe/identity.md", "---\nretired: perhaps\n---\nZ\n")
    error_of(daemon, f"{run}/workers/Zoe/identity.md", ("Line 2", "perhaps"))
    open_gate(daemon, "places", "go")
    daemon.until_state("places", "completed")


def test_bad_specs_hold_back_only_themselves(daemon: Daemon) -> None:
    speak(
        daemon,
        "specs",
        [
            calls(gate("go"), call("check_board")),
            when("node round completed", done()),
        ],
        otherwise=say("I wait."),
        fine=publish("F"),
        ghostly=publish("G"),
        ghost=publish("B"),
        turn=publish("T"),
    )
    drop(daemon, "specs")
    at_gate(daemon, "specs", "go")
    run = f"specs/runs/{daemon.names('specs/runs/*')[0]}"
    nodes = daemon.root / run / "nodes"
    for bad in (*UNREADABLE, *UNFIT[:1]):
        (nodes / bad.name).mkdir()
        bad.make(nodes / bad.name / "_spec.md")
    for node, head in {
        "ghostly": "depends_on: [ghost]",
        "turn": "depends_on: [round]",
        "round": "depends_on: [turn]",
        "fine": "max_turns: 9",
    }.items():
        daemon.write(f"{run}/nodes/{node}/_spec.md", f"---\n{head}\n---\nDo it.\n")
    daemon.until_state(f"{run}/nodes/fine", "completed")
    for bad in (*UNREADABLE, *UNFIT[:1]):
        page = error_of(daemon, f"{run}/nodes/{bad.name}/_spec.md", bad.words)
        assert "it is not on the board" in page
    daemon.until(lambda: "'ghost'" in daemon.read(f"{run}/_board.md"), "the ghost")
    board = daemon.read(f"{run}/_board.md")
    assert "it depends on 'ghost', which does not exist" in board
    assert "in a circle: " in board
    daemon.write(f"{run}/nodes/ghost/_spec.md", "Boo.\n")
    daemon.until_state(f"{run}/nodes/ghostly", "completed")
    open_gate(daemon, "specs", "go")
    daemon.until(
        lambda: "cannot start" in told(daemon, "specs"), "the coordinator is told"
    )
    daemon.write(f"{run}/nodes/turn/_spec.md", "Turn alone.\n")
    daemon.until_state("specs", "completed")
    assert daemon.state(f"{run}/nodes/turn") == "completed"
    # A bad version of a spec that was accepted, and the same text again.
    good = daemon.read(f"{run}/nodes/fine/_spec.md")
    daemon.write(f"{run}/nodes/fine/_spec.md", good.replace("9", "nine"))
    error_of(daemon, f"{run}/nodes/fine/_spec.md", ("nine", "the last good version"))
    daemon.write(f"{run}/nodes/fine/_spec.md", good)
    daemon.until(
        lambda: not daemon.there(f"{run}/nodes/fine/_spec.md.error.md"), "it is mended"
    )
    assert daemon.state(f"{run}/nodes/fine") == "completed"


def test_names_in_any_script_are_agents_and_others_are_left_alone_in_words(
    daemon: Daemon,
) -> None:
    good = ("two words", "-dash", "日本語", "Ünïcode", "a.b", "x" * 64, "Ωmega-1")
    bad = ("colon: here", "a*b", "y" * 65, unicodedata.normalize("NFD", "é-agent"))
    speak(daemon, "any", [done()])
    for agent in (*good, *bad):
        (daemon.root / agent).mkdir()
        text = goal("any", "Do it.")
        daemon.root.joinpath(agent, "GOAL.md").write_text(text, "utf-8")
    for agent in good:
        daemon.until_state(agent, "completed")
    for agent in bad:
        daemon.until(
            lambda agent=agent: repr(agent) in daemon.log.read_text("utf-8"),
            f"the daemon names {agent!r}",
        )
        assert sorted(os.listdir(daemon.root / agent)) == ["GOAL.md"]
    for agent in (".hidden", "_private", "Twin"):
        (daemon.root / agent).mkdir()
        daemon.write(f"{agent}/GOAL.md", goal("any", "Do it."))
    daemon.until_state("Twin", "completed")
    (daemon.root / "twin").mkdir()
    daemon.write("twin/GOAL.md", goal("any", "Do it."))
    said = "'twin' is left alone: 'Twin' has that name"
    daemon.until(lambda: said in daemon.log.read_text("utf-8"), "the twin is named")
    assert sorted(os.listdir(daemon.root / "twin")) == ["GOAL.md"]
    for agent in (".hidden", "_private"):
        assert sorted(os.listdir(daemon.root / agent)) == ["GOAL.md"]
