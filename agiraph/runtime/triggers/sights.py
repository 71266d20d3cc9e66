"""What heartbeats see: all that people and the outside have done, as one fingerprint.

A fingerprint is kept when the agent comes to rest. A beat that sees the same has no
reason to wake it; what the agent itself has done meanwhile is in both.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Final

from agiraph.runtime.triggers.eye import Eye

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.trigger import Trigger
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.triggers.book import Book
    from agiraph.runtime.triggers.deeds import Deeds

PROTOCOL: Final = ("GOAL.md", "SOUL.md", "MEMORY.md", "memory/**", "triggers.yaml")


class Sights:
    """Looks for the heartbeats of one agent, and knows which are to look anew."""

    def __init__(self, desk: Desk, book: Book, deeds: Deeds) -> None:
        """Nothing has been looked at."""
        self._desk = desk
        self._book = book
        self._deeds = deeds
        self._eyes: dict[str, Eye] = {}
        self._rests = desk.rests
        self._unseen: dict[str, int] = {}

    def note(self, beats: Iterable[Trigger], fresh: Iterable[str]) -> None:
        """Whoever rested since has ended a wake: every beat is to look again."""
        rests = self._desk.rests
        again = [] if self._rests == rests else [beat.id for beat in beats]
        self._unseen |= dict.fromkeys((*fresh, *again), rests)
        self._rests = rests

    def owed(self, beats: Iterable[Trigger]) -> list[Trigger]:
        """The beats that are to look now: the agent has come to rest since."""
        desk = self._desk
        at_work = any(node.status.state.at_work for node in desk.nodes.values())
        if desk.active or at_work or self._book.wakes or desk.is_paused:
            return []
        return [beat for beat in beats if beat.id in self._unseen]

    async def keep(self, beats: Iterable[Trigger]) -> None:
        """Keep what these beats see now."""
        for beat in beats:
            self.put(beat, await self.of(beat))

    def put(self, beat: Trigger, seen: str) -> None:
        """Keep what a beat has seen; who rested since makes it look once more."""
        mark = self._book.marks.get(beat.id)
        if mark is not None and mark.digest == beat.digest:
            mark.seen = seen
        if self._unseen.get(beat.id) == self._rests:
            del self._unseen[beat.id]

    async def of(self, beat: Trigger) -> str:
        """What a beat sees, as a fingerprint; its probe is run."""
        desk = self._desk
        eye = self._eyes.setdefault(beat.id, Eye(desk.world.reader, desk.home.path))
        files = await asyncio.to_thread(eye.files, (*PROTOCOL, *beat.watch))
        if eye.full:
            desk.world.remark(
                f"{desk.agent}: {beat.id} watches more files than are looked at; "
                "name fewer"
            )
        board = {node.id: node.digest for node in desk.nodes.values()}
        staff = {staff.name: staff.text for staff in desk.staff.values()}
        said = [files, board, staff, self._book.stretch.people]
        if beat.probe:
            said.append(await self._deeds.probe(beat.id, beat.probe))
        text = json.dumps(said, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]
