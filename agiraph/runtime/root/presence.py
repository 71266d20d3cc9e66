"""PAUSE and AWAY at the root: files that count by being there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.away import read_away
from agiraph.errors import AgiraphError
from agiraph.model.layout import AWAY, PAUSE
from agiraph.runtime.agent import ABSENT_SECONDS

if TYPE_CHECKING:
    from agiraph.runtime.world import World

AWAY_BYTES = 64 * 1024


class RootPresence:
    """Keeps the world told of both."""

    def __init__(self, world: World) -> None:
        """Neither was seen yet."""
        self._world = world
        self._unpaused_at: float | None = None

    def look(self) -> float | None:
        """One look at both; seconds until another is worth it.

        Raises:
            AgiraphError: the root cannot be read.
        """
        left = [each for each in (self._pause(), self._away()) if each is not None]
        return min(left, default=None)

    def _pause(self) -> float | None:
        """PAUSE counts at once; its absence is believed after two seconds."""
        world, now = self._world, self._world.clock.monotonic()
        there = world.reader.entry(PAUSE) is not None
        if there:
            self._unpaused_at = None
        elif world.paused and self._unpaused_at is None:
            self._unpaused_at = now + ABSENT_SECONDS
            return ABSENT_SECONDS
        elif world.paused and self._unpaused_at is not None and now < self._unpaused_at:
            return self._unpaused_at - now
        if there != world.paused:
            world.paused = there
            world.remark("paused: the file PAUSE is there" if there else "goes on")
        return None

    def _away(self) -> float | None:
        """While the person is away, what they are told is held back."""
        world, words, left = self._world, "", None
        if world.reader.entry(AWAY) is not None:
            away = read_away(self._text(), world.clock.zone())
            left = away.left(world.clock.now())
            words = "" if left == 0.0 else away.told()
        if words != world.away:
            world.away = words
            back = "the person is back; what was held back is sent"
            gone = f"the person is away {words}; what is for them is held back"
            world.remark(gone if words else back)
        return left or None

    def _text(self) -> str:
        try:
            data = self._world.reader.read(AWAY, limit=AWAY_BYTES)
        except AgiraphError:
            return ""  # it is there; what it says does not matter so much
        return data.decode("utf-8", "replace")
