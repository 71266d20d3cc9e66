"""One seed from its first file to its last: lives of a daemon, crashes, and the end."""

from __future__ import annotations

import asyncio
import contextvars
import random
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agiraph.core.keeping import still_matters
from agiraph.core.limits import JOURNAL_BYTES
from agiraph.runtime import journal
from agiraph.runtime.bell import Bell
from agiraph.runtime.ledger import Ledger
from agiraph.runtime.places import Places
from agiraph.runtime.root.controller import Controller
from agiraph.runtime.root.seat import House
from agiraph.runtime.world import World
from agiraph.tools.kit import shell_tools, tree_tools
from tests.simulation.checks import (
    Observer,
    broken_agents,
    check_end,
    is_at_rest,
    why_not_at_rest,
)
from tests.simulation.outside import (
    Here,
    InOrder,
    Life,
    Notes,
    Roomy,
    SimModel,
    SimShell,
    SimWatch,
)
from tests.simulation.parts import Parts
from tests.simulation.person import Person
from tests.support.memory_tree import MemoryPen, MemoryReader, MemoryTree
from tests.support.shelf import PlainShelf
from tests.support.virtual_loop import CountedTask, VirtualClock, VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import PurePosixPath

    from agiraph.model.event import Event
    from agiraph.model.json import JsonObject
    from agiraph.ports import Tool
    from agiraph.tools.seen import LastSeen

PATIENCE = 7200.0  # virtual seconds until a run must have come to its end
SMALL_JOURNAL = 2_000  # bytes after which it is written anew
_LIFE: contextvars.ContextVar[Incarnation] = contextvars.ContextVar("life")
QUIET = 18  # looks, five seconds apart, that must find everything at rest


@dataclass(frozen=True, slots=True)
class Crash:
    """One crash: how, and after how many points of the disk or how many seconds."""

    how: str  # kill, cut or stop
    points: int
    seconds: float
    down: float


@dataclass
class Told:
    """What came of one seed."""

    seed: int
    broken: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    crashes: int = 0
    calls: int = 0
    letters: int = 0
    virtual: float = 0.0
    tree: MemoryTree | None = None


def simulate(seed: int, *, verbose: bool = False) -> Told:
    """Run one seed in a loop of its own."""
    random.seed(seed)
    loop = VirtualLoop(random.Random(f"threads/{seed}"))
    loop.set_debug(False)
    told = Told(seed)
    try:
        asyncio.set_event_loop(loop)
        simulation = Simulation(loop, told, verbose=verbose)
        try:
            loop.run_until_complete(simulation.run())
        except Exception:  # noqa: BLE001 - whatever it is, this seed has failed
            told.broken.append(traceback.format_exc())
        told.virtual = loop.now
        left = [task for task in asyncio.all_tasks(loop) if not task.done()]
        if left and not told.broken:
            told.broken.append(f"tasks are left: {left}")
        for task in left:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    return told


class Simulation:
    """Everything that one seed decides."""

    def __init__(self, loop: VirtualLoop, told: Told, *, verbose: bool) -> None:
        seed = told.seed
        self._told = told
        self._loop = loop
        self._verbose = verbose
        self._draw = random.Random(f"story/{seed}")
        self.clock = VirtualClock(loop)
        self.tree = told.tree = MemoryTree(self.clock)
        self.notes = Notes()
        self.notes.log = self.log
        self.parts = Parts(seed)
        self.agents = ("ada",) if self._draw.random() < 0.75 else ("ada", "ben")
        self.person = Person(
            self.tree,
            random.Random(f"person/{seed}"),
            self.agents,
            self._draw.choice((30.0, 120.0, 400.0)),
        )
        self.person.log = told.log
        self.observer = Observer(self.tree, self.notes, self.person)
        self.faults = self._draw.choice((0.0, 0.0, 0.05, 0.3))
        self._keep_journals_small(seed)

    def _keep_journals_small(self, seed: int) -> None:
        """In two of three seeds they are written anew all the time."""
        draw = random.Random(f"journal/{seed}")
        journal.JOURNAL_BYTES = draw.choice((SMALL_JOURNAL,) * 2 + (JOURNAL_BYTES,))  # type: ignore[misc]
        journal.still_matters = self._still_matters

    def _still_matters(
        self, entries: Sequence[JsonObject], questions: Collection[str]
    ) -> list[JsonObject]:
        """What is left out is noted: the checks ask what was taken as an answer."""
        kept = still_matters(entries, questions)
        self.notes.left_out += [
            str(entry.get("what", "")) for entry in entries if entry not in kept
        ]
        self.log(f"the journal keeps {len(kept)} of {len(entries)} entries")
        return kept

    async def run(self) -> None:
        """All lives of the daemon, the last one to its end; then once more."""
        person = asyncio.create_task(self.person.live(), name="person")
        self._person = person
        for crash in self._crashes():
            life = Incarnation(self, crash)
            await life.until_it_ends()
            if self.notes.broken:
                break
            await asyncio.sleep(crash.down)
        self.faults = 0.0
        await self._last()
        person.cancel()
        await asyncio.wait([person])
        self._told.broken += self.notes.broken
        self._told.calls, self._told.letters = (
            self.notes.calls,
            len(self.person.letters),
        )

    def _crashes(self) -> list[Crash]:
        draw = self._draw
        return [
            Crash(
                draw.choice(("kill", "cut", "cut", "stop")),
                int(draw.expovariate(1 / draw.choice((20, 150, 600)))) + 1,
                draw.choice((5.0, 60.0, 600.0)),
                draw.choice((0.0, 0.5, 3.0, 30.0, 90.0)),
            )
            for _ in range(draw.choice((0, 1, 2, 3, 5, 8)))
        ]

    async def _last(self) -> None:
        """Without faults the run comes to its end; a restart finds nothing to do."""
        if self.notes.broken:
            return
        life = Incarnation(self, None)
        task = asyncio.create_task(life.until_it_ends(), name="last life")
        try:
            deadline = self._loop.now + PATIENCE
            calls, quiet = -1, 0
            while quiet < QUIET:
                await asyncio.sleep(5.0)
                same = calls == self.notes.calls
                calls = self.notes.calls
                rests = same and self.person.done and is_at_rest(self)
                quiet = quiet + 1 if rests else 0
                self.person.mend(broken_agents(self))
                if self._person.done():
                    self._person.result()
                if self.notes.broken:
                    return
                if task.done() or self._loop.now > deadline:
                    self.notes.wrong(
                        f"it does not come to its end: {why_not_at_rest(self)}"
                    )
                    return
            await asyncio.sleep(150.0)
            if self.notes.calls != calls:
                self.notes.wrong("there are model calls after the end")
        finally:
            life.stop.set()
            await task
        await self._once_more()

    async def _once_more(self) -> None:
        calls = self.notes.calls
        before = self.observer.conversations()
        life = Incarnation(self, None)
        task = asyncio.create_task(life.until_it_ends(), name="after the end")
        await asyncio.sleep(200.0)
        if self.notes.calls != calls or self.observer.conversations() != before:
            self.notes.wrong("a restart after the end is not quiet")
        life.stop.set()
        await task
        check_end(self)

    def log(self, words: str) -> None:
        """For whoever reads why a seed failed."""
        self._told.log.append(f"{self._loop.now:9.3f} {words}")


class Incarnation:
    """One life of the daemon on the tree."""

    def __init__(self, of: Simulation, crash: Crash | None) -> None:
        self._of = of
        self._crash = crash
        self._points = crash.points if crash else -1
        self.stop = asyncio.Event()
        self._life = Life()
        chance = random.Random(
            f"{of._told.seed}/{of._told.crashes}/{of.clock.monotonic()}"
        )
        self._chance = chance
        of.tree.listeners.clear()
        self._watch = SimWatch(of.tree, chance, dropped=0.3, doubled=0.2)
        self._reader = MemoryReader(of.tree, of.clock)
        self._pen = MemoryPen(of.tree, chance=chance)
        self._pen.between = self._point
        self._pen.before = of.observer.before
        self._world = self._made()
        self._task: asyncio.Task[None] | None = None

    def _made(self) -> World:
        of, bell = self._of, Bell(self._of.clock)
        world = World(
            clock=of.clock,
            pen=self._pen,
            reader=self._reader,
            shell=SimShell(self._chance, of.notes, self._life),
            models=SimModel(
                of.parts, self._chance, of.notes, self._life, faults=of.faults
            ),
            whereabouts=Here(),
            disk=Roomy(),
            ledger=Ledger(),
            runs=Places(bell, lambda: world.settings.max_agents),
            bell=bell,
            say=self._said,
            remark=self._remark,
            trace=self._trace,
            root="/agents",
            stands=lambda *_: None,
            bells=InOrder(),  # type: ignore[arg-type]  # what is used of a set
        )
        return world

    def _said(self, event: Event) -> None:
        who = " ".join(each for each in (event.node, event.worker) if each)
        data = dict(event.data)
        self._remark(f"{event.agent} {event.type.value} {who} {data}")

    def _remark(self, words: str) -> None:
        if not self._life.dead:
            self._of.log(words)

    def _trace(self, bug: BaseException) -> None:
        if not self._life.dead:
            self._of.log("".join(traceback.format_exception(bug)))
            self._of.notes.wrong(f"a fault in Agiraph itself: {bug!r}")

    def _edges(self, seen: LastSeen) -> Mapping[str, Tool]:
        tools = (
            *tree_tools(self._reader, self._pen, PlainShelf(), seen),
            *shell_tools(self._world.shell, "/agents"),
        )
        return {tool.spec.name: self._of.observer.watched(tool) for tool in tools}

    async def until_it_ends(self) -> None:
        """Until it is stopped, or crashes."""
        self._of.log("--- the daemon starts")
        self._task = asyncio.create_task(self._live(), name="daemon")
        alarm = None
        if self._crash is not None:
            alarm = asyncio.get_running_loop().call_later(
                self._crash.seconds, self._die
            )
        try:
            await asyncio.wait([self._task])
        finally:
            if alarm is not None:
                alarm.cancel()
            self._watch.end()
        if not self._task.cancelled():
            error = self._task.exception()
            if error is not None:
                self._of.notes.wrong("".join(traceback.format_exception(error)))
        if self._life.dead:
            await self._end_what_is_left()
        self._life.dead = self._pen.dead = True

    async def _end_what_is_left(self) -> None:
        """End what a killed daemon shields: it waits for a disk that never answers."""
        loop = asyncio.get_running_loop()
        left = {task for task in asyncio.all_tasks(loop) if _life_of(task) is self}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def _live(self) -> None:
        _LIFE.set(self)
        house = House(edges=self._edges, furnish=_furnish, models=lambda settings: None)
        await Controller(self._world, self._watch, house).run(self.stop)
        await self._pen.close()

    # --- its end

    def _point(self, name: str, path: PurePosixPath) -> None:
        if self._of._verbose and not self._life.dead:
            self._of.log(f"    disk: {name} {path}")
        if self._points < 0 or self._life.dead:
            return
        self._points -= 1
        if self._points == 0:
            self._die()

    def _die(self) -> None:
        crash = self._crash
        if crash is None or self._life.dead or self._task is None or self.stop.is_set():
            return
        self._of._told.crashes += 1
        self._of.log(f"--- {crash.how}")
        if crash.how == "stop":
            self.stop.set()
            return
        self._life.dead = self._pen.dead = True
        if crash.how == "kill":
            self._of.tree.kill()
        else:
            self._of.tree.cut(self._chance)
        self._of.observer.crashed()
        self._task.cancel()


def _life_of(task: asyncio.Task[Any]) -> Incarnation | None:
    assert isinstance(task, CountedTask)
    return task.born_in.get(_LIFE)


def _furnish() -> dict[str, bytes]:
    return {"SOUL.md": b"You are kind.\n", "MEMORY.md": b"", "_inbox.md": b""}
