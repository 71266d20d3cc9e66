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
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.limits import LOG_BYTES
from agiraph.errors import AgiraphError
from agiraph.model.layout import MACHINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agiraph.model.json import Json
    from agiraph.runtime.agent import Agent
    from agiraph.runtime.world import World

CACHE: Final = MACHINE / "at_rest.json"
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


@dataclass(frozen=True, slots=True)
class Rest:
    """How an agent at rest stood.

    Attributes:
        folders: what a look goes through, relative to the root.
        mark: how all in them stood that people may change.
        day, usd, tokens: what it had spent on that day.
    """

    folders: tuple[PurePosixPath, ...]
    mark: str
    day: str = ""
    usd: float = 0.0
    tokens: int = 0


class Resting:
    """Knows how agents at rest stood, and finds out whether they still do."""

    def __init__(self, world: World, version: str) -> None:
        """`version`: of the program; another one looks at everything anew."""
        self._world = world
        self._version = version
        self._saved = ""

    def mark(self, folders: Iterable[PurePosixPath]) -> tuple[str, float]:
        """How folders stand, and when something in them last changed (epoch)."""
        return self._world.reader.stand(folders, ignoring=OURS)

    def still(self, rest: Rest) -> bool:
        """Whether nothing has changed since; in a thread, it goes to the disk."""
        return self.mark(rest.folders)[0] == rest.mark

    async def moved(self, seats: Mapping[str, Rest]) -> list[str]:
        """Which agents stand otherwise than they did."""
        return await asyncio.to_thread(
            lambda: [name for name, rest in seats.items() if not self.still(rest)]
        )

    def found(
        self, agent: Agent, folders: tuple[PurePosixPath, ...], before: str
    ) -> Rest | float | None:
        """What a look that found nothing to do allows.

        Args:
            agent: who was looked at.
            folders: what the look went through.
            before: the mark of the folders before the look.

        Returns:
            A rest; seconds after which another look may find one, where a change is
            too young for its stamp to tell; None where there is none.
        """
        if not agent.at_rest:
            return None
        mark, newest = self.mark(folders)
        if mark != before:
            return None
        age = self._world.clock.now().timestamp() - newest
        if 0 <= age < STAMPS_TELL:
            return STAMPS_TELL - age
        day = self._world.today()
        spent = self._world.ledger.account(f"day:{agent.desk.agent}:{day}")
        return Rest(folders, mark, day, spent.usd, spent.tokens)

    # --- over a restart

    def recall(self, settings: str) -> dict[str, Rest]:
        """What was saved, under the same settings; what it spent today is booked."""
        try:
            data = self._world.reader.read(CACHE, limit=LOG_BYTES)
            found = json.loads(data)
            if found["version"] != self._version or found["settings"] != settings:
                return {}
            resting = {name: _read(entry) for name, entry in found["agents"].items()}
        except (AgiraphError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # a cache: without it everything is looked at
        return resting

    def book(self, agent: str, rest: Rest) -> None:
        """Book what an agent that is not looked at has spent today."""
        if rest.day == self._world.today():
            self._world.ledger.recall_day(agent, rest.day, rest.usd, rest.tokens)

    async def save(self, resting: Mapping[str, Rest], settings: str) -> None:
        """Keep it for the next start; a disk that refuses costs nothing but time."""
        agents = {name: _written(rest) for name, rest in resting.items()}
        told = {"version": self._version, "settings": settings, "agents": agents}
        text = json.dumps(told, ensure_ascii=False)
        if text == self._saved:
            return
        try:
            await self._world.pen.write(CACHE, text.encode("utf-8", "replace"))
        except AgiraphError:
            return
        self._saved = text


def _written(rest: Rest) -> dict[str, Json]:
    folders: list[Json] = [str(folder) for folder in rest.folders]
    return {
        "folders": folders,
        "mark": rest.mark,
        "day": rest.day,
        "usd": rest.usd,
        "tokens": rest.tokens,
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
    )
