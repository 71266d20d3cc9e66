"""The keys of one group, asked for one by one; whatever is not asked for is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from agiraph.core.codec.marked import Group, Listing, Scalar, Value
from agiraph.core.codec.report import Problem, Remark

if TYPE_CHECKING:
    from agiraph.core.codec.report import Findings

T = TypeVar("T")


class Unfit(Exception):
    """A value was refused; caught where values are asked for, never further up."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.found)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Place:
    """One value, with where it stands and what it is called."""

    value: Value
    key: str
    findings: Findings

    def unfit(self, allowed: str, found: str = "") -> Unfit:
        """What to raise to refuse this value; whoever asked for it records that."""
        at = self.value
        return Unfit(
            Problem(at.line, at.column, self.key, found or self.found, allowed)
        )

    def read(self, parse: Parse[T]) -> T | None:
        """What stands here; None where it was refused, and recorded."""
        try:
            return parse(self)
        except Unfit as unfit:
            self.findings.problems.append(unfit.problem)
            return None

    @property
    def found(self) -> str:
        """What stands here, in words."""
        match self.value:
            case Scalar():
                if self.value.empty:
                    return "nothing"
                words = " ".join(self.value.text.split())
                return f"'{words if len(words) <= 80 else words[:79] + '…'}'"
            case Listing():
                return "a list"
            case Group():
                return "a group of keys"

    @property
    def empty(self) -> bool:
        """Whether nothing stands here."""
        return isinstance(self.value, Scalar) and self.value.empty


Parse: TypeAlias = Callable[[Place], T]
"""Reads a value, or refuses it by raising `Place.unfit`."""


@dataclass(slots=True)
class Section:
    """A group of keys that is being read."""

    group: Group
    key: str
    findings: Findings
    _values: dict[str, Value] = field(init=False)
    _known: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._values = {key.text: value for key, value in self.group.entries}

    @classmethod
    def top(cls, group: Group, findings: Findings) -> Section:
        """The keys at the top of a file."""
        return cls(group, "", findings)

    @classmethod
    def at(cls, place: Place) -> Section:
        """The keys below a value that must be a group."""
        if isinstance(place.value, Group):
            return cls(place.value, place.key, place.findings)
        raise place.unfit("a group of keys, such as {key: value}")

    def place(self, key: str) -> Place | None:
        """Where a key's value stands; None where the key is missing."""
        self._known.append(key)
        value = self._values.get(key)
        if value is None:
            return None
        return Place(value, self._path(key), self.findings)

    def get(self, key: str, parse: Parse[T], default: T) -> T:
        """The value of a key; the default where it is missing, empty or bad."""
        place = self.place(key)
        if place is None:
            return default
        if place.empty:
            text = f"`{place.key}` has no value; its default counts"
            self.findings.remarks.append(Remark(place.value.line, text))
            return default
        found = place.read(parse)
        return default if found is None else found

    def need(self, key: str, parse: Parse[T], allowed: str) -> T | None:
        """The value of a key that must be there."""
        place = self.place(key)
        if place is not None and not place.empty:
            return place.read(parse)
        at = self.group if place is None else place.value
        problem = Problem(at.line, at.column, self._path(key), "nothing", allowed)
        self.findings.problems.append(problem)
        return None

    def refuse(self, key: str, allowed: str) -> None:
        """Record that a key's value, good in itself, does not fit the others."""
        place = self.place(key) or Place(self.group, self._path(key), self.findings)
        problem = Problem(
            place.value.line, place.value.column, place.key, place.found, allowed
        )
        self.findings.problems.append(problem)

    def others(self) -> list[tuple[str, Place]]:
        """Every key that was not asked for yet, each with its place."""
        return [
            (key.text, Place(value, self._path(key.text), self.findings))
            for key, value in self.group.entries
            if key.text not in self._known
        ]

    def close(self, *, hints: dict[str, str] | None = None) -> None:
        """Remark on every key that was never asked for.

        Args:
            hints: for keys that belong elsewhere: what to do instead.
        """
        for key, _ in self.group.entries:
            if key.text in self._known:
                continue
            hint = (hints or {}).get(key.text) or self._nearest(key.text)
            text = f"the key `{self._path(key.text)}` is unknown and ignored{hint}"
            self.findings.remarks.append(Remark(key.line, text))

    def _nearest(self, key: str) -> str:
        near = difflib.get_close_matches(key[:100], self._known, 1, 0.65)
        return f"; did you mean `{near[0]}`?" if near else ""

    def _path(self, key: str) -> str:
        shown = key if len(key) <= 60 else key[:59] + "…"
        return f"{self.key}.{shown}" if self.key else shown
