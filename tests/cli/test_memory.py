"""blame and tidy: where a line came from, and a memory that can be put back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.core.remembering import line_hash

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def remember(root: Path) -> Path:
    """The memory of the agent `news`, with its record."""
    home = root / "news"
    (home / "memory/knowledge").mkdir(parents=True, exist_ok=True)
    (home / "_state").mkdir(exist_ok=True)
    (home / "MEMORY.md").write_text("# What I know\n\n- NVIDIA leads\n- by hand\n")
    (home / "memory/knowledge/chips.md").write_text("Chips are small.\n")
    written = {
        "ts": "2026-11-22T10:00:00+00:00",
        "path": "MEMORY.md",
        "by": "coordinator",
        "was": "",
        "becomes": "1",
        "lines": {line_hash("- NVIDIA leads"): "https://chips.example/list"},
        "run": "2026-11-22-01",
        "node": "",
        "step": "coordinator/1.4.0",
    }
    person = written | {"by": "person", "run": "", "step": ""}
    person |= {"lines": {line_hash("- by hand"): ""}, "becomes": "2"}
    lines = [json.dumps(each) for each in (written, person)]
    (home / "_state/memory.jsonl").write_text("\n".join(lines) + "\n")
    return home


def test_blame_names_run_step_and_source(run: Run, root: Path) -> None:
    remember(root)
    result = run("blame", "news", "MEMORY.md:3")
    assert result.exit_code == 0
    assert result.stdout.startswith("- NVIDIA leads\n")
    assert "by coordinator, in run 2026-11-22-01" in result.stdout
    assert "(step coordinator/1.4.0), from https://chips.example/list" in result.stdout


def test_blame_tells_a_persons_line_and_one_without_a_record(
    run: Run, root: Path
) -> None:
    remember(root)
    assert "by a person" in run("blame", "news", "MEMORY.md:4").stdout
    assert "before the record" in run("blame", "news", "knowledge/chips.md:1").stdout


def test_blame_in_json(run: Run, root: Path) -> None:
    remember(root)
    found = json.loads(run("blame", "news", "MEMORY.md:3", "--json").stdout)
    assert found["written"][0]["from"] == "https://chips.example/list"


def test_blame_says_what_is_wrong_with_a_place(run: Run, root: Path) -> None:
    remember(root)
    assert run("blame", "news", "MEMORY.md").exit_code == 2
    assert run("blame", "news", "../other/MEMORY.md:1").exit_code == 2
    assert "has 4 lines" in run("blame", "news", "MEMORY.md:99").stderr
    assert run("blame", "news", "nothing.md:1").exit_code == 3


def test_tidy_keeps_a_copy_and_asks_the_agent(run: Run, root: Path) -> None:
    home = remember(root)
    result = run("tidy", "news")
    assert result.exit_code == 0
    (mail,) = (home / "_inbox").iterdir()
    assert "Tidy your memory now" in mail.read_text()
    (kept,) = (home / "memory/.before").iterdir()
    assert (kept / "MEMORY.md").read_text() == (home / "MEMORY.md").read_text()
    assert (kept / "memory/knowledge/chips.md").exists()


def test_tidying_is_shown_as_a_diff_and_undone_by_one_command(
    run: Run, root: Path
) -> None:
    home = remember(root)
    before = (home / "MEMORY.md").read_text()
    run("tidy", "news")
    (home / "MEMORY.md").write_text("# What I know\n\n- NVIDIA leads\n")
    (home / "memory/knowledge/chips.md").unlink()
    (home / "memory/knowledge/new.md").write_text("New.\n")

    shown = run("tidy", "news", "--diff").stdout
    assert "-- by hand" in shown
    assert "+++ (taken away)" in shown
    assert "+New." in shown

    assert run("tidy", "news", "--undo").exit_code == 0
    assert (home / "MEMORY.md").read_text() == before
    assert (home / "memory/knowledge/chips.md").read_text() == "Chips are small.\n"
    assert not (home / "memory/knowledge/new.md").exists()
    kept = list((home / "memory/.before").glob("*/memory/knowledge/new.md"))
    assert len(kept) == 1  # what was undone is not lost either
    assert "not been tidied" in run("tidy", "news", "--undo").stderr


def test_the_ten_newest_copies_stay_and_a_half_one_is_never_brought_back(
    run: Run, root: Path
) -> None:
    home = remember(root)
    copies = home / "memory/.before"
    old = [f"202610{day:02}-100000-000000" for day in range(1, 13)]
    undone = [f"202609{day:02}-100000-000000-undone" for day in range(1, 13)]
    for name in [*old, *undone, f".{old[0]}", f".{old[11]}", "by-hand"]:
        (copies / name / "memory/knowledge").mkdir(parents=True)
        (copies / name / "MEMORY.md").write_text(f"{name}\n")
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.md").write_text("mine\n")
    (copies / old[0] / "link").symlink_to(elsewhere)

    assert run("tidy", "news").exit_code == 0
    names = sorted(path.name for path in copies.iterdir())
    (new,) = (
        name
        for name in names
        if name not in old and name[0] == "2" and "-u" not in name
    )
    assert names == sorted([*old[3:], new, f".{old[11]}", *undone[2:], "by-hand"])
    assert (copies / new / "memory/knowledge/chips.md").exists()
    assert (elsewhere / "mine.md").exists()

    for _ in range(10):
        assert run("tidy", "news", "--undo").exit_code == 0
    assert (home / "MEMORY.md").read_text() == f"{old[3]}\n"
    assert len(list(copies.iterdir())) == 12
