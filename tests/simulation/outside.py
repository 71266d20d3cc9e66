"""The world outside the tree, as far as a simulation needs it: models, shell, watch.

Everything here notes what was asked of it, so that what must not happen twice is seen.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from agiraph.core.room import Room
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import AssistantLine, Stop, ToolLine, UserLine
from agiraph.model.owner import Old, Spot
from agiraph.model.usage import Price
from agiraph.ports import Finished, ModelFacts
from tests.simulation.parts import digest_of, shown_of

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import PurePosixPath

    from agiraph.model.conversation import Answer, Request, Spoken
    from agiraph.model.owner import Owner
    from agiraph.ports import Command
    from agiraph.runtime.bell import Bell
    from tests.simulation.parts import Parts
    from tests.support.memory_tree import MemoryTree

MARK: Final = re.compile(r"m\.\w+\.[\w-]+\.[0-9a-f]{8}\.\w+(?:\.\w+)?\.m")
_FREE: Final = Price(0.0, 0.0, 0.0, 0.0)
_PASSING: Final = (Fault.RATE, Fault.OVERLOADED, Fault.NETWORK)


class Notes:
    """What was asked of the world outside, over all lives of the daemon.

    Attributes:
        broken: promises that were broken, in words.
        answered: requests that got an answer which is not known to be lost.
        ran: how often each command ran.
        shown: the lines that the model saw last, by session.
        left_out: marks that journals have left out since they do not matter any more.
    """

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.answered: set[str] = set()
        self.ran: dict[str, int] = {}
        self.shown: dict[str, list[tuple[object, ...]]] = {}
        self.left_out: list[str] = []
        self.calls = 0
        self.log: Callable[[str], None] = lambda _: None

    def wrong(self, words: str) -> None:
        """A promise was broken."""
        if words not in self.broken:
            self.broken.append(words)


class Life:
    """Whether one daemon is alive: what the dead ask for never comes."""

    def __init__(self) -> None:
        self.dead = False

    async def go_on(self) -> None:
        """Wait for ever where the daemon is dead."""
        if self.dead:
            await asyncio.get_running_loop().create_future()


class SimModel:
    """The one model of a simulation, as the ports `Models` and `Provider`."""

    def __init__(
        self,
        parts: Parts,
        chance: random.Random,
        notes: Notes,
        life: Life,
        *,
        faults: float,
    ) -> None:
        self._parts = parts
        self._chance = chance
        self._notes = notes
        self._life = life
        self.faults = faults

    def default(self) -> str:
        return "sim/model"

    def provider(self, model: str) -> SimModel:
        del model
        return self

    def facts(self, model: str) -> ModelFacts:
        del model
        return ModelFacts(window=1_000_000, longest=None, price=_FREE)

    def table(self) -> str:
        return "- `sim/model`"

    async def close(self) -> None:
        """Nothing is open."""

    async def ask(self, request: Request) -> Answer:
        await self._life.go_on()
        self._check(request)
        self._notes.calls += 1
        self._notes.log(f"model asked {request.key} {digest_of(request)}")
        await asyncio.sleep(self._chance.choice((0.0, 0.2, 2.0, 8.0)))
        await self._life.go_on()
        if self._chance.random() < self.faults:
            kind = self._chance.choice(_PASSING)
            raise ProviderFault(kind, "it fails now and then", 1.0)
        self._notes.answered.add(digest_of(request))
        self._notes.log(f"model answers {request.key} {digest_of(request)}")
        return self._parts.answer(request)

    def _check(self, request: Request) -> None:
        digest = digest_of(request)
        if digest in self._notes.answered:
            self._notes.wrong(
                f"{request.key}: the same request was sent after it had been answered"
            )
        for words in faults_of(request):
            self._notes.wrong(f"{request.key}: {words}")
        shown = [shown_of(line) for line in request.lines]
        name = f"{request.key}/{request.prefix.ts}"
        before = self._notes.shown.get(name, [])
        if shown[: len(before)] != before:
            self._notes.wrong(f"{request.key}: what had been sent was changed")
        self._notes.shown[name] = shown


def faults_of(request: Request) -> list[str]:
    """What a strict service would refuse in a conversation."""
    strict = _Strict()
    for line in request.lines:
        strict.line(line)
    strict.end()
    return strict.found


class _Strict:
    """Goes through a conversation as a strict service does."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._open: list[str] = []
        self._seen: set[str] = set()
        self._before: Spoken | None = None

    def line(self, line: Spoken) -> None:
        if self._before is None and not isinstance(line, UserLine):
            self.found.append("the conversation does not begin with the user")
        if not line.content.strip() and not getattr(line, "tool_calls", ()):
            self.found.append("a message is empty")
        if isinstance(line, ToolLine):
            self._result(line)
        else:
            self._none_open()
        if isinstance(line, AssistantLine):
            self._answer(line)
        self._before = line

    def end(self) -> None:
        self._none_open()
        if _ends_a_turn(self._before):
            self.found.append("the last message is the assistant's")

    def _result(self, line: ToolLine) -> None:
        if line.call_id in self._open:
            self._open.remove(line.call_id)
        else:
            self.found.append(f"{line.call_id} has a result and no open call")
        if isinstance(self._before, UserLine):
            self.found.append(f"the result of {line.call_id} comes after other text")

    def _answer(self, line: AssistantLine) -> None:
        if _ends_a_turn(self._before):
            self.found.append("two answers in a row")
        self._open = [call.id for call in line.tool_calls]
        self.found += [f"{i} is used twice" for i in self._open if i in self._seen]
        self._seen.update(self._open)

    def _none_open(self) -> None:
        if self._open:
            self.found.append(f"no results for {', '.join(self._open)}")
            self._open = []


def _ends_a_turn(line: Spoken | None) -> bool:
    return isinstance(line, AssistantLine) and line.stop is not Stop.PAUSE


class SimShell:
    """The port `Shell`: a command is a mark, and it is noted that it ran."""

    def __init__(self, chance: random.Random, notes: Notes, life: Life) -> None:
        self._chance = chance
        self._notes = notes
        self._life = life

    async def run(self, command: Command) -> Finished:
        await self._life.go_on()
        await asyncio.sleep(self._chance.choice((0.0, 0.05)))
        await self._life.go_on()
        for mark in MARK.findall(command.text):
            self._notes.ran[mark] = self._notes.ran.get(mark, 0) + 1
        await asyncio.sleep(self._chance.choice((0.0, 0.5, 5.0)))
        await self._life.go_on()
        return Finished(0, "done\n", "", 5, 0.5)

    async def end_left_behind(self, agent: str) -> int:
        del agent
        return 0


class SimWatch:
    """The port `Watch` that drops, doubles and delays hints; for one listener."""

    def __init__(
        self, tree: MemoryTree, chance: random.Random, *, dropped: float, doubled: float
    ) -> None:
        self._tree = tree
        self._chance = chance
        self._dropped = dropped
        self._doubled = doubled
        self._folders: dict[str, frozenset[PurePosixPath]] = {}
        self._hints: asyncio.Queue[frozenset[str]] = asyncio.Queue()
        tree.listeners.append(self._changed)

    def _changed(self, path: PurePosixPath) -> None:
        for group, folders in self._folders.items():
            if path.parent in folders:
                if self._chance.random() >= self._dropped:
                    self._later(group)
                if self._chance.random() < self._doubled:
                    self._later(group)

    def _later(self, group: str) -> None:
        delay = self._chance.choice((0.0, 0.05, 0.1, 1.0))
        loop = asyncio.get_running_loop()
        loop.call_later(delay, self._hints.put_nowait, frozenset({group}))

    def folders(self, group: str, folders: Sequence[PurePosixPath]) -> None:
        if folders:
            self._folders[group] = frozenset(folders)
            self._later(group)
        else:
            self._folders.pop(group, None)

    async def hints(self) -> AsyncIterator[frozenset[str]]:
        yield frozenset({"*"})
        while True:
            yield await self._hints.get()

    async def close(self) -> None:
        self.end()

    def end(self) -> None:
        """Hear nothing more."""
        if self._changed in self._tree.listeners:
            self._tree.listeners.remove(self._changed)


class Here:
    """The port `Whereabouts` of a tree that never moves."""

    machine = "here"

    def spot(self, agent: str) -> Spot:
        return Spot("host", "/agents", agent)

    def old(self, found: Owner, agent: str) -> Old:
        del found, agent
        return Old.GONE


class Roomy:
    """The port `Disk` with all the room in the world."""

    def room(self) -> Room:
        return Room(None, None)


class InOrder:
    """The bells of a world, rung in the order in which they came.

    A set of objects is walked through in the order of where they lie in memory.
    """

    def __init__(self) -> None:
        self._bells: list[Bell] = []

    def add(self, bell: Bell) -> None:
        self._bells.append(bell)

    def __iter__(self) -> Iterator[Bell]:
        return iter(self._bells)
