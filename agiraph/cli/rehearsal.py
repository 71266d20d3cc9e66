"""What a loop's next call would tell, by the daemon's own code; nothing is written."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agiraph.clock import SystemClock
from agiraph.errors import AgiraphError, Fault, ProviderFault
from agiraph.model.layout import Home
from agiraph.model.node import NodeState
from agiraph.providers.models import ModelCatalog
from agiraph.runtime.agent import Agent
from agiraph.runtime.bell import Bell
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.ledger import Ledger
from agiraph.runtime.loops import chains
from agiraph.runtime.loops.coordinator import Coordinator
from agiraph.runtime.loops.worker import Worker
from agiraph.runtime.news import News
from agiraph.runtime.places import Places
from agiraph.runtime.world import World
from agiraph.tools.execution import LocalShell
from agiraph.tree.beneath import Beneath
from agiraph.tree.reader import DiskReader
from agiraph.tree.room import RealDisk
from agiraph.tree.templates import furnishing
from agiraph.tree.whereabouts import DiskWhereabouts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import PurePosixPath

    from agiraph.model.agent import TreeSettings
    from agiraph.model.conversation import Spoken, SystemLine
    from agiraph.model.tool import ToolCall
    from agiraph.ports import ModelFacts, Provider
    from agiraph.runtime.desk import Desk

LOOKS: Final = 5
BETWEEN: Final = 6.0  # seconds after which any file has settled


@dataclass(frozen=True, slots=True)
class Next:
    """What the next call would send.

    Attributes:
        said: what is on record; waiting: what would be told with the call.
        open: calls of the last answer whose results are still to come.
        wrong: why what waits could not be worked out; else empty.
    """

    prefix: SystemLine | None
    said: tuple[Spoken, ...]
    open: tuple[ToolCall, ...] = ()
    waiting: tuple[Spoken, ...] = ()
    wrong: str = ""


def next_call(
    root: str,
    settings: TreeSettings,
    agent: str,
    conversation: PurePosixPath,
    *,
    worker: str = "",
) -> Next:
    """The next call of an agent's coordinator, or of a worker of its newest run."""
    rehearsal = _Rehearsal(root, settings, agent)
    return asyncio.run(rehearsal.next_call(conversation, worker))


class _NoPen:
    """The port `Pen` for those who only look: it takes everything and keeps nothing."""

    async def write(
        self, path: PurePosixPath, data: bytes, *, within: PurePosixPath | None = None
    ) -> None:
        """Nothing."""

    async def create(self, path: PurePosixPath, data: bytes) -> bool:
        """As if nothing had been there."""
        return True

    async def append(self, path: PurePosixPath, line: bytes, *, flush: bool) -> None:
        """Nothing."""

    async def flush(self, path: PurePosixPath) -> None:
        """Nothing."""

    async def mend(self, path: PurePosixPath) -> None:
        """Nothing."""

    async def shorten(
        self, path: PurePosixPath, head: bytes, start: int, last: bytes
    ) -> None:
        """Nothing."""

    async def move(self, source: PurePosixPath, target: PurePosixPath) -> None:
        """Nothing."""

    async def remove(self, path: PurePosixPath) -> None:
        """Nothing."""

    async def folder(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> None:
        """Nothing."""

    async def make_home(self, agent: str) -> None:
        """Nothing."""


class _Ahead(SystemClock):
    """A clock that can be set forward, so that nobody waits for files to settle."""

    ahead = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead)

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.ahead += seconds


class _Known:
    """The models as the daemon knows them: it may have other keys than we have here."""

    def __init__(self, catalog: ModelCatalog, model: str) -> None:
        self._catalog = catalog
        self._model = model

    def default(self) -> str:
        return self._model or self._catalog.default()

    def provider(self, model: str) -> Provider:
        return self._catalog.provider(model)

    def facts(self, model: str) -> ModelFacts:
        return self._catalog.facts(model)

    def table(self) -> str:
        return self._catalog.table()


class _Rehearsal:
    """One agent, looked at as the daemon looks at it."""

    def __init__(self, root: str, settings: TreeSettings, agent: str) -> None:
        self._root = os.path.abspath(root)
        self._settings = settings
        self._home = Home(agent)
        self._clock = _Ahead(settings.timezone) if settings.timezone else _Ahead()

    async def next_call(self, conversation: PurePosixPath, worker: str) -> Next:
        world = self._world()
        agent = Agent(world, self._home, furnishing)
        desk = agent.desk
        wrong = await self._look(agent)
        talk = Conversation(world, conversation)
        talk.load()
        said, old = tuple(talk.lines), talk.prefix
        calls, done = talk.open_calls()
        if not wrong and desk.goal is not None and not desk.elsewhere:
            if old is not None:
                world.models = _Known(self._catalog, old.model)
            await (
                self._worker(desk, talk, worker) if worker else self._lead(desk, talk)
            )
        return Next(
            talk.prefix, said, calls[done:], tuple(talk.lines[len(said) :]), wrong
        )

    def _world(self) -> World:
        reader, bell = DiskReader(self._root, self._clock), Bell(self._clock)
        environment = dict(os.environ)
        self._catalog = ModelCatalog(
            settings=self._settings, environment=environment, clock=self._clock
        )
        pen = _NoPen()
        return World(
            clock=self._clock,
            pen=pen,
            reader=reader,
            shell=LocalShell(Beneath(self._root), pen, environment),
            models=self._catalog,
            whereabouts=DiskWhereabouts.of(self._root, environment),
            disk=RealDisk(self._root),
            ledger=Ledger(),
            runs=Places(bell, lambda: self._settings.max_agents),
            bell=bell,
            say=lambda _: None,
            remark=lambda _: None,
            trace=lambda _: None,
            root=self._root,
            stands=lambda *_: None,
            settings=self._settings,
        )

    async def _look(self, agent: Agent) -> str:
        """Take in what people wrote, once all of it has settled; else why not."""
        try:
            for _ in range(LOOKS):
                await agent.look()
                self._clock.ahead += BETWEEN
        except AgiraphError as fault:
            return str(fault)
        return ""

    async def _lead(self, desk: Desk, talk: Conversation) -> None:
        """What the coordinator would take in, in the session that it would have."""
        loop = Coordinator(desk, talk, News(desk, talk))
        if not (desk.run_open or loop.called()):
            return  # nobody calls it
        if self._may_renew(desk, talk, chains.chain_of(desk)):
            await loop.renew()
        await loop.take_in()

    async def _worker(self, desk: Desk, talk: Conversation, name: str) -> None:
        """What a worker with a node in hand would take in."""
        staff = desk.find_staff(name)
        mine = [
            node
            for node in desk.nodes.values()
            if staff is not None
            and node.status.worker == staff.name
            and (node.status.state.at_work or node.status.state is NodeState.HELD)
        ]
        if staff is None or not mine or talk.prefix is None:
            return
        loop = Worker(desk, staff, mine[0], talk)
        if loop.mark not in talk.delivered:
            return  # its session for this node is still to be opened
        if self._may_renew(desk, talk, chains.chain_of(desk, staff.identity)):
            await loop.renew()
        await loop.take_in()

    def _may_renew(self, desk: Desk, talk: Conversation, chain: Sequence[str]) -> bool:
        """Whether what a new session would have is known here.

        The tools of servers are known to the daemon alone; so is which models of a
        chain are put off: the one that was asked last is asked.
        """
        old = talk.prefix
        if old is not None and old.model in chain:
            away = ProviderFault(Fault.OVERLOADED, "it was put off")
            for model in chain[: chain.index(old.model)]:
                desk.world.setbacks.put_off(model, "", away, self._clock)
        servers = desk.world.reader.entry(self._home.servers) is not None
        return old is None or not servers
