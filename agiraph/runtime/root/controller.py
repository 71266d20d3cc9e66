"""The controller: hints in, looks out; one agent in order, many agents at once."""

from __future__ import annotations

import asyncio
import heapq
import random
from typing import TYPE_CHECKING

from agiraph.core import copies
from agiraph.core.limits import DISK_EVERY, RESCAN_SECONDS, RESCAN_SHARE
from agiraph.errors import AgiraphError
from agiraph.model.layout import ROOT, SETTINGS, Home
from agiraph.model.names import name_problem
from agiraph.ports import EntryKind
from agiraph.runtime.agent import ABSENT_SECONDS, Agent
from agiraph.runtime.retention.passes import Retention
from agiraph.runtime.root.alarms import Alarms
from agiraph.runtime.root.arrival import SETTINGS_WAIT, seconds_left
from agiraph.runtime.root.presence import RootPresence
from agiraph.runtime.root.rest import STAMPS_TELL, Resting
from agiraph.runtime.root.rooterrors import RootErrors
from agiraph.runtime.root.seat import (
    LONGEST_SPACING,
    SPACING,
    Seat,
    at_peace,
    folders_of,
)
from agiraph.runtime.root.settings import RootSettings
from agiraph.runtime.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.agent import TreeSettings
    from agiraph.ports import Watch
    from agiraph.runtime.root.seat import House
    from agiraph.runtime.world import World

AT_ONCE = 8  # looks; more would only wait for each other


class Controller:
    """Looks at whatever was hinted at, and keeps loops going where there is work."""

    def __init__(self, world: World, watch: Watch, house: House) -> None:
        """Nothing has been looked at yet."""
        self._world = world
        self._watch = watch
        self._house = house
        self._seats: dict[str, Seat] = {}
        self._due: list[tuple[float, str]] = []
        self._wake = asyncio.Event()
        self._root = RootErrors(world)
        self._first = True
        self._unseen: set[str] = set()
        self._resting = Resting(world, house, self._seats)
        self._retention = Retention(world, lambda: at_peace(self._seats.values()))
        self._eyes = asyncio.Semaphore(AT_ONCE)
        self._ending: set[str] = set()
        self._presence = RootPresence(world)
        self._settings = RootSettings(world, self._root)
        self._group: asyncio.TaskGroup
        world.look = lambda name: self._ask(name, 0.0)
        self._alarms = Alarms(house.alarm, world.look)

    async def run(self, stop: asyncio.Event) -> None:
        """Watch, scan, and go on until `stop` is set; then end everything cleanly."""
        try:
            async with asyncio.TaskGroup() as self._group:
                self._world.look_at_disk()
                self._watch.folders("", (ROOT,))
                self._group.create_task(self._hints(), name="hints")
                self._group.create_task(self._pace(), name="pace")
                self._group.create_task(self._rescan(), name="rescan")
                self._group.create_task(self._resting.keep(), name="rest is kept")
                self._group.create_task(self._retention.keep(), name="retention")
                self._group.create_task(self._mind_the_disk(), name="disk")
                self._group.create_task(self._world.notices.run(), name="notices")
                self._group.create_task(_until(stop), name="until the end")
        except* _Stopped:
            pass
        await self._alarms.close()
        await self._watch.close()
        await self._resting.save()

    # --- hints and pacing

    async def _hints(self) -> None:
        async for names in self._watch.hints():
            for name in names:
                self._all() if name == "*" else self._hint(name)

    def _all(self) -> None:
        for name in ("", *self._seats):
            self._hint(name)

    def _hint(self, name: str) -> None:
        seat = self._seats.get(name)
        if seat is None:
            self._ask("", 0.0)
            return
        now = self._world.clock.monotonic()
        # Many hints make one look, and looks may take a tenth of the time at most.
        pause = min(max(SPACING, 10 * seat.took), LONGEST_SPACING)
        earliest = seat.looked + pause
        self._ask(name, max(0.0, earliest - now))

    def _ask(self, name: str, seconds: float) -> None:
        """Want a look at an agent, or at the root, in so many seconds."""
        due = self._world.clock.monotonic() + max(seconds, 0.0)
        heapq.heappush(self._due, (due, name))
        self._wake.set()

    async def _pace(self) -> None:
        clock = self._world.clock
        while True:
            self._wake.clear()
            now = clock.monotonic()
            asked: set[str] = set()
            while self._due and self._due[0][0] <= now:
                asked.add(heapq.heappop(self._due)[1])
            resting = {name for name in asked if self._resting.rests(name)}
            if resting:
                self._group.create_task(self._look_at_resting(resting), name="resting")
            for name in asked - resting:
                self._begin(name)
            left = self._due[0][0] - clock.monotonic() if self._due else None
            try:
                async with asyncio.timeout(left):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _begin(self, name: str) -> None:
        if name == "":
            self._group.create_task(self._look_at_root(), name="look at the root")
            return
        seat = self._seats.get(name)
        if seat is None:
            return
        if seat.looking:
            seat.dirty = True
            return
        seat.looking = True
        self._group.create_task(self._look_in_turn(name, seat), name=f"look at {name}")

    async def _rescan(self) -> None:
        clock = self._world.clock
        pause = RESCAN_SECONDS
        self._ask("", 0.0)
        while True:
            await clock.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311 - jitter
            started = clock.monotonic()
            self._ask("", 0.0)
            for number, name in enumerate(tuple(self._seats)):
                # Spread out, so that a tree of a thousand agents never stutters.
                if not self._resting.rests(name):
                    self._ask(name, number * 0.005)
                elif started >= self._resting.due:
                    self._ask(name, 0.0)
            took = sum(seat.took for seat in self._seats.values())
            took += clock.monotonic() - started
            pause = max(RESCAN_SECONDS, RESCAN_SHARE * took)

    async def _mind_the_disk(self) -> None:
        while True:
            await self._world.clock.sleep(DISK_EVERY)
            self._world.look_at_disk()

    # --- the root

    async def _look_at_root(self) -> None:
        try:
            await self._take_in_root()
        except AgiraphError as fault:
            self._root.say(str(fault))
            self._ask("", ABSENT_SECONDS)

    async def _take_in_root(self) -> None:
        await self._take_in_settings()
        self._look_at_presence()
        resting = await self._resting.recall() if self._first else {}
        names = await asyncio.to_thread(self._homes)
        if self._first:
            self._unseen = set(names)
        for name in names:
            if name in self._seats or name in self._ending:
                continue
            seat = self._seats[name] = self._new_seat(name)
            if name in resting:
                seat.rest, seat.watched = resting[name], resting[name].folders
                self._watch.folders(name, seat.watched)
                self._alarms.set(name, resting[name].due)
                self._count_seen(name)
            else:
                self._watch_agent(name)
                self._ask(name, 0.0)
        for name in [name for name in self._seats if name not in names]:
            self._ask(name, 0.0)
        self._first = False

    def _homes(self) -> list[str]:
        found = []
        for entry in self._world.reader.entries(ROOT):
            if original := copies.copied(entry.name, [SETTINGS.name]):
                self._root.say(f"{entry.name} is left alone: {copies.told(original)}")
            if entry.kind is not EntryKind.FOLDER or entry.name[0] in "._":
                continue
            if self._house.only is not None and entry.name != self._house.only:
                continue
            problem = name_problem(entry.name)
            if problem:
                self._root.say(f"the folder {entry.name!r} is left alone: {problem}")
            else:
                found.append(entry.name)
        return self._root.without_twins(found)

    def _new_seat(self, name: str) -> Seat:
        agent = Agent(self._world, Home(name), self._house.furnish)
        seat = Seat(agent, Supervisor(agent, self._house.edges(agent.desk.seen)))
        seat.fresh = not self._first
        seat.found = self._world.clock.monotonic()
        return seat

    async def _take_in_settings(self) -> None:
        settings = await self._settings.look()
        self._resting.settings = self._settings.mark
        if self._settings.again is not None:
            self._ask("", self._settings.again)
        if settings is not None:
            self._put(settings)

    def _put(self, settings: TreeSettings) -> None:
        if settings == self._world.settings:
            return
        self._world.settings = settings
        self._house.models(settings)
        self._world.notices.settings_changed()
        self._world.setbacks.clear()
        for seat in self._seats.values():
            seat.rest = None
            seat.agent.settings_changed()
        self._world.bell.ring()

    def _look_at_presence(self) -> None:
        was, again = self._world.paused, self._presence.look()
        if again is not None:
            self._ask("", again)
        if self._world.paused != was:
            for name, seat in self._seats.items():
                seat.rest = None
                seat.agent.desk.changed()
                self._ask(name, 0.0)

    # --- one agent

    async def _look_in_turn(self, name: str, seat: Seat) -> None:
        async with self._eyes:
            await self._look(name, seat)

    async def _look(self, name: str, seat: Seat) -> None:
        clock = self._world.clock
        wait = self._settling(seat)
        if wait > 0:
            seat.looking = False
            self._ask(name, wait)
            return
        started = clock.monotonic()
        before = await self._resting.before(seat)
        again = await self._look_now(name, seat)
        seat.looked = clock.monotonic()
        seat.took = seat.looked - started
        seat.looking = False
        self._count_seen(name)
        if seat.agent.gone:
            self._forget(name, seat)
            return
        self._watch_agent(name)
        self._alarms.set(name, seat.agent.triggers.due)
        if before and again is None and not seat.dirty and not seat.running:
            again = await self._resting.lay(seat, before)
        if not seat.running:
            self._go(name, seat)
        if again is not None:
            self._ask(name, again)
        if seat.dirty:
            seat.dirty = False
            self._hint(name)

    async def _look_now(self, name: str, seat: Seat) -> float | None:
        try:
            return await seat.agent.look()
        except AgiraphError as fault:
            self._world.remark(f"{name}: {fault}")
            return ABSENT_SECONDS
        except Exception as bug:  # noqa: BLE001 - an agent's edge: the daemon goes on
            self._world.trace(bug)
            return RESCAN_SECONDS

    def _settling(self, seat: Seat) -> float:
        """Seconds until a home that nobody has looked at may be judged.

        It may still be arriving; and the tree's settings, where they came just before
        it, are to be in force first.
        """
        left, clock = 0.0, self._world.clock
        if seat.fresh:
            home = seat.agent.desk.home.path
            left = seconds_left(self._world.reader, home, clock.now().timestamp())
            seat.fresh = left > 0
        late = clock.monotonic() >= seat.found + SETTINGS_WAIT
        if seat.looked >= seat.found or late:
            return left
        if self._settings.moved():
            self._ask("", 0.0)  # the home was seen sooner than they were
        elif not self._settings.pending:
            return left
        return max(left, SPACING)

    # --- agents at rest

    async def _look_at_resting(self, names: Iterable[str]) -> None:
        """Look in earnest at those that stand otherwise than they did."""
        seats = {name: self._seats[name] for name in names if name in self._seats}
        resting = {name: seat.rest for name, seat in seats.items() if seat.rest}
        for name in await self._resting.moved(resting):
            seats[name].rest = None
            self._begin(name)

    def _count_seen(self, name: str) -> None:
        """Say once when all that was there at the start was looked at."""
        if name in self._unseen:
            self._unseen.discard(name)
            if not self._unseen:
                self._world.remark(f"agents: {len(self._seats)}, all looked at")

    def _go(self, name: str, seat: Seat) -> None:
        seat.running = True
        self._group.create_task(self._supervise(name, seat), name=f"agent {name}")

    async def _supervise(self, name: str, seat: Seat) -> None:
        try:
            if seat.supervisor.wants():
                await seat.supervisor.run()
                self._ask(name, STAMPS_TELL)  # it may rest then
            else:
                await seat.supervisor.write_status()
        except* AgiraphError as faults:
            for fault in faults.exceptions:
                self._world.remark(f"{name}: {fault}")
            self._ask(name, ABSENT_SECONDS)
        except* Exception as bugs:  # noqa: BLE001 - an agent's edge: the daemon goes on
            self._world.trace(bugs)
            self._ask(name, RESCAN_SECONDS)
        finally:
            seat.running = False
            if name in self._ending:
                self._ending.discard(name)
                self._ask("", 0.0)
        if seat.supervisor.wants():
            self._ask(name, SPACING)

    def _forget(self, name: str, seat: Seat) -> None:
        seat.agent.desk.changed()  # its loops see that the home is gone, and end
        self._watch.folders(name, ())
        self._alarms.set(name, 0.0)
        if self._seats.get(name) is seat:
            del self._seats[name]
        if seat.running:
            self._ending.add(name)  # its loops end before it is taken up again
        else:
            self._ask("", 0.0)

    def _watch_agent(self, name: str) -> None:
        seat = self._seats[name]
        wanted = folders_of(seat.agent.desk)
        if wanted != seat.watched:
            seat.watched = wanted
            self._watch.folders(name, wanted)


async def _until(stop: asyncio.Event) -> None:
    """End the group that this runs in, once `stop` is set."""
    await stop.wait()
    raise _Stopped


class _Stopped(Exception):
    """The daemon is to end."""
