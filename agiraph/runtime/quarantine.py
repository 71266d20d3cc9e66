"""What keeps one agent from working until a person acts: damage, and crashes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core import breaker
from agiraph.core.codec import error_page, log_words
from agiraph.core.codec.report import Problem
from agiraph.core.limits import CRASHES
from agiraph.errors import AgiraphError, Damaged
from agiraph.model.event import EventType
from agiraph.model.layout import error_file, put_away
from agiraph.runtime import purses
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.journal import Journal
from agiraph.runtime.recall import check_record

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.ports import Entry
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder

MENDED_EVERY = 1.0  # seconds between two looks at a log that is to be mended
STARTS = "starts"


class Quarantine:
    """One agent alone is kept from working; everything else goes on."""

    def __init__(self, desk: Desk) -> None:
        """Nothing is wrong yet; the daemon's last deaths may say otherwise."""
        self._desk = desk
        self._damaged: PurePosixPath | None = None
        self._as_it_was: Entry | None = None
        self._crashed = False
        self._touched: float | None = None
        if desk.agent in desk.world.suspects:
            desk.holds[STARTS] = breaker.words(desk.agent)

    # --- coming in

    async def damaged(self, fault: Damaged) -> None:
        """What the daemon wrote earlier cannot be read."""
        desk, path = self._desk, fault.path
        self._damaged, self._as_it_was = path, desk.world.reader.entry(path)
        desk.broken = str(fault)
        problem = Problem(
            fault.line, 1, "", f"a line that cannot be read: {fault.why}", fault.mend
        )
        in_force = "this agent does nothing; all others go on"
        page = error_page(path, (problem,), in_force).encode()
        await desk.world.write(error_file(path), page)
        await self._told(EventType.FILE_ERROR, path, log_words(path, (problem,)))

    async def crashed(self, step: str, why: str) -> int:
        """A step ended by a bug; how often it has now. Too often holds the agent."""
        count = await self._desk.journal.crashed(step, why)
        if count >= CRASHES:
            await self.too_often(step, why)
        return count

    async def too_often(self, step: str, why: str) -> None:
        """The same step crashed three times: it is not tried again by itself."""
        desk = self._desk
        words = (
            f"it crashed {CRASHES} times in the same step ({step}): {why}; the record "
            f"is in {desk.home.journal}; touch GOAL.md or "
            f"`agiraph resume {desk.agent}` to try again"
        )
        await desk.journal.quarantine(step, words, self._goal_changed())
        await desk.records.event(EventType.AGENT_FAILED, desk.where(), words=words)
        self._keep(words)

    def recall(self) -> None:
        """After a restart: what the journal says of crashes is still in force."""
        kept = self._desk.journal.quarantined
        if kept is not None and kept.goal_changed == self._goal_changed():
            self._keep(kept.words)

    def _keep(self, words: str) -> None:
        self._crashed = True
        self._desk.broken = words
        self._desk.bell.ring()

    # --- going away

    async def look(self, folder: Folder) -> bool:
        """Let go where a person has acted; whether the agent's files may be read."""
        if self._damaged is not None:
            await self._look_at_damage(self._damaged, folder)
            return self._damaged is None
        touched, self._touched = self._touched, folder.goal_changed
        if touched is not None and folder.goal_changed not in (None, touched):
            await self._released()
        return True

    async def _released(self) -> None:
        desk = self._desk
        if desk.holds.pop(STARTS, None):
            desk.world.released(desk.agent)
            desk.changed()
        if self._crashed:
            await desk.journal.release()
            self._crashed, desk.broken = False, ""
            desk.changed()

    async def _look_at_damage(self, path: PurePosixPath, folder: Folder) -> None:
        desk = self._desk
        now = desk.world.reader.entry(path)
        if now != self._as_it_was and await asyncio.to_thread(self._is_sound, path):
            self._damaged, desk.broken = None, ""
            desk.journal.forget()
            await self.mended(path)
            desk.changed()
            return
        self._as_it_was = now
        folder.again = min(folder.again or MENDED_EVERY, MENDED_EVERY)

    def _is_sound(self, path: PurePosixPath) -> bool:
        world, home = self._desk.world, self._desk.home
        try:
            if path == home.journal:
                Journal(world, home).load()
            elif path == home.usage or path.parent == put_away(home.usage):
                purses.check(self._desk)
            elif path.suffix == ".jsonl":
                Conversation(world, path).load()
            else:
                check_record(self._desk, path)
        except AgiraphError:
            return False
        return True

    async def mended(self, path: PurePosixPath) -> None:
        """Take the error page of a log away, once it is good."""
        desk, page = self._desk, error_file(path)
        if desk.world.reader.entry(page) is not None:
            await desk.world.durably(lambda: desk.world.pen.remove(page))
            await self._told(EventType.FILE_MENDED, path, "")

    async def _told(self, kind: EventType, path: PurePosixPath, words: str) -> None:
        desk = self._desk
        more = {"words": words} if words else {}
        await desk.records.event(kind, desk.where(), path=str(path), **more)

    def _goal_changed(self) -> float | None:
        entry = self._desk.world.reader.entry(self._desk.home.goal)
        return entry.changed if entry is not None else None
