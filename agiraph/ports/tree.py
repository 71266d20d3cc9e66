"""The tree: who reads it, who changes it, and where it lies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import PurePosixPath

    from agiraph.core.room import Room
    from agiraph.core.search import Leaf, Section
    from agiraph.model.owner import Old, Owner, Spot


class EntryKind(Enum):
    """What a name in a folder is."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; size in bytes, for files.

    Attributes:
        changed: when it last changed (ctime), in seconds since 1970; 0 where unknown.
    """

    name: str
    kind: EntryKind
    size: int
    changed: float = 0.0


class Seen(Enum):
    """How a person's file was found."""

    GOOD = "good"  # whole and settled: text and sha are set
    ABSENT = "absent"  # it is believed to be gone
    BAD = "bad"  # it cannot be accepted: problem is set
    LATER = "later"  # not settled, or not believed yet: look again in `again` seconds


@dataclass(frozen=True, slots=True)
class Sight:
    """One look at a person's file.

    Attributes:
        text: the whole text, without a byte order mark.
        sha: sha256 of the bytes, in hex; also set for BAD where they could be read.
        problem: what is wrong, for the person; line: where, from 1.
        again: seconds until it is worth another look.
        quiet: seconds since the last change, for the inbox's quiet times.
    """

    seen: Seen
    text: str = ""
    sha: str = ""
    problem: str = ""
    line: int | None = None
    again: float = 0.0
    quiet: float = 0.0


class Reader(Protocol):
    """The only way to read the tree. Never writes, never follows a way out of it."""

    def look(self, path: PurePosixPath, *, limit: int, at_once: bool = False) -> Sight:
        """One look at a person's file, by the rules of when a file is whole.

        Args:
            path: relative to the root.
            limit: bytes at most.
            at_once: whether a file that nobody has open for writing counts as whole
                before it has settled, where the system can tell.
        """

    def read(
        self, path: PurePosixPath, *, limit: int, within: PurePosixPath | None = None
    ) -> bytes:
        """The bytes of a file.

        Args:
            path: relative to the root.
            limit: bytes at most.
            within: the folder that the path may not leave (links too); the root.

        Raises:
            NotThere, Outside, NotPlain, TooLarge: as they say.
        """

    def part(
        self,
        path: PurePosixPath,
        *,
        offset: int,
        limit: int,
        within: PurePosixPath | None = None,
    ) -> bytes:
        """Up to `limit` bytes from `offset`; raises as `read` does."""

    def entries(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> tuple[Entry, ...]:
        """The names in a folder, sorted; raises as `read` does."""

    def stand(
        self, folders: Iterable[PurePosixPath], *, ignoring: frozenset[str]
    ) -> tuple[str, float]:
        """How all that lies directly in some folders stands, without reading it.

        Args:
            folders: relative to the root; one that is not there stands for itself.
            ignoring: names that do not count.

        Returns:
            A mark that differs once a file came, went or changed; and when the last
            of them changed, as seconds since the epoch.
        """

    def entry(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> Entry | None:
        """What a path leads to, links not followed at its end; None when nothing."""


class Shelf(Protocol):
    """An index over texts, which may be deleted at any time. Never writes a text."""

    def best(
        self,
        name: str,
        leaves: Sequence[Leaf],
        read: Callable[[Leaf], str],
        query: str,
        most: int,
    ) -> tuple[Section, ...]:
        """The sections that fit a query, best first; blocks, so call it in a thread.

        Args:
            name: which shelf: an agent's name.
            leaves: what is searched; those that changed are read again.
            read: the text of one.
            query: a few words, in any script.
            most: sections at most.
        """


class Pen(Protocol):
    """The only way to change the tree; all of it whole or not at all."""

    async def write(
        self, path: PurePosixPath, data: bytes, *, within: PurePosixPath | None = None
    ) -> None:
        """Replace or make a file in one step: temporary name, fsync, rename, fsync.

        Missing folders are made, but never an agent's home that was deleted: see
        `make_home`. Equal bytes are not written again.

        Raises:
            Outside, NotPlain, Full, ReadOnly, NotThere: as they say.
        """

    async def create(self, path: PurePosixPath, data: bytes) -> bool:
        """Like `write`, but only where nothing is; False when something is there."""

    async def append(self, path: PurePosixPath, line: bytes, *, flush: bool) -> None:
        """Add whole lines to a log; with `flush`, on the disk when this returns.

        A torn tail that a crash left is cut off before the first append.
        """

    async def flush(self, path: PurePosixPath) -> None:
        """Bring what was appended to a log onto the disk; many calls share one."""

    async def mend(self, path: PurePosixPath) -> None:
        """Cut off what a crash tore at the end of a log; nothing where none is torn."""

    async def shorten(
        self, path: PurePosixPath, head: bytes, start: int, last: bytes
    ) -> None:
        """Put a line in the place of a log's beginning, in one step.

        What is added to the log meanwhile comes behind it. Not to be repeated: when it
        fails, whoever asked looks at the log again.

        Args:
            path: of the log.
            head: the line.
            start: the offset of the first line that stays.
            last: the line before it, which goes.

        Raises:
            Changing: `last` stands nowhere there, or the log was replaced meanwhile.
            Outside, NotPlain, Full, ReadOnly, DiskFault: as they say.
        """

    async def move(self, source: PurePosixPath, target: PurePosixPath) -> None:
        """Rename a file or folder in one step, durably; never over something."""

    async def remove(self, path: PurePosixPath) -> None:
        """Take a file away; nothing when it is not there."""

    async def folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> None:
        """Make a folder and what is missing above it."""

    async def make_home(self, agent: str) -> None:
        """Make an agent's folder, which no other method ever makes again."""


class Whereabouts(Protocol):
    """Which machine and place this is. May look at other places, never write there."""

    @property
    def machine(self) -> str:
        """The machine's name, for people."""

    def spot(self, agent: str) -> Spot:
        """Where an agent of this tree is."""

    def old(self, found: Owner, agent: str) -> Old:
        """What stands at the home that an owner file of an agent here names."""


@dataclass(frozen=True, slots=True)
class PutAway:
    """What was put away: its archive, and the bytes before and after."""

    archive: PurePosixPath
    before: int
    after: int


class Attic(Protocol):
    """Puts things away as archives. Never deletes what is not in one; blocks.

    An archive that is there already is used where it holds exactly the same, and else
    left alone. All of it raises:

        Changing: it changed meanwhile, or was broken off; it is still there.
        NotThere, NotPlain, Full, ReadOnly, DiskFault: as they say.
    """

    def put_away(
        self, folder: PurePosixPath, into: PurePosixPath, at: float
    ) -> PutAway:
        """Make an archive of a folder in another, and take the folder away.

        The folder goes only once the archive is on the disk.

        Args:
            at: the moment to note in the archive, in seconds since 1970.
        """

    def clear(self, folder: PurePosixPath) -> None:
        """Take away a folder that was put away."""

    def put_file_away(
        self, path: PurePosixPath, into: PurePosixPath, at: float
    ) -> PutAway:
        """The same for one file."""

    def copy_away(
        self,
        path: PurePosixPath,
        span: tuple[int, int],
        archive: PurePosixPath,
        at: float,
    ) -> PutAway:
        """Make an archive of a part of a file, which stays as it is.

        Args:
            span: the offsets of its first byte and behind its last.
            archive: what is to be made; nothing has this name.
            at: the moment to note in the archive, in seconds since 1970.
        """

    def held(self, path: PurePosixPath, start: int, archive: PurePosixPath) -> int:
        """How many bytes of a file from an offset an archive holds, and no others."""

    def stop(self) -> None:
        """Break off what is under way."""


class Disk(Protocol):
    """Knows how much room there is. May not write."""

    def room(self) -> Room:
        """What is left where the tree lies; never raises, never waits long."""
