"""A line of usage.jsonl that nobody can read widens no budget without a word."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.model.agent import Budget, TreeSettings
from agiraph.model.names import COORDINATOR
from agiraph.runtime import spent
from agiraph.runtime.spent import Spoilt, latest
from tests.support.inside import Inside, call, inside

if TYPE_CHECKING:
    from pathlib import Path

WORK = [call("write_file", path=f"scratch/{n}.md", content="x") for n in range(9)]
OLD = {"ts": "2026-01-01T00:00:00+00:00", "model": "x/y", "run": "older", "input": 1}
HEAD = {"ts": OLD["ts"], "put_away": "_archive/usage/2025-01-01.jsonl.gz", "bytes": 9}


async def worked(a: Inside) -> list[str]:
    """Three calls were made, and the daemon has ended; the lines that tell of them."""
    a.model.says(COORDINATOR, *WORK[:3])
    await a.begin()
    await a.asked(COORDINATOR, 4)
    await a.end()
    return log(a).read_text("utf-8").splitlines()[:3]


def log(a: Inside) -> Path:
    return a.home / "usage.jsonl"


def lines(*each: object) -> str:
    told = (line if isinstance(line, str) else json.dumps(line) for line in each)
    return "".join(f"{line}\n" for line in told)


@pytest.mark.parametrize(
    "bad",
    [
        "what is this",
        '{"ts": "2026',
        "[1]",
        "\0\0\0",
        '{"model": "x/y", "input": "much"}',
        '{"model": "x/y", "input": 1, "output": 1, "cost_usd": "much"}',
        '{"model": "x/y", "input": 1, "output": 1, "cost_usd": NaN}',
        '{"model": "x/y", "input": 1, "output": 1, "cost_usd": -5}',
        '{"note": "mine"}',
    ],
)
async def test_damage_among_the_calls_of_the_run_holds_that_agent_until_it_is_mended(
    tmp_path: Path, bad: str
) -> None:
    async with inside(tmp_path) as a:
        one, two, three = await worked(a)
        log(a).write_text(lines(HEAD, OLD, one, bad, three))
        asked = a.model.asked(COORDINATOR)
        await a.restart()

        assert "a/usage.jsonl, line 4 is damaged" in a.desk.broken
        page = (a.home / "usage.jsonl.error.md").read_text("utf-8")
        assert "Line 4, column 1" in page
        assert "take the line out" in page
        day = a.world.ledger.account(f"day:a:{a.world.today()}")
        assert day.calls == 2  # of the tree's day, nothing else is missing
        assert a.model.asked(COORDINATOR) == asked

        log(a).write_text(lines(HEAD, OLD, one, two, three))
        await a.look()
        a.go()
        await a.asked(COORDINATOR, asked + 1)
        assert a.desk.broken == ""
        assert not (a.home / "usage.jsonl.error.md").exists()
        assert a.world.ledger.account(f"run:a:{a.run.name}").calls == 3


@pytest.mark.parametrize("end", ["", '{"ts": "2026', "\0\0\0\0", "\0\0\n", "\n\n"])
async def test_what_a_crash_tore_and_what_is_older_than_all_that_counts_holds_nobody(
    tmp_path: Path, end: str
) -> None:
    async with inside(tmp_path) as a:
        told = await worked(a)
        log(a).write_text(lines(HEAD, "what is this", OLD, *told) + end)
        await a.restart()
        assert a.desk.broken == ""
        assert a.world.ledger.account(f"run:a:{a.run.name}").calls == 3


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
async def test_a_bad_line_is_found_in_pieces_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    async with inside(tmp_path) as a:
        monkeypatch.setattr(spent, "_PIECE", size)
        text = lines(HEAD, OLD, "what is this", OLD, "\0", OLD) + "\0\0\n" + '{"ts"'
        a.write("usage.jsonl", text)
        path = PurePosixPath("a/usage.jsonl")
        found = [each for piece in latest(a.world.reader, path) for each in piece]
        bad = [each for each in found if isinstance(each, Spoilt)]
        assert sorted(each.line(a.world.reader, path) for each in bad) == [3, 5]
        assert len(found) == 5


async def test_what_the_trees_budget_cannot_count_is_told_in_the_log(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        (tmp_path / "other").mkdir()
        told = lines(HEAD, OLD, "what is this", OLD | {"cost_usd": 7.0})
        (tmp_path / "other/usage.jsonl").write_text(told)
        a.world.settings = TreeSettings(budget=Budget(usd=100.0))
        await a.begin()
        await a.asked(COORDINATOR)
        assert a.world.ledger.account("tree").usd == 7.0
        assert any("other/usage.jsonl, line 3 tells of no" in x for x in a.remarks)
