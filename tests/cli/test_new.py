from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import Good, read_goal
from agiraph.model.agent import Settings
from agiraph.tree.templates import names, template

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.mark.parametrize("kind", sorted(names()))
def test_an_agent_has_every_file_of_its_template(
    run: Run, root: Path, kind: str
) -> None:
    result = run("new", "fresh", "--template", kind)
    assert result.exit_code == 0
    assert result.stdout.strip() == str(root / "fresh")
    for path, data in template(kind).items():
        assert (root / "fresh" / path).read_bytes() == data
    assert run("check", str(root / "fresh")).exit_code == 0


def test_a_goal_stands_below_the_templates_settings(run: Run, root: Path) -> None:
    assert run("new", "fresh", "--goal", "Write a haiku.").exit_code == 0
    text = (root / "fresh" / "GOAL.md").read_text()
    goal = read_goal(text, Settings())
    assert isinstance(goal, Good)
    assert goal.value.body == "Write a haiku."


def test_a_goal_may_come_from_standard_input(run: Run, root: Path) -> None:
    assert run("new", "fresh", "--goal", "-", stdin="Two\nlines.\n").exit_code == 0
    assert (root / "fresh" / "GOAL.md").read_text().endswith("Two\nlines.\n")


@pytest.mark.parametrize("name", ["two words", "Größe", "新闻", "-dash", "a.b_c-d"])
def test_odd_names_are_names(run: Run, root: Path, name: str) -> None:
    assert run("new", "--goal", "Go.", "--", name).exit_code == 0
    assert (root / name / "GOAL.md").is_file()
    assert run("status", "--", name).exit_code == 0


@pytest.mark.parametrize(
    "name", ["", " lead", ".hidden", "_mine", "a/b", "..", "human", "a\0b", "x" * 65]
)
def test_names_that_cannot_stand_make_nothing(run: Run, root: Path, name: str) -> None:
    before = sorted(root.parent.rglob("*"))
    assert run("new", "--goal", "Go.", "--", name).exit_code == 2
    assert sorted(root.parent.rglob("*")) == before


@pytest.mark.parametrize("name", ["news", "NEWS"])
def test_an_agent_is_never_made_over_another(run: Run, root: Path, name: str) -> None:
    before = (root / "news" / "GOAL.md").read_text()
    assert run("new", name, "--goal", "Go.").exit_code == 2
    assert (root / "news" / "GOAL.md").read_text() == before


def test_an_empty_goal_is_none(run: Run, root: Path) -> None:
    assert run("new", "fresh", "--goal", "  ").exit_code == 2
    assert not (root / "fresh").exists()


def test_a_wrong_template_brings_the_nearest_one(run: Run, root: Path) -> None:
    result = run("new", "fresh", "--template", "basik")
    assert result.exit_code == 3
    assert "Did you mean 'basic'?" in result.stderr
    assert not (root / "fresh").exists()
