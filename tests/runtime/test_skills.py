"""Skills and instructions: named in briefs, read on demand, honoured in approvals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.inside import Inside

SKILL = "---\ndescription: {says}\n{more}---\n# How\n\n{body}\n"


@pytest.fixture
async def a(tmp_path: Path) -> AsyncIterator[Inside]:
    async with inside(tmp_path) as found:
        yield found


def skill(a: Inside, name: str, *, body: str = "Do it.", more: str = "") -> None:
    text = SKILL.format(says=f"Helps with {name}.", body=body, more=more)
    a.write(f"skills/{name}/SKILL.md", text)


def shared(a: Inside, name: str, body: str) -> None:
    place = a.root / "skills" / name
    place.mkdir(parents=True)
    text = SKILL.format(says=f"All's {name}.", body=body, more="")
    (place / "SKILL.md").write_text(text)


async def test_briefs_name_skills_and_bodies_are_read_on_demand(a: Inside) -> None:
    skill(a, "forms", body="Read the form first.")
    a.write("skills/forms/references/more.md", "More on forms.\n")
    shared(a, "maps", "Look at the map.")
    shared(a, "forms", "Not this one.")
    reads = [
        call("read_file", path="skills/forms/SKILL.md"),
        call("read_file", path="skills/forms/references/more.md"),
        call("read_file", path="skills/maps/SKILL.md"),
        call("write_file", path="skills/maps/SKILL.md", content="mine"),
        call("read_file", path="skills/none/SKILL.md"),
        publish(),
    ]
    a.model.says(COORDINATOR, node("n"), say("ok"))
    a.model.says("n", *reads)
    await a.begin()
    await a.until(lambda: a.state("n") == "completed")

    brief = a.lines()[1]["content"]
    assert "- `skills/forms/SKILL.md`: Helps with forms." in brief
    assert "- `skills/maps/SKILL.md`: All's maps." in brief
    assert "Read the form first." not in brief
    worker = a.lines("worker-1")[1]["content"]
    assert "- `skills/maps/SKILL.md`: All's maps." in worker
    first, more, maps, none = a.results("read_file", "worker-1")
    assert "Read the form first." in first
    assert "More on forms." in more
    assert "Look at the map." in maps
    assert "not there" in none
    assert "person's" in a.results("write_file", "worker-1")[0]


async def test_a_skill_cannot_be_left_by_its_path(a: Inside) -> None:
    skill(a, "forms")
    (a.home / "skills/forms/out").symlink_to(a.root.parent)
    paths = ["skills/forms/../../GOAL.md", "skills/../GOAL.md", "skills/forms/out"]
    calls = [call("read_file", path=path) for path in paths]
    a.model.says(COORDINATOR, *calls, say("ok"))
    await a.begin("A secret goal.")
    await a.asked(COORDINATOR)
    await a.until(lambda: len(a.results("read_file")) == 3)
    assert not any("secret" in result for result in a.results("read_file"))


async def test_what_a_skill_allows_is_not_asked_for(a: Inside) -> None:
    skill(a, "dates", more="allowed-tools: Bash(date:*)\n")
    a.model.says(COORDINATOR, call("bash", command="date +%Y"))
    a.model.says(COORDINATOR, call("bash", command="date; echo more"))
    await a.begin(permissions={"bash": "ask"})
    await a.until((a.home / "_questions/q-001.md").exists)
    assert "exit code 0" in a.results("bash")[0]
    assert "echo more" in (a.home / "_questions/q-001.md").read_text()


async def test_what_is_denied_stays_denied_whatever_a_skill_says(a: Inside) -> None:
    skill(a, "dates", more="allowed-tools: Bash(date:*)\n")
    a.model.says(COORDINATOR, call("bash", command="date"), say("ok"))
    await a.begin(permissions={"bash": "deny"})
    await a.asked(COORDINATOR)
    await a.until(lambda: a.results("bash"))
    assert "does not allow" in a.results("bash")[0]


async def test_a_bad_skill_is_told_of_and_hurts_no_other(a: Inside) -> None:
    skill(a, "good")
    a.write("skills/bad/SKILL.md", "---\nname: bad\n---\n")
    await a.begin()
    await a.asked(COORDINATOR)
    assert [one.name for one in a.desk.skills.known] == ["good"]
    assert any("skills/bad/SKILL.md" in each for each in a.remarks)


async def test_instructions_of_projects_in_inputs_stand_in_briefs(a: Inside) -> None:
    a.write("inputs/app/AGENTS.md", "Run the tests by tox.\n")
    a.write("inputs/app/CLAUDE.md", "Not this.\n")
    a.write("inputs/old/CLAUDE.md", "Use tabs.\n")
    await a.begin()
    await a.asked(COORDINATOR)
    brief = a.lines()[1]["content"]
    assert "## For work on `inputs/app/` (inputs/app/AGENTS.md)" in brief
    assert "Run the tests by tox." in brief
    assert "Use tabs." in brief
    assert "Not this." not in brief
