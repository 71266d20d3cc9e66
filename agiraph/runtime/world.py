"""What every agent shares: the adapters, the tree's settings, the places for runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.errors import Full, ReadOnly
from agiraph.model.agent import TreeSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agiraph.model.agent import AgentState
    from agiraph.model.event import Event
    from agiraph.model.owner import Owner
    from agiraph.ports import Clock, Models, Pen, Reader, Shell, Whereabouts
    from agiraph.runtime.bell import Bell
    from agiraph.runtime.ledger import Ledger
    from agiraph.runtime.places import Places

DISK_RETRY = 5.0


@dataclass(slots=True)
class World:
    """The adapters and what holds for the whole tree.

    Attributes:
        say: tells the daemon's log of an event.
        remark: tells the daemon's log a sentence that is no event.
        trace: keeps the trace of a bug, where a person may find it.
        paused: whether the tree's PAUSE file is there.
        trouble: why nothing can be written now; empty when all is well.
        runs: places for the runs at work at once.
        stands: is told of each agent's new state.
        heirs: which agent has taken over a record whose home is gone.
        root: the tree's folder as an absolute path, for child processes only.
    """

    clock: Clock
    pen: Pen
    reader: Reader
    shell: Shell
    models: Models
    whereabouts: Whereabouts
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
    paused: bool = False
    trouble: str = ""

    def stamp(self) -> str:
        """Now, as files have it: ISO 8601 with an offset, to the millisecond."""
        return self.clock.now().isoformat(timespec="milliseconds")

    def today(self) -> str:
        """The calendar day in the tree's time zone, `YYYY-MM-DD`."""
        return self.clock.now().astimezone(self.clock.zone()).strftime("%Y-%m-%d")

    def day(self, moment: float) -> str:
        """The calendar day of a moment, given in seconds since 1970."""
        then = datetime.fromtimestamp(moment, self.clock.zone())
        return then.strftime("%Y-%m-%d")

    async def durably(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write, and while the disk refuses wait and try again; nothing is skipped."""
        while True:
            try:
                await write()
            except (Full, ReadOnly) as fault:
                if not self.trouble:
                    self.remark(str(fault))
                self.trouble = str(fault)
                self.bell.ring()
                await self.clock.sleep(DISK_RETRY)
            else:
                if self.trouble:
                    self.trouble = ""
                    self.remark("the disk takes writes again; work goes on")
                    self.bell.ring()
                return
