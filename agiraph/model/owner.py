"""Whose an agent is: which machine and place runs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a daemon finds an agent.

    Attributes:
        host: the machine, by an id that stays the same.
        place: the tree's root, as an absolute path of that machine.
        agent: the name of the agent's home.
    """

    host: str
    place: str
    agent: str

    @property
    def home(self) -> str:
        """The home as a path of that machine."""
        return f"{self.place.rstrip('/')}/{self.agent}"


@dataclass(frozen=True, slots=True)
class Owner:
    """What `_owner.yaml` says.

    Attributes:
        epoch: counts up with each `agiraph adopt`.
        since: when this began, ISO 8601; it tells an agent from a later one that has
            taken its name.
        machine: the machine's name, for people; never compared.
    """

    spot: Spot
    epoch: int = 1
    since: str = ""
    machine: str = ""

    @property
    def where(self) -> str:
        """In words for a person: where the agent is run."""
        return f"{self.spot.home} on {self.machine or self.spot.host}"


class Old(Enum):
    """What stands now at the home that an owner file names."""

    GONE = "gone"  # nothing
    SAME = "same"  # this very folder, by another path
    OTHER = "other"  # another agent, which has taken the name since
    THERE = "there"  # the agent that the owner file speaks of
