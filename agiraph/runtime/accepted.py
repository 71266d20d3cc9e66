"""What is on record of each inbox: what was accepted of it, and what it remembers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.errors import AgiraphError, NotThere, TooManyOpen, Unreadable
from agiraph.model.message import Message

if TYPE_CHECKING:
    from agiraph.model.json import Json
    from agiraph.model.layout import Home
    from agiraph.ports import Reader
    from agiraph.runtime.world import World

DROPPED: Final = "_inbox/"
_LONGEST: Final = 200  # bytes of a name; some disks take 255, and a suffix comes to it


@dataclass(frozen=True, slots=True)
class Accepted:
    """What is on record of one inbox.

    Attributes:
        memory: what the reading of the inbox remembers.
        waiting: messages that were accepted and may not be delivered yet.
        count: the number in the id of its last message.
    """

    memory: Json = None
    waiting: tuple[Message, ...] = ()
    count: int = 0


class Records:
    """One file for each inbox, so that messages and memory are recorded together."""

    def __init__(self, world: World, home: Home) -> None:
        """The records of the agent at `home`."""
        self._world = world
        self._folder = home.state / "accepted"
        self._inbox = str(home.inbox.relative_to(home.path))

    def read(self, source: str) -> Accepted:
        """What is on record of an inbox."""
        found = self._found(self._path(source))
        if found is None:
            return Accepted()
        waiting = tuple(Message(**entry) for entry in found["waiting"])
        return Accepted(found["memory"], waiting, found["count"])

    async def write(self, source: str, state: Accepted) -> None:
        """Put it on record; nothing is kept of a dropped file that is done with."""
        pen, path = self._world.pen, self._path(source)
        if source.startswith(DROPPED) and not state.waiting and state.memory is None:
            await self._world.durably(lambda: pen.remove(path))
            return
        entry = {"source": source, **asdict(state)}
        data = json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogatepass")
        await self._world.write(path, data)

    def sources(self) -> list[str]:
        """Every inbox that has something on record."""
        return [self._inbox, *self.dropped(), *self._of_workers()]

    def dropped(self) -> list[str]:
        """The files of `_inbox/` that are not done with."""
        folder = self._folder / DROPPED
        names = _names(self._world.reader, folder)
        found = [self._found(folder / name) for name in names]
        return [str(entry["source"]) for entry in found if entry is not None]

    def _of_workers(self) -> list[str]:
        """The inboxes of workers: of the newest run and of the one before it."""
        reader, found = self._world.reader, []
        for run in _names(reader, self._folder / "runs")[-2:]:
            workers = PurePosixPath("runs") / run / "workers"
            for worker in _names(reader, self._folder / workers):
                inbox = workers / worker / "_inbox.md"
                if reader.entry(self._folder / f"{inbox}.json") is not None:
                    found.append(str(inbox))
        return found

    def _path(self, source: str) -> PurePosixPath:
        path = self._folder / f"{source}.json"
        if len(path.name.encode("utf-8", "surrogatepass")) <= _LONGEST:
            return path
        return path.with_name(hashlib.sha256(source.encode()).hexdigest() + ".json")

    def _found(self, path: PurePosixPath):  # type: ignore[no-untyped-def]
        try:
            return json.loads(self._world.reader.read(path, limit=1 << 26))
        except NotThere:
            return None


def _names(reader: Reader, folder: PurePosixPath) -> list[str]:
    """The names in a folder; none where it is not there.

    Raises:
        Unreadable: to take it for empty could lose what was accepted.
    """
    try:
        return [entry.name for entry in reader.entries(folder)]
    except (TooManyOpen, Unreadable):
        raise
    except AgiraphError:
        return []
