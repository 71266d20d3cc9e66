"""What reading a file comes to: a good value with remarks, or its problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing in a file that cannot be accepted.

    Attributes:
        line: where, from 1, counted in the whole file; 0 where it is the file itself.
        column: where in that line, from 1.
        key: the setting, e.g. `limits.max_turns`; empty where there is none.
        found: what stands there.
        allowed: what may stand there; empty where `found` says it all.
    """

    line: int
    column: int
    key: str
    found: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd that does no harm, e.g. an unknown key."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Good(Generic[T_co]):
    """A file that was accepted."""

    value: T_co
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A file that was not accepted, with everything that is wrong with it."""

    problems: tuple[Problem, ...]


@dataclass(slots=True)
class Findings:
    """What one reading has found so far; lives as long as that reading."""

    problems: list[Problem]
    remarks: list[Remark]

    @classmethod
    def none_yet(cls) -> Findings:
        """The start of a reading."""
        return cls([], [])

    def rejected(self) -> Rejected:
        """All problems, in the order of the file."""
        by_place = sorted(self.problems, key=lambda each: (each.line, each.column))
        return Rejected(tuple(by_place))
