"""The seams between the runtime and the world; each says what it may not do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agiraph.model.json import Json, JsonObject

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import PurePosixPath

    from agiraph.core.room import Room
    from agiraph.core.search import Leaf, Section
    from agiraph.model.agent import Permissions
    from agiraph.model.conversation import Answer, Request
    from agiraph.model.notice import Channel, Parcel
    from agiraph.model.owner import Old, Owner, Spot
    from agiraph.model.tool import Effect, ToolResult, ToolSpec, Who
    from agiraph.model.usage import Price


class Clock(Protocol):
    """The only one who knows the time; may not touch anything else."""

    def now(self) -> datetime:
        """The wall clock, with an offset."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def zone(self) -> tzinfo:
        """The time zone in which days are counted."""

    async def sleep(self, seconds: float) -> None:
        """Wait; may be cancelled."""


class Alarm(Protocol):
    """Rings at moments of the wall clock. May not decide what is due then.

    A ring is a hint: late, early or doubled ones change nothing in the end.
    """

    def set(self, name: str, at: datetime) -> None:
        """Ring for an agent at a moment; of one agent only the last one set counts."""

    def clear(self, name: str) -> None:
        """Ring no more for an agent."""

    async def close(self) -> None:
        """Let go of whatever keeps the time."""


class Provider(Protocol):
    """A model's service. May not retry, keep history, or touch the tree."""

    async def ask(self, request: Request) -> Answer:
        """One whole answer.

        Raises:
            ProviderFault: the service failed; a half-received answer is a failure.
        """

    async def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model: window and longest answer in tokens, and its price."""

    window: int
    longest: int | None
    price: Price | None
    strength: str = ""


class Models(Protocol):
    """Finds providers by name. May not call a model by itself."""

    def default(self) -> str:
        """The whole name of the model to use where none is named."""

    def provider(self, model: str) -> Provider:
        """The provider of `provider/model`, built when first asked for.

        Raises:
            ProviderFault: the name, key or package is missing; words say what to set.
        """

    def facts(self, model: str) -> ModelFacts:
        """Window and price; never raises, never asks the network."""

    def table(self) -> str:
        """The models that may be used, for a brief: name, strength, price."""


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


class Disk(Protocol):
    """Knows how much room there is. May not write."""

    def room(self) -> Room:
        """What is left where the tree lies; never raises, never waits long."""


class Board(Protocol):
    """What scopes and tools may know of the run."""

    def shared(self) -> frozenset[str]:
        """Ids of the nodes whose scratch everyone in the run may read."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is calling a tool, and from where.

    Attributes:
        agent, run: where; run is None while no run is open (coordinator only).
        node, worker: both None for the coordinator.
        step: our own id of this call: `<loop>/<session>.<turn>.<index>`.
        permissions: what is allowed.
        shared: nodes whose `scratch/` is open to all.
        agent_memory: none, read or write: a worker's access to the agent's memory.
        shared_skills: names of skills that lie in the tree's own `skills/`.
        said: what people wrote to the caller: the goal, their messages.
    """

    agent: str
    run: str | None
    node: str | None
    worker: str | None
    step: str
    permissions: Permissions
    shared: frozenset[str]
    agent_memory: str = "none"
    shared_skills: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()

    @property
    def who(self) -> str:
        return self.worker or "coordinator"


Intent: TypeAlias = Mapping[str, Json]


class Tool(Protocol):
    """One tool. `prepare` changes nothing; `perform` does what the intent says."""

    spec: ToolSpec
    effect: Effect
    who: Who

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the call and decide all that is needed to know its effect again.

        The intent is recorded before `perform` starts (not for READS).

        Raises:
            ToolRefused: the call cannot be done; the text says what was expected.
        """

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Do it. For OWN tools harmless to repeat with the same intent.

        Raises:
            ToolRefused: it could not be done.
        """


class Shell(Protocol):
    """Starts commands. The only one who starts processes."""

    async def run(self, command: Command) -> Finished:
        """Run to its end or its limit; the whole process group is ended then.

        Raises:
            DiskRefused: nothing was started; what fails later may not be told so.
        """

    async def end_left_behind(self, agent: str) -> int:
        """End the process groups that a dead daemon left behind; how many."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command for a shell.

    Attributes:
        folder: where it runs, relative to the root; it may write there only.
        timeout: seconds.
        keep: where its whole output goes, relative to the root.
        variables: added to the scrubbed environment, name -> value.
        agent: whose it is, to find it again after a crash.
    """

    text: str
    folder: PurePosixPath
    timeout: float
    keep: PurePosixPath
    variables: Mapping[str, str]
    agent: str


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes:
        code: exit code, or None when it was ended at its limit.
        head, tail: the output's ends, as text; size: of the whole, in bytes.
    """

    code: int | None
    head: str
    tail: str
    size: int
    seconds: float


class Watch(Protocol):
    """Hints that something below a folder may have changed; never the truth."""

    def hints(self) -> AsyncIterator[frozenset[str]]:
        """Names of agents to look at; "" is the root itself, "*" is everything."""

    def folders(self, group: str, folders: Sequence[PurePosixPath]) -> None:
        """What is watched for one agent from now on.

        A group is hinted at once its new watches stand, so that what changed before is
        found; no folders end the group. May be called again and again with the same.
        """

    async def close(self) -> None:
        """End the threads; `hints` says no more."""


class Messenger(Protocol):
    """Carries notices out of the tree. May not retry, and may not wait for ever."""

    async def send(self, channel: Channel, parcel: Parcel) -> None:
        """Send once; when this returns, the other side has taken it.

        Raises:
            NotSent: it was refused, or took too long; words for the person.
        """
