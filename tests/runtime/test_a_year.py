"""A year of triggers: two changes of the clocks, suspends, restarts, kills and edits.

Time is virtual, the disk is in memory and forgets what was not flushed, and the slots
that must be there are worked out by plain counting.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from agiraph.core.codec import read_message
from agiraph.core.codec.report import Good
from agiraph.model.layout import Home
from agiraph.model.names import COORDINATOR
from agiraph.runtime.agent import Agent
from agiraph.runtime.bell import Bell
from agiraph.runtime.ledger import Ledger
from agiraph.runtime.places import Places
from agiraph.runtime.world import World
from tests.simulation.outside import Here, InOrder, Life, Notes, Roomy, SimShell
from tests.support.inside import LedModel
from tests.support.memory_tree import MemoryPen, MemoryReader, MemoryTree
from tests.support.virtual_loop import VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator
    from datetime import tzinfo

BERLIN = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 1, 1, 10, 3, tzinfo=BERLIN)
END = datetime(2027, 1, 1, 10, 3, tzinfo=BERLIN)
SEED = int(os.environ.get("AGIRAPH_YEAR_SEED", "7"))
SAYS = "action: {type: send_message, to: human, content: Hello.}"
WAKES = "action: {type: wake_agent, task: Look.}"
LASTING = f"""\
- {{id: noon, type: scheduled, cron: "0 12 */2 * *", timezone: Europe/Berlin, {SAYS}}}
- {{id: night, type: scheduled, cron: "30 2 * * *", timezone: Europe/Berlin, {SAYS}}}
- {{id: beat, type: heartbeat, every: 30h, when: always, {SAYS}}}
- {{id: quiet, type: heartbeat, every: 36h, {WAKES}}}
- {{id: once, type: at_time, at: "2026-07-01T12:00", timezone: UTC, {SAYS}}}
- {{id: delay, type: delayed, delay: 40d, {WAKES}}}
- {{id: dog, type: on_idle, idle: 3d, {WAKES}}}
"""


class WallClock:
    """The port `Clock` on a virtual loop; a suspended machine's other clock stands."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.slept = 0.0

    def now(self) -> datetime:
        past = self._loop.now + self.slept
        return (BEGIN.astimezone(UTC) + timedelta(seconds=past)).astimezone(BERLIN)

    def monotonic(self) -> float:
        return self._loop.now

    def zone(self) -> tzinfo:
        return BERLIN

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Year:
    """One agent through a year, whose daemon lives and dies as a seed has it."""

    def __init__(self, loop: VirtualLoop, seed: int) -> None:
        self.draw = random.Random(seed)
        self.clock = WallClock(loop)
        self.tree = MemoryTree(self.clock)
        self.home = PurePosixPath("a")
        self.remarks: list[str] = []
        self.bugs: list[BaseException] = []
        self.lives = 0
        self.extras = 0

    def live(self) -> None:
        """A daemon begins."""
        self.lives += 1
        self.life = Life()
        self.pen = MemoryPen(self.tree)
        bell = Bell(self.clock)
        world = World(
            clock=self.clock,
            pen=self.pen,
            reader=MemoryReader(self.tree, self.clock),
            shell=SimShell(self.draw, Notes(), self.life),
            models=LedModel(),
            whereabouts=Here(),
            disk=Roomy(),
            ledger=Ledger(),
            runs=Places(bell, lambda: 8),
            bell=bell,
            say=lambda _: None,
            remark=self.remarks.append,
            trace=self.bugs.append,
            root="/agents",
            stands=lambda *_: None,
            bells=InOrder(),  # type: ignore[arg-type]  # what is used of a set
        )
        self.agent = Agent(world, Home("a"), lambda: {"SOUL.md": b"I am calm.\n"})

    async def look(self) -> None:
        """A look, and the coordinator reads what has come."""
        again = await self.agent.look()
        while again is not None:
            await self.clock.sleep(again + 0.01)
            again = await self.agent.look()
        mail = self.agent.desk.mail
        waiting = [message.id for message in mail.waiting(COORDINATOR)]
        if waiting and self.draw.random() < 0.7:
            self.agent.desk.rested()
            await mail.taken(COORDINATOR, waiting)
            await self.agent.look()

    async def die(self, how: str) -> None:
        """Killed, or the power is cut, at some moment of a look."""
        points = self.draw.randint(1, 9)

        def point(name: str, path: PurePosixPath) -> None:
            nonlocal points
            points -= 1
            if points == 0:
                self.pen.dead = True
                task.cancel()
                if how == "kill":
                    self.tree.kill()
                else:
                    self.tree.cut(self.draw)

        self.pen.between = point
        task = asyncio.ensure_future(self.look())
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
        self.pen.dead = True
        self.tree.kill()

    async def until_due(self) -> None:
        due = self.agent.triggers.due
        assert due is not None
        left = (due - self.clock.now()).total_seconds()
        await self.clock.sleep(max(left, 0.5))

    def edit(self) -> None:
        """A person adds, changes or drops something beside what lasts."""
        self.extras += 1
        more = [
            "# a remark\n",
            f"- {{id: more{self.extras}, type: delayed, delay: 1h, {SAYS}}}\n",
            f"- {{id: fast, type: heartbeat, every: 5h, when: always, {SAYS}}}\n",
            f"- {{id: fast, type: heartbeat, every: 7h, when: always, {SAYS}}}\n",
            "- {id: bad, type: nonsense}\n",
        ]
        chosen = self.draw.sample(more, self.draw.randint(0, 2))
        self.put("triggers.yaml", LASTING + "".join(chosen))

    def put(self, name: str, text: str) -> None:
        self.tree.edit(self.home / name, text.encode())

    async def go_by(self) -> None:
        """From the first minute to the last."""
        self.tree.make(self.home)
        self.put("GOAL.md", "The goal.\n")
        self.put("triggers.yaml", LASTING)
        self.live()
        await self.clock.sleep(10)
        await self.look()
        while self.clock.now() < END:
            await self.until_due()
            chance = self.draw.random()
            if chance < 0.02:
                self.clock.slept += self.draw.choice((3600.0, 30_000.0, 200_000.0))
            elif chance < 0.05:
                await self.die(self.draw.choice(("kill", "cut")))
                await self.clock.sleep(self.draw.choice((1.0, 5000.0, 150_000.0)))
                self.live()
            elif chance < 0.06:
                self.put("PAUSE", "")
            elif chance < 0.09 and self.tree.find(self.home / "PAUSE"):
                self.tree.take(self.home / "PAUSE")
            elif chance < 0.12:
                self.edit()
            await self.look()

    # --- what came of it

    def ledger(self) -> list[dict[str, Any]]:
        data = self.tree.data(self.home / "_triggers.jsonl") or b""
        return [json.loads(line) for line in data.splitlines()]

    def of(self, trigger: str) -> dict[datetime, str]:
        """Each slot of a trigger, with what came of it; none stands there twice."""
        found: dict[datetime, str] = {}
        for line in self.ledger():
            if line["trigger"] == trigger:
                slot = datetime.fromisoformat(line["slot"]).astimezone(UTC)
                assert slot not in found, f"{trigger} {slot} stands twice"
                found[slot] = f"{line['outcome']} {line.get('reason', '')}".strip()
        return found

    def sent(self) -> list[str]:
        """The ids of all messages, from their files."""
        found = []
        for path, file in self.tree.files():
            if path.parent.name == "_messages":
                message = read_message(file.data.decode())
                assert isinstance(message, Good)
                found.append(message.value.id)
        return found


def run(year: Year, loop: VirtualLoop, story: Coroutine[Any, Any, None]) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(story)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert year.bugs == []


def nights() -> Iterator[datetime]:
    """Half past two of every day, and the next minute that exists where it does not."""
    day = BEGIN.date() + timedelta(days=1)
    while (at := datetime(day.year, day.month, day.day, 2, 30, tzinfo=BERLIN)) < END:
        gone = day == datetime(2026, 3, 29, tzinfo=UTC).date()
        yield at.replace(hour=3, minute=0) if gone else at
        day += timedelta(days=1)


def noons() -> Iterator[datetime]:
    """Noon of every odd day of a month."""
    day = BEGIN.replace(hour=12, minute=0)
    while day < END:
        if day.day % 2:
            yield day
        day += timedelta(days=1)


def test_a_year_of_slots_is_fired_once_each_or_says_why_not() -> None:
    loop = VirtualLoop(random.Random(SEED))
    year = Year(loop, SEED)
    run(year, loop, year.go_by())

    print(f"seed {SEED}: {year.lives} lives, {len(year.ledger())} lines")
    for trigger, wanted in (("night", nights()), ("noon", noons())):
        found = year.of(trigger)
        last = max(found)
        instants = [slot.astimezone(UTC) for slot in wanted]
        missing = [slot for slot in instants if slot <= last and slot not in found]
        assert missing == []
        assert END - last < timedelta(days=3)
        reasons = {outcome for outcome in found.values() if outcome != "fired"}
        assert reasons <= {
            "fired caught up",
            *(f"skipped {why}" for why in ("down", "asleep", "paused")),
        }
    beats = sorted(year.of("beat"))
    steps = {later - one for one, later in pairwise(beats)}
    assert steps == {timedelta(hours=30)}
    assert len(year.of("once")) == len(year.of("delay")) == 1

    fired = [
        f"trigger:{line['trigger']}@{line['slot']}"
        for line in year.ledger()
        if line["outcome"] == "fired"
    ]
    sent = [each for each in year.sent() if each.startswith("trigger:")]
    assert sorted(sent) == sorted(fired)
    slots = [(line["trigger"], line["slot"]) for line in year.ledger()]
    assert len(slots) == len(set(slots))
    assert year.lives > 10
