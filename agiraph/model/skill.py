"""A skill: instructions that a person gave for a kind of work, read when needed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """A good SKILL.md, but for its body, which is read on demand.

    Attributes:
        name: of its folder.
        tools: `allowed-tools`: what it may do without a question, as it names that.
    """

    name: str
    description: str
    tools: tuple[str, ...] = ()
