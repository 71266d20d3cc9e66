"""Files dropped into `_inbox/`: each is one message, and then moves to `.read/`.

What was accepted, and where the file is to move, are recorded together before it
moves. So after a crash a file that is still to be moved is told apart from one that
was dropped later under the same name, and what somebody wrote over it in between is
found at its new place.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from agiraph.core.codec import read_dropped
from agiraph.core.codec.report import Good
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import NotThere
from agiraph.ports import Seen
from agiraph.runtime.accepted import DROPPED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import PurePosixPath

    from agiraph.model.json import Json
    from agiraph.model.message import InboxMessage, Message
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.people.intake import Intake

    Drafts = Callable[[list[InboxMessage], str], Awaitable[list[Message]]]

LATER = 0.25  # seconds until a file that was moved while somebody wrote is read again


class Dropbox:
    """Takes in dropped files, each version of each once."""

    def __init__(self, desk: Desk, intake: Intake, drafts: Drafts) -> None:
        """`drafts` makes messages of what was read; the answers among it go apart."""
        self._desk = desk
        self._intake = intake
        self._drafts = drafts
        self._moved: set[str] = set()  # names that are not done with
        self._is_first = True

    async def take_in(self, folder: Folder) -> None:
        """What was dropped, once what was moved before is done with."""
        if self._is_first:
            sources = self._desk.mail.dropped()
            self._moved = {source.removeprefix(DROPPED) for source in sources}
            self._is_first = False
        for name in sorted(self._moved):
            await self._finish(name, folder)
        for name, sight in folder.drops.items():
            if name not in self._moved:
                await self._drop(name, sight, folder)

    async def _drop(self, name: str, sight: Sight, folder: Folder) -> None:
        path = self._desk.home.dropbox / name
        found = await self._intake.judge(path, sight, read_dropped, "nothing of it")
        if found is None:
            return
        target = self._on_its_way(name, sight.sha)
        if target is None:
            target = self._free(path)
            await self._accept(name, found, sight.sha, target)
        with suppress(NotThere):  # somebody has taken it away; it was accepted
            await self._move(path, target)
        self._moved.add(name)
        await self._finish(name, folder)

    async def _accept(
        self, name: str, found: InboxMessage, sha: str, target: PurePosixPath
    ) -> None:
        desk, source = self._desk, DROPPED + name
        drafts = await self._drafts([found], f"{source} {sha}")
        await desk.mail.accept(source, drafts, {"sha": sha, "to": target.name})
        desk.last_mail = (desk.world.stamp(), found.text)
        desk.changed()

    def _on_its_way(self, name: str, sha: str) -> PurePosixPath | None:
        """Where a version that was accepted is still to move; else None."""
        known = self._desk.mail.memory_of(DROPPED + name)
        target = self._target(known)
        if target is None or _sha(known) != sha:
            return None
        there = self._desk.world.reader.entry(target) is not None
        return None if there else target

    async def _finish(self, name: str, folder: Folder) -> None:
        """See whether what was moved is what was accepted; then it is done with."""
        desk, moved = self._desk, self._moved
        known = desk.mail.memory_of(DROPPED + name)
        target = self._target(known)
        if target is not None and desk.world.reader.entry(target) is not None:
            sight = desk.world.reader.look(target, limit=GOAL_BYTES, at_once=True)
            if sight.seen is Seen.LATER:
                left = sight.again or LATER
                folder.again = min(folder.again or left, left)
                return
            if sight.seen is Seen.GOOD and sight.sha != _sha(known):
                await self._written_over(name, sight, target)
        elif target is not None and self._is_there(name):
            moved.discard(name)  # a crash came before the move, which is made now
            return
        moved.discard(name)
        if known is not None:
            await desk.mail.accept(DROPPED + name, [], None)

    async def _written_over(
        self, name: str, sight: Sight, target: PurePosixPath
    ) -> None:
        """Somebody wrote it anew just before it was moved."""
        found = read_dropped(sight.text)
        if isinstance(found, Good):
            await self._accept(name, found.value, sight.sha, target)
        else:
            self._desk.world.remark(f"{target} holds no message; it was not delivered")

    def _is_there(self, name: str) -> bool:
        return self._desk.world.reader.entry(self._desk.home.dropbox / name) is not None

    def _target(self, known: Json) -> PurePosixPath | None:
        to = known.get("to") if isinstance(known, Mapping) else None
        return self._desk.home.read_mail / to if isinstance(to, str) else None

    def _free(self, path: PurePosixPath) -> PurePosixPath:
        """A name in `.read/` that nothing has."""
        reader, place = self._desk.world.reader, self._desk.home.read_mail
        target = place / path.name
        stamp = self._desk.world.clock.now().strftime("%Y%m%d-%H%M%S-%f")
        number = 1
        while reader.entry(target) is not None:
            more = f"-{stamp}" if number == 1 else f"-{stamp}-{number}"
            target = place / f"{path.stem[:150]}{more}{path.suffix[:50]}"
            number += 1
        return target

    async def _move(self, path: PurePosixPath, target: PurePosixPath) -> None:
        pen = self._desk.world.pen
        await self._desk.world.durably(lambda: pen.folder(target.parent))
        await self._desk.world.durably(lambda: pen.move(path, target))


def _sha(known: Json) -> str:
    sha = known.get("sha") if isinstance(known, Mapping) else None
    return sha if isinstance(sha, str) else ""
