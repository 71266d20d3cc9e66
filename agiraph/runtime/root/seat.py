"""One agent as the controller sees it, and what it is built with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import PurePosixPath

    from agiraph.model.agent import TreeSettings
    from agiraph.model.layout import Home
    from agiraph.ports import Alarm, Tool
    from agiraph.runtime.agent import Agent
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.supervisor import Supervisor
    from agiraph.tools.seen import LastSeen

SPACING = 0.05
LONGEST_SPACING = 2.0  # a look may have waited for the disk, not worked


@dataclass(frozen=True, slots=True)
class Rest:
    """How an agent at rest stood.

    Attributes:
        folders: what a look goes through, relative to the root.
        mark: how all in them stood that people may change.
        day, usd, tokens: what it had spent on that day.
        due: when one of its triggers is due, in seconds since 1970; 0 is never.
    """

    folders: tuple[PurePosixPath, ...]
    mark: str
    day: str = ""
    usd: float = 0.0
    tokens: int = 0
    due: float = 0.0


@dataclass(slots=True)
class Seat:
    """One agent as the controller sees it.

    Attributes:
        found, looked: when the home was found and last looked at, on the clock that
            only goes on; looked is before found where it was not looked at.
        took: how long that look took, in seconds.
        looking: whether a look is under way; dirty: whether another is wanted.
        fresh: whether the home has just appeared, and may still be arriving.
        watched: what the watch was told.
        rest: how it stood when there was nothing to do for it.
    """

    agent: Agent
    supervisor: Supervisor
    looking: bool = False
    dirty: bool = False
    running: bool = False
    fresh: bool = False
    found: float = 0.0
    looked: float = -SPACING
    took: float = 0.0
    watched: tuple[PurePosixPath, ...] = ()
    rest: Rest | None = None

    @property
    def is_ours(self) -> bool:
        """Whether this daemon works for it, as far as has been seen."""
        return self.rest is not None or self.agent.is_ours


def at_peace(seats: Iterable[Seat]) -> Iterator[Home]:
    """The homes whose old things may be put away: ours, and nothing holds them."""
    for seat in seats:
        desk = seat.agent.desk
        if seat.is_ours and not (desk.is_paused or desk.hold):
            yield desk.home


@dataclass(slots=True)
class House:
    """What the controller is given to build agents with.

    Attributes:
        edges: makes an agent's tools of the edges, given what its loops have seen.
        furnish: the files that a new home gets, by name.
        models: puts the tree's settings in force for the models.
        only: the one agent to work on; None is every one.
        version: of the program.
        alarm: makes what rings at due times, given whom it tells; None: nothing does,
            and what is due is found by the next rescan.
    """

    edges: Callable[[LastSeen], Mapping[str, Tool]]
    furnish: Callable[[], dict[str, bytes]]
    models: Callable[[TreeSettings], object]
    only: str | None = None
    version: str = ""
    alarm: Callable[[Callable[[str], None]], Alarm] | None = None


def folders_of(desk: Desk) -> tuple[PurePosixPath, ...]:
    """The folders in which people may write to an agent."""
    home = desk.home
    folders = [home.path, home.dropbox, home.questions]
    if desk.run is not None:
        run = desk.run_folder()
        folders += [run.nodes, run.workers]
        folders += [run.node(node).path for node in desk.nodes]
        folders += [run.worker(staff.name).path for staff in desk.staff.values()]
    if desk.run_open:  # between runs the next look finds what was edited
        folders += [home.memories, *desk.memory.folders()]
    return tuple(folders)
