"""A sample of the crash tests; each module of this folder runs the whole of its own.

The sample is the same every time; `CRASH_SEED=7 pytest tests/crash` draws another one.
Every failure names the seed and the line that repeats it.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from agiraph.tools.registry import ORDER
from tests.crash import errors, kills, sweep, table
from tests.crash.doomed import STRACED
from tests.crash.point import run_point
from tests.crash.rows import BY_TOOL, ROWS
from tests.crash.scenarios import ALL, BY_NAME

if TYPE_CHECKING:
    from pathlib import Path

SEED = int(os.environ.get("CRASH_SEED", "1"))
# Calls that at least one thread makes so often in the scenario `tools`: strace counts
# for each thread alone, and the pen's threads share the work as it comes.
SURELY_REACHED = {"write": 30, "fsync": 5, "fdatasync": 1, "mkdirat": 3, "renameat": 1}
SLOW_MACHINE = 60.0  # seconds; how soon work goes on is measured by the full run


@pytest.fixture
def chance() -> random.Random:
    print(f"CRASH_SEED={SEED}")
    return random.Random(SEED)


def test_a_daemon_killed_at_any_call_goes_on_where_it_was(
    chance: random.Random,
) -> None:
    scenario = chance.choice(ALL)
    points = list(sweep.points_of(scenario, chance))
    for point in chance.sample(points, 3):
        tried = sweep.try_point(point)
        assert not tried.broken, f"{point}\n{tried.broken}"


def test_a_process_that_strace_kills_goes_on_too(chance: random.Random) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    call = chance.choice(sorted(SURELY_REACHED))
    at = chance.randint(1, SURELY_REACHED[call])
    point = sweep.Point(BY_NAME["tools"], at, "kill", forget=True, call=call)
    tried = sweep.try_point(point)
    assert not tried.broken, f"{point}\n{tried.broken}"
    assert tried.struck, point


def test_the_injector_counts_what_strace_sees(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    run_point(BY_NAME["drop"], tmp_path / "one", {"at": 0}, forget=False)
    lines = (tmp_path / "one/calls.log").read_text().splitlines()
    counted = Counter(line.split(" ")[1] for line in lines if _is_ours(line))
    fault = {"strace": STRACED, "at": sweep.NEVER, "do": "signal=KILL"}
    run_point(BY_NAME["drop"], tmp_path / "two", fault, forget=False)
    text = (tmp_path / "two/strace.log").read_text("utf-8", "replace")
    seen = Counter(re.findall(r"^\d+ +(\w+)\(", text, re.MULTILINE))
    assert counted["fsync"] == pytest.approx(seen["fsync"], abs=4)
    assert counted["fdatasync"] == pytest.approx(seen["fdatasync"], abs=4)
    renamed = seen["rename"] + seen["renameat"]
    assert counted["rename"] == pytest.approx(renamed, abs=4)


def _is_ours(line: str) -> bool:
    return "/agents" in line or "rename" in line


def test_every_tool_has_its_row() -> None:
    assert sorted(BY_TOOL) == sorted(ORDER)


def test_a_tool_that_is_cut_off_ends_as_its_row_says(chance: random.Random) -> None:
    bash = BY_TOOL["bash"]
    other = chance.choice([row for row in ROWS if row is not bash])
    for row, moment in ((bash, "in"), (other, chance.choice(table.moments_of(other)))):
        lines = [] if moment == "parked" else table.calls_of(row)
        try:
            table.try_row(row, moment, lines, chance)
        except AssertionError as broken:
            msg = f"--tool {row.tool}, {moment}, seed {SEED}: {broken}"
            raise AssertionError(msg) from broken


def test_random_kills_do_nothing_twice_and_lose_nothing(
    tmp_path: Path, chance: random.Random
) -> None:
    said = kills.run_kills(tmp_path, 5, chance)
    assert "told" in said


def test_a_disk_that_refuses_for_a_while_loses_nothing(
    tmp_path: Path, chance: random.Random
) -> None:
    for number, trial in enumerate(errors.draw(("tools",), 1, chance)):
        home = tmp_path / str(number)
        home.mkdir()
        try:
            errors.try_trial(trial, home, usual=SLOW_MACHINE)
        except AssertionError as broken:
            msg = f"{trial}\n{broken}"
            raise AssertionError(msg) from broken
