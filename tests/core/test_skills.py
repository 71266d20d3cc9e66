"""Skills: what a SKILL.md says of itself, and what it allows beforehand."""

from __future__ import annotations

import pytest

from agiraph.core.brief import Listed, RunBrief, run_brief
from agiraph.core.codec import Good, Rejected, read_skill
from agiraph.core.skills import allows

WHOLE = """---
name: pdf-forms
description: Fills in PDF forms.
  Use it whenever a form is asked for.
license: MIT
allowed-tools: Bash(pdftotext:*) Read WebFetch(domain:example.org), mcp__files__read
metadata: {author: someone}
---
# How

Read the form first.
"""


def test_a_skill_is_its_name_its_description_and_its_tools() -> None:
    found = read_skill(WHOLE, "pdf-forms")
    assert isinstance(found, Good)
    assert found.remarks == ()
    skill = found.value
    assert skill.name == "pdf-forms"
    assert skill.description.endswith("Use it whenever a form is asked for.")
    assert skill.tools == (
        "Bash(pdftotext:*)",
        "Read",
        "WebFetch(domain:example.org)",
        "mcp__files__read",
    )


@pytest.mark.parametrize("text", ["", "no frontmatter", "---\nname: x\n---\nbody"])
def test_a_skill_without_a_description_is_refused(text: str) -> None:
    found = read_skill(text, "x")
    assert isinstance(found, Rejected)
    assert found.problems[0].key == "description"


def test_the_folder_names_the_skill() -> None:
    found = read_skill("---\nname: other\ndescription: d\n---\n", "mine")
    assert isinstance(found, Good)
    assert found.value.name == "mine"
    assert "the folder names the skill" in found.remarks[0].text


@pytest.mark.parametrize(
    ("tool", "kind", "subject", "may"),
    [
        ("Bash(git log:*)", "bash", "git log --oneline", True),
        ("Bash(git log:*)", "bash", "git log", True),
        ("Bash(git log:*)", "bash", "git logs", False),
        ("Bash(git log:*)", "bash", "git push", False),
        ("Bash(git:*)", "bash", "git log; rm -rf /", False),
        ("Bash(git:*)", "bash", "git log\nrm -rf /", False),
        ("Bash(git:*)", "bash", "git log $(rm x)", False),
        ("Bash(git:*)", "bash", "git log `rm x`", False),
        ("Bash(git:*)", "bash", "git log > /etc/x", False),
        ("Bash(git:*)", "bash", "git log && rm x", False),
        ("Bash(make test)", "bash", "make test", True),
        ("Bash(make test)", "bash", "make test all", False),
        ("Bash", "bash", "ls", False),
        ("Bash(*)", "bash", "ls", False),
        ("Bash(:*)", "bash", "ls", False),
        ("WebFetch(domain:example.org)", "web", "example.org", True),
        ("WebFetch(domain:example.org)", "web", "a.example.org", False),
        ("WebFetch", "web", "example.org", True),
        ("WebFetch", "web", "search", False),
        ("WebSearch", "web", "search", True),
        ("Write", "write", "a/scratch/x.md", True),
        ("Read", "write", "a/scratch/x.md", False),
        ("mcp__files__read", "mcp", "files/read", True),
        ("mcp__files__read", "mcp", "files/write", False),
        ("mcp__files", "mcp", "files/write", True),
        ("mcp__files", "mcp", "start files 0123456789ab", False),
        ("Bash(git:*)", "spawn", "git", False),
        ("(", "bash", "ls", False),
    ],
)
def test_a_tool_is_allowed_beforehand_as_far_as_it_is_named(
    tool: str, kind: str, subject: str, may: bool
) -> None:
    assert allows(["Read", tool], kind, subject) is may


def test_a_brief_names_skills_and_shows_the_instructions_of_projects() -> None:
    text = run_brief(
        RunBrief(
            date="", run="r", goal="g", memory="", memory_index="", daily=(), inputs=(),
            models="",
            skills=("`skills/a/SKILL.md`: Does a.",),
            instructions=(Listed("inputs/app/AGENTS.md", 9, "Run tox.\n"),),
        )
    )  # fmt: skip
    assert "- `skills/a/SKILL.md`: Does a." in text
    assert "## For work on `inputs/app/` (inputs/app/AGENTS.md)\n\nRun tox." in text
