"""Acts on workers: spawn and retire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.given import text_of, texts_of
from agiraph.errors import ToolRefused
from agiraph.model.names import name_problem
from agiraph.model.tool import ToolResult
from agiraph.model.worker import AgentMemory, Identity, WorkerType
from agiraph.runtime.acts.act import Act
from agiraph.runtime.acts.work import may_spawn, must_be_harnessed
from agiraph.runtime.work import staffing

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.ports import Intent, Seat


class SpawnWorker(Act):
    """`spawn_worker`."""

    name = "spawn_worker"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the name, and that it may be made."""
        name = text_of(arguments, "name")
        problem = name_problem(name)
        if problem:
            raise ToolRefused(f"name: {problem}")
        if seat.run is None:
            raise ToolRefused(
                "no run is open; create a node first, its worker comes along"
            )
        if self._desk.find_staff(name) is not None:
            raise ToolRefused(f"there is a worker {name!r} already; assign nodes to it")
        must_be_harnessed(WorkerType(text_of(arguments, "type", "harnessed")))
        about = ("role", "model", "identity", "memory", "agent_memory")
        texts = {key: text_of(arguments, key) for key in about if key in arguments}
        return may_spawn(seat, name, texts)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write its identity, and its first memory."""
        model, tools = text_of(intent, "model"), texts_of(intent, "tools")
        identity = Identity(
            name=text_of(intent, "name"),
            role=text_of(intent, "role"),
            model=(model,) if model else (),
            tools=tools or None,
            agent_memory=AgentMemory(text_of(intent, "agent_memory", "none")),
            text=text_of(intent, "identity"),
        )
        staff = await staffing.hire(
            self._desk, identity, memory=text_of(intent, "memory")
        )
        return ToolResult(f"worker {staff.name} is there.")


class RetireWorker(Act):
    """`retire_worker`."""

    name = "retire_worker"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Find the worker."""
        name = text_of(arguments, "worker_id")
        staff = self._desk.find_staff(name)
        if staff is None:
            raise ToolRefused(f"there is no worker {name!r}")
        return {"worker": staff.name}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Mark it retired."""
        staff = self._desk.find_staff(text_of(intent, "worker"))
        if staff is not None and not staff.identity.retired:
            await staffing.retire(self._desk, staff)
        return ToolResult(f"{text_of(intent, 'worker')} gets no new work.")
