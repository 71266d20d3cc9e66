"""Old runs are put away, and the agent goes on as if they were there."""

from __future__ import annotations

import os
import tarfile
from typing import TYPE_CHECKING

import yaml

from agiraph.model.agent import Keep, TreeSettings
from agiraph.model.names import COORDINATOR
from agiraph.runtime.retention.passes import MOST, Retention
from agiraph.runtime.root.seat import Seat, at_peace
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

DAY = 86400.0
DONE = call("finish", summary="Done.")


def retention(a: Inside) -> Retention:
    seat = Seat(a.agent, a.supervisor)
    return Retention(a.world, lambda: at_peace([seat]))


async def one_pass(a: Inside, of: Retention | None = None) -> int:
    """How many runs a pass puts away."""
    assert a.world.attic is not None
    before = len(archives(a))
    await (of or retention(a)).once(a.world.attic)
    return len(archives(a)) - before


def runs(a: Inside) -> list[str]:
    return sorted(path.name for path in (a.home / "runs").iterdir())


def archives(a: Inside) -> list[str]:
    found = (a.home / "_archive").glob("*.tar.gz")
    return sorted(path.name for path in found)


async def a_run(a: Inside, number: int, *, worker: str = "Ada") -> None:
    """A run from its goal to its end, with a worker who has learned something."""
    who = {"name": worker, "role": "analyst"}
    a.model.says(COORDINATOR, node(f"n{number}", worker=who), say("I wait."))
    a.model.says(f"n{number}", publish(f"Result {number}."))
    a.goal("The goal.", run=number)
    if number == 1:
        await a.begin(run=number)
    else:
        await a.look()
        a.go()
    await a.until(lambda: a.state(f"n{number}") == "completed")
    a.model.says(COORDINATOR, DONE)
    await a.until(lambda: a.desk.run is not None and not a.desk.run_open)
    await a.until(lambda: a.supervising is not None and a.supervising.done())


async def test_an_old_run_is_put_away_whole_and_the_newest_stays(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        a.clock.ahead += 50 * DAY
        await a_run(a, 2)
        first, second = runs(a)
        result = a.home / "runs" / first / "nodes" / "n1" / "published" / "a.md"
        before = result.read_bytes()
        assert await one_pass(a) == 0

        a.clock.ahead += 41 * DAY
        assert await one_pass(a) == 1
        assert runs(a) == [second]
        assert archives(a) == [f"{first}.tar.gz"]
        with tarfile.open(a.home / "_archive" / f"{first}.tar.gz") as tar:
            kept = tar.extractfile(f"{first}/nodes/n1/published/a.md")
            assert kept is not None
            assert kept.read() == before
        assert any(f"runs/{first} is put away as" in each for each in a.remarks)
        a.clock.ahead += 400 * DAY
        assert await one_pass(a) == 0
        assert runs(a) == [second]
        await a.restart()
        assert a.desk.run is not None
        assert a.desk.run.name == second


async def test_a_worker_whose_run_was_put_away_brings_its_memory_along(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        (a.run / "workers" / "Ada" / "memory.md").write_text("The key is under it.\n")
        a.clock.ahead += 50 * DAY
        await a_run(a, 2, worker="Bob")
        a.clock.ahead += 50 * DAY
        assert await one_pass(a) == 1
        await a_run(a, 3)
        assert a.text("workers/Ada/memory.md").startswith("The key is under it.")
        assert "Result 1." in a.text("workers/Ada/history.json")
        assert yaml.safe_load(a.text("workers/Ada/identity.md").split("---")[1])


async def test_agiraph_yaml_keeps_runs_longer_and_a_pause_keeps_them_all(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        a.clock.ahead += 200 * DAY
        await a_run(a, 2)
        a.world.settings = TreeSettings(keep=Keep(runs=365 * DAY))
        assert await one_pass(a) == 0
        a.world.settings = TreeSettings()
        a.world.paused = True
        assert await one_pass(a) == 0
        a.world.paused = False
        a.desk.elsewhere = "on another machine"
        assert await one_pass(a) == 0
        a.desk.elsewhere = ""
        assert await one_pass(a) == 1


async def test_a_pass_has_a_bound_and_takes_the_oldest_first(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        newest = runs(a)[0]
        record = yaml.safe_load(a.text("_run.yaml"))
        old = [f"2020-01-{day:02d}-01" for day in range(1, MOST + 4)]
        for name in old:
            said = {**record, "run": name, "ended": f"{name[:10]}T12:00:00+00:00"}
            a.write(f"runs/{name}/_run.yaml", yaml.safe_dump(said, allow_unicode=True))
        going = {**record, "run": "2020-02-01-01", "status": "open", "ended": ""}
        a.write("runs/2020-02-01-01/_run.yaml", yaml.safe_dump(going))
        a.write("runs/2020-03-01-01/notes.md", "A folder of somebody's.\n")
        assert await one_pass(a) == MOST
        assert archives(a) == [f"{name}.tar.gz" for name in old[:MOST]]
        assert await one_pass(a) == 3
        assert runs(a) == ["2020-02-01-01", "2020-03-01-01", newest]


async def test_what_a_kill_left_half_removed_goes_in_the_next_pass(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        newest = runs(a)[0]
        a.write("runs/.2020-01-01-01.put-away/nodes/half.md", "half\n")
        await one_pass(a)
        assert sorted(os.listdir(a.home / "runs")) == [newest]


async def test_a_run_that_cannot_be_put_away_is_told_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        a.clock.ahead += 100 * DAY
        await a_run(a, 2)
        a.write("_archive", "a file of somebody's\n")
        of = retention(a)
        for _ in range(3):
            assert await one_pass(a, of) == 0
        assert len(runs(a)) == 2
        told = [each for each in a.remarks if "is not put away" in each]
        assert len(told) == 1


async def test_runs_that_cannot_be_put_away_do_not_stop_the_others(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        record = (a.home / "runs" / runs(a)[0] / "_run.yaml").read_text()
        bad = [f"2020-01-{number:02}-01" for number in range(1, MOST + 1)]
        for name in bad:
            a.write(f"runs/{name}/_run.yaml", record)
            a.write(f"runs/{name}/workers/Eve/memory.md", "I know.\n")
        a.write("_archive/workers/eve", "a file of somebody's\n")
        a.write("runs/2020-02-01-01/_run.yaml", record)
        a.clock.ahead += 100 * DAY
        of = retention(a)
        assert await one_pass(a, of) == 0
        assert await one_pass(a, of) == 1
        assert archives(a) == ["2020-02-01-01.tar.gz"]
        assert set(bad) < set(runs(a))
