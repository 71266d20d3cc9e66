"""Triggers of several agents, of a copy, and of files that a glob names."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

from agiraph.model.layout import Home
from agiraph.runtime import turns
from agiraph.runtime.agent import Agent
from agiraph.runtime.turns import Turns
from tests.runtime.test_triggers import HOURLY, SAYS, finished, later, ledger, told
from tests.support.inside import Inside, inside

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

GOAL = "---\ncoordinator: false\n---\nThe goal.\n"


def agent(a: Inside, name: str) -> Agent:
    """Another agent of the same daemon."""
    return Agent(a.world, Home(name), dict)


async def look(a: Inside, at: Agent, seconds: float = 24.0) -> None:
    """What people wrote is taken in, once it has settled."""
    for _ in range(4):
        await at.look()
        a.clock.ahead += seconds / 4
    await at.look()


def fired(a: Inside, name: str) -> int:
    path = a.root / name / "_triggers.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return text.count('"fired"')


def test_each_agent_has_its_turn_and_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "APART", 2.0)
    line = Turns()
    assert [line.wait(name, 100.0) for name in "abc"] == [0.0, 2.0, 4.0]
    assert [line.wait(name, 101.0) for name in "cba"] == [3.0, 1.0, 0.0]
    line.done("a")
    assert line.wait("a", 101.0) == 5.0
    assert line.wait("d", 200.0) == 0.0


async def test_after_an_absence_agents_catch_up_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "APART", 600.0)
    names = ("x", "y", "z")
    async with inside(tmp_path) as a:
        then = (a.clock.now() + timedelta(hours=12)).astimezone(a.clock.zone())
        daily = f'{{id: daily, type: scheduled, cron: "0 {then.hour} * * *", {SAYS}}}'
        for name in names:
            (tmp_path / name).mkdir()
            (tmp_path / name / "GOAL.md").write_text(GOAL)
            (tmp_path / name / "triggers.yaml").write_text(f"- {daily}\n")
            await look(a, agent(a, name))
        before = [fired(a, name) for name in names]

        a.clock.ahead += 86400
        await a.restart()  # every agent was asleep for a day
        agents = [agent(a, name) for name in names]
        for number in range(len(names)):
            for each in agents:
                await each.look()
            late = [fired(a, n) - old for n, old in zip(names, before, strict=True)]
            assert late == [1 if at <= number else 0 for at in range(len(names))]
            assert all(each.triggers.due for each in agents)
            a.clock.ahead += 600


async def test_a_copy_stays_disarmed_until_its_triggers_are_changed(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, HOURLY)
        await a.agent.claim()
        await a.end()
        shutil.copytree(a.home, tmp_path / "b")
        a._open()
        await a.look()
        copy = agent(a, "b")
        lines = len(ledger(a))
        await look(a, copy)
        for _ in range(3):
            await look(a, copy, 3600)
        assert fired(a, "b") == 0
        assert "copy" in " ".join(dict(copy.desk.planned)["hourly"])
        path = tmp_path / "b" / "triggers.yaml"
        os.utime(path)
        path.write_text(path.read_text())
        again = agent(a, "b")  # a restart arms nothing, either
        await look(a, again)
        await look(a, again, 7200)
        assert fired(a, "b") == 0

        path.write_text(path.read_text() + "# This one, too.\n")
        await look(a, again)
        await look(a, again, 7200)
        assert fired(a, "b") >= 1
        await later(a, 7200)
        assert len(ledger(a)) > lines  # the original went on all the time


async def test_a_glob_names_the_files_whose_changes_fire(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        glob = "filter: {path: ['inputs/**/*.csv', 'inputs/top.txt']}"
        await finished(
            a, f"{{id: drop, type: on_event, event: file.changed, {glob}, {SAYS}}}"
        )
        await later(a, 100)
        a.write("inputs/notes.txt", "no\n")
        a.write("inputs/deep/top.txt", "no\n")
        a.write("memory/a.csv", "no\n")
        await later(a, 100)
        await later(a, 100)
        assert told(a, "drop") == []
        a.write("inputs/deep/er/new.csv", "1\n")
        await later(a, 100)
        await later(a, 100)
        assert told(a, "drop") == ["fired"]
        a.write("inputs/top.txt", "yes\n")
        a.write("inputs/flat.csv", "yes\n")
        await later(a, 100)
        await later(a, 100)
        assert told(a, "drop") == ["fired"] * 3
