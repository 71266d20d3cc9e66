"""How the daemon's last lives ended is remembered on this machine, and may be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.tree.starts import Starts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".agiraph").mkdir()
    return tmp_path


def live(root: Path, now: float, *at_work: str) -> Starts:
    """A life that is not ended cleanly."""
    life = Starts(str(root), now, pytest.fail)
    life.begin()
    for agent in at_work:
        life.at_work(agent, works=True)
    return life


def test_the_fourth_life_holds_whom_three_deaths_found_at_work(root: Path) -> None:
    for now, names in ((0.0, "bad good"), (10.0, "bad"), (20.0, "good bad")):
        assert live(root, now, *names.split()).held == frozenset()
    assert live(root, 30.0).held == {"bad"}


def test_a_clean_end_forgets_everything(root: Path) -> None:
    for now in (0.0, 1.0, 2.0):
        last = live(root, now, "bad")
    last.end()
    assert live(root, 3.0).held == frozenset()


def test_whoever_is_held_stays_held_until_a_person_says_so(root: Path) -> None:
    for now in (0.0, 1.0, 2.0):
        live(root, now, "bad")
    assert live(root, 3.0).held == {"bad"}
    late = live(root, 3000.0)
    assert late.held == {"bad"}
    late.released("bad")
    assert live(root, 3001.0, "bad").held == frozenset()


def test_slow_deaths_hold_nobody(root: Path) -> None:
    for now in (0.0, 200.0, 400.0, 600.0, 800.0):
        assert live(root, now, "bad").held == frozenset()


def test_who_rested_when_it_died_is_not_counted(root: Path) -> None:
    for now in (0.0, 1.0, 2.0):
        live(root, now, "bad").at_work("bad", works=False)
    assert live(root, 3.0).held == frozenset()


def test_who_gets_on_between_the_deaths_is_not_counted(root: Path) -> None:
    (root / "busy").mkdir()
    for now in (0.0, 1.0, 2.0, 3.0):
        assert live(root, now, "busy").held == frozenset()
        with (root / "busy/usage.jsonl").open("a") as log:
            log.write("{}\n")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"lives": 3}', "\0"])
def test_a_damaged_or_lost_file_holds_nobody(root: Path, text: str) -> None:
    for now in (0.0, 1.0, 2.0):
        live(root, now, "bad")
    (root / ".agiraph/starts.json").write_text(text)
    assert live(root, 3.0).held == frozenset()


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    life = Starts(str(tmp_path / "nowhere"), 0.0, told.append)
    life.begin()
    life.at_work("a", works=True)
    assert len(told) == 1
