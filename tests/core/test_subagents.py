"""Subagent files of Claude Code as workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import Good, Rejected, read_identity, write_identity

if TYPE_CHECKING:
    from agiraph.model.worker import Identity

FILE = """---
name: code-reviewer
description: Reviews code. Use it
  after each change.
tools: Read, Grep, Glob, Bash(git diff:*), mcp__files__read
model: sonnet
color: blue
maxTurns: 9
---
You are a careful reviewer.
"""


def identity(text: str, name: str = "code-reviewer") -> Good[Identity]:
    found = read_identity(text, name)
    assert isinstance(found, Good), found
    return found


def test_a_subagent_file_is_an_identity() -> None:
    found = identity(FILE)
    one = found.value
    assert one.role == "Reviews code. Use it after each change."
    assert one.tools == ("read_file", "bash", "list_files", "mcp__files__read")
    assert one.model == ("anthropic/claude-sonnet-4-5",)
    assert one.text == "You are a careful reviewer."
    said = [remark.text for remark in found.remarks]
    assert any("`color` has no meaning here" in each for each in said)
    assert any("`maxTurns` has no meaning here" in each for each in said)


def test_it_is_written_in_our_own_words() -> None:
    text = write_identity(identity(FILE).value)
    assert identity(text).value == identity(FILE).value
    assert identity(text).remarks == ()


@pytest.mark.parametrize(
    ("front", "model", "tools"),
    [
        ("model: inherit", (), None),
        ("model: openai/gpt-4o", ("openai/gpt-4o",), None),
        ("tools: [Read, Write]", (), ("read_file", "write_file")),
        ("tools: [read_file, bash]", (), ("read_file", "bash")),
        ("tools: bash", (), ("bash",)),
        ("tools: []", (), ()),
    ],
)
def test_models_and_tools_are_put_into_our_words(
    front: str, model: tuple[str, ...], tools: tuple[str, ...] | None
) -> None:
    one = identity(f"---\n{front}\n---\nHello.\n").value
    assert (one.model, one.tools) == (model, tools)


def test_tools_that_are_not_to_be_had_cannot_be_kept_to_and_are_refused() -> None:
    found = read_identity("---\ndisallowedTools: Bash\n---\nHello.\n", "x")
    assert isinstance(found, Rejected)
    assert "`tools`" in found.problems[0].allowed
