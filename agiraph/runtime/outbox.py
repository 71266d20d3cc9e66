"""`_outbox.md`: what people are told, like a chat, newest last; old parts move away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.core.codec.outbox import first_head, marker, write_entry
from agiraph.core.limits import OUTBOX_KEPT, OUTBOX_MOST
from agiraph.core.notices import shortened
from agiraph.model.notice import Notice, NoticeKind

if TYPE_CHECKING:
    from agiraph.model.layout import Home
    from agiraph.runtime.world import World


class Outbox:
    """The outbox of one agent."""

    def __init__(self, world: World, home: Home) -> None:
        """Nothing is read until there is something to add."""
        self._world = world
        self._home = home
        self._turn = asyncio.Lock()

    async def add(self, sender: str, text: str, mark: str) -> None:
        """Add what somebody says, once for its mark."""
        async with self._turn:
            if marker(mark).encode("utf-8", "replace") in self._tail():
                return
            await self._notify(sender, text, mark)
            when = self._world.clock.now().strftime("%Y-%m-%d %H:%M")
            entry = write_entry(when, sender, mark, text).encode("utf-8", "replace")
            await self._world.append(self._home.outbox, entry, flush=True)
            await self._cap()

    async def _notify(self, sender: str, text: str, mark: str) -> None:
        """Tell it outside the tree too; a question has a notice of its own."""
        if mark.startswith("q-"):
            return
        agent = self._home.agent
        of = "" if sender == agent else f" of {agent}"
        await self._world.notices.add(
            Notice(
                id=mark,
                kind=NoticeKind.MESSAGE,
                agent=agent,
                title=f"{sender}{of}: a message",
                text=shortened(text.strip()),
                ts=self._world.stamp(),
                file=str(self._home.outbox),
            )
        )

    async def _cap(self) -> None:
        """Move all but the newest part away, to the month's file, whole entries only.

        A crash in between may leave entries in both; none is lost.
        """
        reader, path = self._world.reader, self._home.outbox
        entry = reader.entry(path)
        if entry is None or entry.size <= OUTBOX_MOST:
            return
        data = reader.read(path, limit=entry.size + OUTBOX_MOST)
        at = first_head(data, max(0, len(data) - OUTBOX_KEPT))
        if at <= 0:
            return
        month = self._world.today()[:7]
        old = self._home.conversations / f"outbox-{month}.md"
        await self._world.append(old, data[:at], flush=True)
        await self._world.write(path, data[at:])

    def _tail(self) -> bytes:
        path = self._home.outbox
        entry = self._world.reader.entry(path)
        if entry is None:
            return b""
        start = max(0, entry.size - OUTBOX_KEPT)
        return self._world.reader.part(path, offset=start, limit=OUTBOX_KEPT)
