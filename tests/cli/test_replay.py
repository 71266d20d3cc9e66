"""A recorded run goes through again, in a fresh tree, and says where it departs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """\
coordinator:
  - call: {read_file: {path: inputs/lamps.txt}}
  - call: {create_work_node: {id: n, task: Write it down.}}
  - call: {wait: {}}
  - call: {finish: {summary: It is written.}}
n:
  - calls:
      - {name: write_file, arguments: {path: scratch/a.md, content: Lamps}}
      - {name: publish, arguments: {summary: written}}
"""


def agiraph(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(PROJECT),
        "HOME": str(tree.parent),
        "AGIRAPH_AGENTS": str(tree),
    }
    return subprocess.run(
        [sys.executable, "-m", "agiraph", *words],
        env=environment,
        cwd=tree.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with one run on record."""
    made = tmp_path_factory.mktemp("recorded") / "agents"
    (made / "a" / "inputs").mkdir(parents=True)
    (made.parent / "script.yaml").write_text(SCRIPT)
    (made / "a" / "inputs" / "lamps.txt").write_text("Oil.\n")
    head = "model: scripted/script.yaml\nreflection: false\n"
    (made / "a" / "GOAL.md").write_text(f"---\n{head}---\nAbout lamps.\n")
    assert agiraph(made, "run", "a").returncode == 0
    (made.parent / "script.yaml").unlink()  # nobody else can answer now
    return made


def test_a_replay_goes_the_way_of_the_record(tree: Path, tmp_path: Path) -> None:
    kept = tmp_path / "again"
    page = agiraph(tree, "replay", "a", "--keep", str(kept))

    assert page.returncode == 0, page.stdout + page.stderr
    assert "recorded completed, now completed" in page.stdout
    assert "Every result was as recorded." in page.stdout
    (written,) = kept.glob("a/runs/*/nodes/n/published/a.md")
    assert written.read_text() == "Lamps"
    lines = (kept / "a" / "usage.jsonl").read_text().splitlines()
    assert {json.loads(line)["cost_usd"] for line in lines} == {0.0}


def test_where_the_world_has_changed_a_replay_says_so(tree: Path) -> None:
    lamps = tree / "a" / "inputs" / "lamps.txt"
    before = lamps.read_text()
    lamps.write_text("Gas.\n")
    try:
        page = agiraph(tree, "replay", "a", "--json")
    finally:
        lamps.write_text(before)

    assert page.returncode == 1
    (one,) = json.loads(page.stdout)["departures"]
    assert (one["who"], one["turn"]) == ("coordinator", 1)
    assert "Oil." in one["recorded"]
    assert "Gas." in one["now"]


def test_a_run_that_was_never_recorded_is_not_replayed(tree: Path) -> None:
    page = agiraph(tree, "replay", "a", "1999-01-01-01")
    assert page.returncode == 3


def test_of_a_run_that_was_put_away_it_says_how_to_bring_it_back(tree: Path) -> None:
    away = tree / "a" / "_archive" / "1999-01-02-01.tar.gz"
    away.parent.mkdir()
    away.write_bytes(b"")
    page = agiraph(tree, "replay", "a", "1999-01-02-01")
    assert page.returncode == 3
    assert f"tar xzf {away} -C {tree / 'a' / 'runs'}" in page.stderr


SPOKEN = """\
coordinator:
  - call: {ask_human: {question: "Which colour?"}}
  - call: {create_work_node: {id: n, task: Write it down.}}
  - text: I wait for the colour.
  - text: I heard you.
  - call: {wait: {}}
  - call: {finish: {summary: It is written.}}
n:
  - call: {ask_human: {question: "How long?"}}
  - calls:
      - {name: write_file, arguments: {path: scratch/a.md, content: Lamps}}
      - {name: publish, arguments: {summary: written}}
"""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with a run on record in which a person answered and wrote."""
    made = tmp_path_factory.mktemp("spoken") / "agents"
    (made / "a").mkdir(parents=True)
    (made.parent / "script.yaml").write_text(SPOKEN)
    head = "model: scripted/script.yaml\nreflection: false\n"
    (made / "a" / "GOAL.md").write_text(f"---\n{head}---\nAbout lamps.\n")
    first = agiraph(made, "run", "a")
    assert first.returncode == 8  # it waits for a person: nobody else can go on
    assert "q-002" in first.stderr
    for words in ("q-001: green", "Hurry up.", "q-002: a page"):
        agiraph(made, "send", "a", words)
        last = agiraph(made, "run", "a")
    assert last.returncode == 0, last.stdout + last.stderr
    (made.parent / "script.yaml").unlink()
    return made


def test_what_a_person_said_is_said_again_where_it_was_heard(
    spoken: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "again"
    page = agiraph(spoken, "replay", "a", "--keep", str(kept))

    assert page.returncode == 0, page.stdout + page.stderr
    assert "recorded completed, now completed" in page.stdout
    then = (spoken / "a" / "conversation.jsonl").read_text()
    now = (kept / "a" / "conversation.jsonl").read_text()
    for words in ("green", "Hurry up."):
        assert now.count(words) == then.count(words)
        assert answers_before(now, words) == answers_before(then, words)


def answers_before(conversation: str, words: str) -> int:
    lines = conversation.splitlines()
    first = next(n for n, line in enumerate(lines) if words in line)
    return sum(json.loads(line)["role"] == "assistant" for line in lines[:first])
