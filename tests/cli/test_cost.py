from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agiraph.cli import spending

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def line(cost: float | None = 0.5, day: str = "2026-11-21", **where: object) -> str:
    said = {"ts": f"{day}T10:00:00+00:00", "model": "x/big", "run": "r1", **where}
    used = {"input": 100, "output": 10, "cache_read": 300, "cache_write": 0}
    return json.dumps(said | used | {"cost_usd": cost}) + "\n"


@pytest.fixture
def spent(root: Path) -> Path:
    """Three calls of one agent, one of another at an unknown price."""
    calls = [line(), line(node="a", worker="Ada", stage=1), line(day="2026-11-22")]
    (root / "news" / "usage.jsonl").write_text("".join(calls))
    (root / "held one" / "usage.jsonl").write_text(line(None))
    return root


def rows(run: Run, *words: str) -> list[dict[str, object]]:
    return list(json.loads(run("cost", *words, "--json").stdout)["rows"])


def test_what_was_spent_is_told_for_each_agent(run: Run, spent: Path) -> None:
    page = run("cost")
    assert page.exit_code == 0
    found = {row.split("  ")[0].strip(): row for row in page.stdout.splitlines()}
    assert "$1.50" in found["news"]
    assert "unknown" in found["held one"]
    assert "75%" in found["news"]
    assert "$1.50 and unknown for 1 calls" in found["all"]


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("day", ["2026-11-21", "2026-11-22"]),
        ("run", ["r1"]),
        ("stage", ["", "1"]),
        ("node", ["", "a"]),
        ("worker", ["", "Ada"]),
        ("model", ["x/big"]),
        ("agent", ["news"]),
    ],
)
def test_what_was_spent_is_told_by_anything(
    run: Run, spent: Path, by: str, names: list[str]
) -> None:
    found = rows(run, "news", "--by", by)
    assert [row[by] for row in found] == names
    assert sum(row["calls"] for row in found) == 3  # type: ignore[misc]  # counts
    assert run("cost", "news", "--by", by).exit_code == 0


def test_only_what_was_spent_since_a_day_counts(run: Run, spent: Path) -> None:
    assert [row["calls"] for row in rows(run, "news", "--since", "2026-11-22")] == [1]
    assert len(rows(run, "--since", "100000d")) == 2
    assert run("cost", "--since", "tomorrow").exit_code == 2


def test_a_log_is_read_on_from_where_it_was_read_before(
    run: Run, spent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spending, "_WORTH", 1)
    log = spent / "news" / "usage.jsonl"
    assert rows(run, "news")[0]["calls"] == 3
    # Had it been read again, what was read before would be missing.
    log.write_bytes(log.read_bytes().replace(b'"input": 100', b'"input": 999', 1))
    with log.open("a") as more:
        more.write(line())
        more.write(line()[:-20])  # half a line is read when it is whole
    (row,) = rows(run, "news")
    assert (row["calls"], row["input"]) == (4, 400)


def test_a_log_that_was_replaced_is_read_anew(
    run: Run, spent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spending, "_WORTH", 1)
    rows(run)
    (spent / "news" / "usage.jsonl").write_text(line(9.0, day="2026-11-29"))
    assert [row["known_cost_usd"] for row in rows(run, "news")] == [9.0]
    cache = spent / ".agiraph" / "costs.json"
    assert cache.exists()
    cache.write_text("{")
    assert [row["known_cost_usd"] for row in rows(run, "news")] == [9.0]


def test_nothing_spent_is_said_so(run: Run, root: Path) -> None:
    page = run("cost", "broken")
    assert page.exit_code == 0
    assert "Nothing was spent" in page.stderr
