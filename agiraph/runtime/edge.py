"""The edge of one agent: what goes wrong in its loops ends here, and is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.limits import CRASH_PAUSE, CRASHES
from agiraph.errors import (
    AgiraphError,
    Damaged,
    DiskRefused,
    NotThere,
    StepCrashed,
    Unreadable,
)
from agiraph.model.event import EventType
from agiraph.model.node import NodeState
from agiraph.runtime.work import nodes

if TYPE_CHECKING:
    from agiraph.runtime.agent import Agent
    from agiraph.runtime.jobs import Work

REFUSED = 3.0  # seconds until a loop that could not read tries once more
HOME_AWAY = 2.0  # seconds until a loop whose home is gone tries once more


class Edge:
    """Guards the loops of one agent."""

    def __init__(self, agent: Agent) -> None:
        """For the loops of this agent."""
        self._desk = agent.desk
        self._quarantine = agent.quarantine

    async def guard(self, name: str, work: Work) -> None:
        """The one place where a surprise ends: recorded, at this agent alone."""
        try:
            await work()
        except Damaged as fault:
            await self._quarantine.damaged(fault)
        except StepCrashed as fault:
            await self._quarantine.too_often(fault.step, fault.why)
        except NotThere as gone:
            await self._gone(name, str(gone))
        except (Unreadable, DiskRefused) as fault:
            await self._refused(name, str(fault))
        except AgiraphError as fault:
            await self._broken(name, str(fault))
        except Exception as bug:  # noqa: BLE001 - an agent's edge: the daemon goes on
            self._desk.world.trace(bug)
            await self._crashed(name, f"{type(bug).__name__}: {bug}")

    async def _crashed(self, name: str, words: str) -> None:
        """A bug ended a loop: it begins anew after a pause, three times at most."""
        desk = self._desk
        node = desk.nodes.get(name.removeprefix("node:"))
        loop = node.status.worker if node is not None else name
        step = desk.at.get(loop or name, name)
        try:
            why = f"a fault in Agiraph itself ({words})"
            count = await self._quarantine.crashed(step, why)
        except NotThere as gone:
            await self._gone(name, str(gone))
            return
        if count < CRASHES:
            await desk.world.clock.sleep(CRASH_PAUSE * 2 ** (count - 1))

    async def _refused(self, name: str, words: str) -> None:
        """The disk, or the system, refuses for now: held, then the loop begins anew."""
        desk, key = self._desk, name.removeprefix("node:")
        desk.held[key] = words
        desk.bell.ring()
        try:
            await desk.world.clock.sleep(REFUSED)
        finally:
            desk.held.pop(key, None)

    async def _gone(self, name: str, words: str) -> None:
        """Something under the loop was deleted; a home may be away for a moment."""
        world = self._desk.world
        if world.reader.entry(self._desk.home.path) is not None:
            await self._broken(name, words)
            return
        world.remark(f"{self._desk.agent}: {words}")
        await world.clock.sleep(HOME_AWAY)

    async def _broken(self, name: str, words: str) -> None:
        desk = self._desk
        if name.startswith("node:"):
            await nodes.end(
                desk, name.removeprefix("node:"), NodeState.FAILED, error=words
            )
            return
        await desk.records.event(EventType.AGENT_FAILED, desk.where(), words=words)
        desk.fail(words)
