"""What a scenario of the sweeps is made of.

Each bash command adds one line to a file outside the tree, so that what was done twice
shows there, whatever the records say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.model_server import call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.support.model_server import Script, Scripted
    from tests.support.web import Answer

AGENT = "ada"
RUN = f"{AGENT}/runs/*"
MODEL = "openai/gpt-4o"
GOAL = f"---\nmodel: {MODEL}\n---\nTake it to its end.\n"


@dataclass(frozen=True)
class Deed:
    """What a person does once a fact holds."""

    fact: Callable[[Doomed], bool]
    do: Callable[[Doomed], None]


@dataclass(frozen=True)
class Scenario:
    """One way of using an agent, from beginning to end.

    Attributes:
        script: what the models say; it is given the file of effects.
        deeds: what the person does, in order; none is done twice.
        holds: what must be true at the end; it asserts.
        effects: the lines that must stand in the file of effects, each once; one may
            be missing where its caller was told that its command was cut off.
        mails: what people wrote, each to be told to its reader exactly once.
        web: pages of a web server whose address stands in the file `web` beside.
        arm: a file in the tree's parent; the points of a sweep begin when it is there.
        people: what they wrote before the daemon began, by paths below the root.
        grown: what an earlier daemon left, likewise.
        module: what is run as the daemon.
    """

    name: str
    script: Callable[[Path], Script]
    deeds: tuple[Deed, ...]
    holds: Callable[[Doomed], None]
    effects: tuple[str, ...] = ()
    mails: tuple[str, ...] = ()
    arm: str = ""
    web: Mapping[str, str | Answer] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    grown: Mapping[str, str] = field(default_factory=dict)
    module: str = "agiraph"

    def files(self) -> dict[str, str]:
        """What people wrote at paths below the tree's root, byte for byte."""
        return {f"{AGENT}/GOAL.md": GOAL, **self.people}


def effect(file: Path, line: str, *, then: str = "echo done") -> Scripted:
    """A command that leaves a line behind, and a path to where it stands."""
    return call("bash", command=f"echo {line} >> {file}; {then}")


def watching(daemon: Doomed) -> bool:
    return b"watching" in daemon.log.read_bytes()


def drop_goal(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/GOAL.md", GOAL)


DROPPED = Deed(watching, drop_goal)
