"""What every agent shares: the adapters, the tree's settings, the places for runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakSet

from agiraph.core.limits import FOREGROUND
from agiraph.core.room import crowded
from agiraph.errors import DiskRefused, Full
from agiraph.model.agent import TreeSettings
from agiraph.runtime.setbacks import Setbacks
from agiraph.runtime.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import PurePosixPath

    from agiraph.model.agent import AgentState, Budget, Limits
    from agiraph.model.event import Event
    from agiraph.model.notice import Notice
    from agiraph.model.owner import Owner
    from agiraph.ports import (
        Attic,
        Clock,
        Disk,
        Models,
        Pen,
        Reader,
        Shell,
        Whereabouts,
    )
    from agiraph.runtime.bell import Bell
    from agiraph.runtime.hosting import Host
    from agiraph.runtime.ledger import Ledger
    from agiraph.runtime.places import Places

DISK_RETRY = 5.0
T = TypeVar("T")


class Notices(Protocol):
    """Keeps what people are told outside the tree, and sends it."""

    async def add(self, notice: Notice) -> None:
        """Keep a notice for every channel that carries it; once for its id."""

    def settings_changed(self) -> None:
        """Channels have come or gone."""

    async def run(self) -> None:
        """Send what waits, until this is cancelled."""


class NoNotices:
    """Nobody is told outside the tree."""

    async def add(self, notice: Notice) -> None:
        """Nothing is kept."""

    def settings_changed(self) -> None:
        """No channel is served."""

    async def run(self) -> None:
        """There is nothing to send."""


def _nothing(agent: str) -> None:
    del agent


@dataclass(slots=True)
class World:
    """The adapters and what holds for the whole tree.

    Attributes:
        say: tells the daemon's log of an event.
        remark: tells the daemon's log a sentence that is no event.
        trace: keeps the trace of a bug, where a person may find it.
        paused: whether the tree's PAUSE file is there.
        trouble: why something cannot be written now; empty when all is well.
        unset: why it is not known what agiraph.yaml sets; empty when it is.
        crowded: why the disk takes no new work; empty when there is room.
        suspects: agents that were at work each time the daemon died lately.
        released: is told which of these a person lets try again.
        tool_servers: starts the servers that `.mcp.json` names; None where nobody does.
        attic: where what grows old is put away; None where nobody does.
        bells: of the agents; whoever waits there hears of what holds for all.
        runs: places for the runs at work at once.
        stands: is told of each agent's new state.
        foreground: seconds for which the coordinator waits for a command of its own.
        look: asks for a look at an agent, soon.
        catching_up: whose turn it is to do what was missed.
        notices: what people are told outside the tree.
        away: the words of the file AWAY while the person is away; else empty.
        heirs: which agent has taken over a record whose home is gone.
        setbacks: models that are put off for now.
        told_over: caps that people were asked to raise, by what they were asked.
        root: the tree's folder as an absolute path, for child processes only.
    """

    clock: Clock
    pen: Pen
    reader: Reader
    shell: Shell
    models: Models
    whereabouts: Whereabouts
    disk: Disk
    ledger: Ledger
    runs: Places
    bell: Bell
    say: Callable[[Event], None]
    remark: Callable[[str], None]
    trace: Callable[[BaseException], None]
    root: str
    stands: Callable[[str, AgentState], None]
    settings: TreeSettings = field(default_factory=TreeSettings)
    heirs: dict[Owner, str] = field(default_factory=dict)
    foreground: float = FOREGROUND
    paused: bool = False
    trouble: str = ""
    crowded: str = ""
    unset: str = ""
    suspects: frozenset[str] = frozenset()
    tool_servers: Host | None = None
    attic: Attic | None = None
    released: Callable[[str], None] = _nothing
    told_over: dict[str, Budget | Limits] = field(default_factory=dict)
    setbacks: Setbacks = field(default_factory=Setbacks)
    look: Callable[[str], None] = _nothing
    catching_up: Turns = field(default_factory=Turns)
    away: str = ""
    notices: Notices = field(default_factory=NoNotices)
    bells: WeakSet[Bell] = field(default_factory=WeakSet)
    _refused: list[DiskRefused] = field(default_factory=list)
    _today: tuple[int, str] = (-1, "")

    def stamp(self) -> str:
        """Now, as files have it: ISO 8601 with an offset, to the millisecond."""
        return self.clock.now().isoformat(timespec="milliseconds")

    def now(self) -> datetime:
        """The instant, in UTC: times of one zone would be compared by their walls."""
        return self.clock.now().astimezone(UTC)

    def today(self) -> str:
        """The calendar day in the tree's time zone, `YYYY-MM-DD`."""
        now = self.clock.now()
        minute = int(now.timestamp()) // 60  # no zone's day begins within one
        if self._today[0] != minute:
            day = now.astimezone(self.clock.zone()).strftime("%Y-%m-%d")
            self._today = (minute, day)
        return self._today[1]

    def day(self, moment: float) -> str:
        """The calendar day of a moment, given in seconds since 1970."""
        then = datetime.fromtimestamp(moment, self.clock.zone())
        return then.strftime("%Y-%m-%d")

    @property
    def hold(self) -> str:
        """Why nothing new may start in the whole tree; empty when it may."""
        full = any(isinstance(fault, Full) for fault in self._refused)
        return self.unset or self.crowded or (self.trouble if full else "")

    def look_at_disk(self) -> None:
        """Park everything where the disk is nearly full; wake it where it is not."""
        words = crowded(self.disk.room(), was=bool(self.crowded))
        if bool(words) == bool(self.crowded):
            return  # a few bytes more or less are no news to whoever waits
        self.remark(words or "the disk has room again; work goes on")
        self.crowded = words
        self.ring()

    def ring(self) -> None:
        """Wake everyone who waits, at every agent."""
        for bell in (self.bell, *self.bells):
            bell.ring()

    async def append(self, path: PurePosixPath, data: bytes, *, flush: bool) -> None:
        """Add whole lines to a log, once, however often the disk refuses."""
        await self.durably(lambda: self.pen.append(path, data, flush=False))
        if flush:
            await self.durably(lambda: self.pen.flush(path))

    async def write(self, path: PurePosixPath, data: bytes) -> None:
        """Replace or make a file in one step, however often the disk refuses."""
        await self.durably(lambda: self.pen.write(path, data))

    async def durably(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write, and while the disk refuses wait and try again; nothing is skipped.

        Args:
            write: harmless to repeat; an append is not, where its flush fails.
        """
        refused: DiskRefused | None = None
        try:
            while True:
                try:
                    return await write()
                except DiskRefused as fault:
                    self._note(refused, fault)
                    refused = fault
                await self.clock.sleep(DISK_RETRY)
        finally:
            if refused is not None:
                self._note(refused, None)

    def _note(self, old: DiskRefused | None, new: DiskRefused | None) -> None:
        """Keep what is refused now, and tell it when that changes."""
        if old is not None:
            self._refused.remove(old)
        if new is not None:
            self._refused.append(new)
            self.look_at_disk()
        self._tell()

    def _tell(self) -> None:
        words = str(self._refused[0]) if self._refused else ""
        if words == self.trouble:
            return
        if not self.trouble or not words:
            self.remark(words or "the disk takes writes again; work goes on")
        self.trouble = words
        self.ring()
