"""Agents at rest: while what people may change stands as it did, nobody looks again.

A look reads every file of an agent; a thousand agents that have long finished would
make the daemon slow to start and never idle. So after a look that found nothing to do,
the stamps of all that a look reads are kept; while they are the same, a hint or a
rescan ends there. They outlast the daemon in a cache, `.agiraph/at_rest.json`, that may
be deleted at any time.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.limits import LOG_BYTES
from agiraph.errors import AgiraphError
from agiraph.model.layout import MACHINE
from agiraph.runtime.root.seat import Rest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agiraph.model.json import Json
    from agiraph.runtime.root.seat import House, Seat
    from agiraph.runtime.world import World

CACHE: Final = MACHINE / "at_rest.json"
SAVE_EVERY: Final = 2.0
SHARE: Final = 1000.0  # looking whether they rest takes a thousandth of the time
JUMP: Final = 60.0  # seconds by which the wall clock may stray
EARLY: Final = 0.05  # seconds by which an alarm may ring too soon
STAMPS_TELL: Final = 2.0  # younger changes can carry equal time stamps
# Written by the daemon alone, and for nobody to act on: no reason for a look.
OURS: Final = frozenset(
    {
        "_status.md",
        "_board.md",
        "_outbox.md",
        "_refs.json",
        "_triggers.jsonl",
        "events.jsonl",
        "conversation.jsonl",
        "log.jsonl",
        "history.json",
    }
)


class Resting:
    """Knows how agents at rest stood, and finds out whether they still do.

    Attributes:
        settings: what stands for the tree's settings in force.
        due: when a rescan is to look at them again, on the monotonic clock.
    """

    def __init__(self, world: World, house: House, seats: Mapping[str, Seat]) -> None:
        """`seats`: the agents, as they come and go."""
        self._world = world
        self._seats = seats
        self._version = house.version
        self._alone = house.only is not None
        self._news = False
        self._drift = world.clock.now().timestamp() - world.clock.monotonic()
        self.settings = ""
        self.due = 0.0

    def mark(self, folders: Iterable[PurePosixPath]) -> tuple[str, float]:
        """How folders stand, and when something in them last changed (epoch)."""
        return self._world.reader.stand(folders, ignoring=OURS)

    def still(self, rest: Rest) -> bool:
        """Whether nothing has changed since; in a thread, it goes to the disk."""
        return self.mark(rest.folders)[0] == rest.mark

    async def moved(self, seats: Mapping[str, Rest]) -> list[str]:
        """Which agents stand otherwise than they did."""
        clock, began = self._world.clock, self._world.clock.monotonic()
        moved = await asyncio.to_thread(
            lambda: [name for name, rest in seats.items() if not self.still(rest)]
        )
        now = clock.monotonic()
        self.due = max(self.due, now + SHARE * (now - began))
        return moved

    async def before(self, seat: Seat) -> str:
        """How an agent stands before a look that may find it at rest; else empty."""
        if not seat.agent.at_rest:
            return ""
        mark, _ = await asyncio.to_thread(self.mark, seat.watched)
        return mark

    async def lay(self, seat: Seat, before: str) -> float | None:
        """Let an agent rest after a look that found nothing to do.

        Returns:
            Seconds after which another look may let it rest, where a change is too
            young for its stamp to tell; None where none is needed.
        """
        if not seat.agent.at_rest or seat.supervisor.wants():
            return None
        mark, newest = await asyncio.to_thread(self.mark, seat.watched)
        if mark != before:
            return None
        age = self._world.clock.now().timestamp() - newest
        if 0 <= age < STAMPS_TELL:
            return STAMPS_TELL - age
        day = self._world.today()
        spent = self._world.ledger.account(f"day:{seat.agent.desk.agent}:{day}")
        due = seat.agent.triggers.due
        seat.rest = Rest(
            seat.watched,
            mark,
            day,
            spent.usd,
            spent.tokens,
            due=due.timestamp() if due else 0.0,
        )
        self._news = True
        return None

    def rests(self, name: str) -> bool:
        """Whether an agent rests, and none of its triggers is due."""
        self._mind_the_clock()
        seat = self._seats.get(name)
        if seat is None or seat.rest is None:
            return False
        rest, now = seat.rest, self._world.clock.now().timestamp()
        if rest.due and rest.due <= now + EARLY:
            seat.rest = None
            return False
        return True

    def _mind_the_clock(self) -> None:
        """After a suspend, or where the clock was set, due times are looked at anew."""
        clock = self._world.clock
        drift = clock.now().timestamp() - clock.monotonic()
        if abs(drift - self._drift) > JUMP:
            self._drift = drift
            for seat in self._seats.values():
                seat.rest = None

    # --- over a restart

    async def recall(self) -> dict[str, Rest]:
        """Who still stands as saved under the same settings; its spending is booked."""
        if self._alone or self._world.paused:
            return {}
        try:
            found = json.loads(self._world.reader.read(CACHE, limit=LOG_BYTES))
            if (found["version"], found["settings"]) != (self._version, self.settings):
                return {}
            saved = {name: _read(entry) for name, entry in found["agents"].items()}
        except (AgiraphError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # a cache: without it everything is looked at
        for name in await self.moved(saved):
            del saved[name]
        for name, rest in saved.items():
            if rest.day == self._world.today():
                self._world.ledger.recall_sum(name, rest.day, rest.usd, rest.tokens)
        return saved

    async def keep(self) -> None:
        """Save now and then while there is something new; for ever."""
        while True:
            await self._world.clock.sleep(SAVE_EVERY)
            if self._news:
                await self.save()

    async def save(self) -> None:
        """Keep it for the next start; a disk that refuses costs nothing but time."""
        if self._alone:
            return
        self._news = False
        agents = {n: _written(s.rest) for n, s in self._seats.items() if s.rest}
        told = {"version": self._version, "settings": self.settings, "agents": agents}
        data = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
        with suppress(AgiraphError):
            await self._world.pen.write(CACHE, data)


def _written(rest: Rest) -> dict[str, Json]:
    folders: list[Json] = [str(folder) for folder in rest.folders]
    return {
        "folders": folders,
        "mark": rest.mark,
        "day": rest.day,
        "usd": rest.usd,
        "tokens": rest.tokens,
        "due": rest.due,
    }


def _read(entry: Mapping[str, object]) -> Rest:
    folders = entry["folders"]
    if not isinstance(folders, list):
        raise TypeError("folders is no list")
    return Rest(
        tuple(PurePosixPath(str(folder)) for folder in folders),
        str(entry["mark"]),
        str(entry["day"]),
        float(str(entry["usd"])),
        int(str(entry["tokens"])),
        float(str(entry["due"])),
    )
