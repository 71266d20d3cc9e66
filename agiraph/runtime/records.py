"""The records of one agent: events, usage and the traces of its nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core import notices
from agiraph.core.codec import event_to_json, usage_line
from agiraph.core.limits import PREVIEW
from agiraph.errors import NotThere
from agiraph.model.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from agiraph.model.json import Json, JsonObject
    from agiraph.model.layout import Home
    from agiraph.model.usage import ModelCall
    from agiraph.runtime.world import World


@dataclass(frozen=True, slots=True)
class Where:
    """What a record is about, beyond the agent."""

    run: str | None = None
    node: str | None = None
    worker: str | None = None
    stage: int | None = None


class Records:
    """Appends to the logs; while a log cannot be written, the work waits."""

    def __init__(self, world: World, home: Home) -> None:
        """The logs of the agent at `home`."""
        self._world = world
        self._agent = home.agent
        self._events, self._usage = home.events, home.usage
        self.heard: Callable[[Event], None] | None = None

    async def event(self, kind: EventType, where: Where, **data: Json) -> None:
        """One line of `events.jsonl`, and one of the daemon's log."""
        event = Event(
            kind,
            self._agent,
            run=where.run,
            node=where.node,
            worker=where.worker,
            data=data,
        )
        stamp = self._world.stamp()
        await self._line(self._events, event_to_json(event, stamp))
        self._world.say(event)
        if self.heard is not None:
            self.heard(event)
        notice = notices.of_event(event, stamp)
        if notice is not None:
            await self._world.notices.add(notice)

    async def usage(self, call: ModelCall) -> None:
        """One line of `usage.jsonl` for one model call."""
        await self._line(self._usage, usage_line(call))

    async def trace(self, log: PurePosixPath | None, **entry: Json) -> None:
        """One line of a node's `log.jsonl`; nothing for the coordinator."""
        if log is not None:
            await self._line(log, {"ts": self._world.stamp(), **entry})

    async def _line(self, path: PurePosixPath, entry: JsonObject) -> None:
        data = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        try:
            await self._world.append(path, data, flush=False)
        except NotThere as fault:  # the home is gone, and its logs with it
            self._world.remark(f"{path} could not be written: {fault}")


def preview(text: str) -> str:
    """The beginning of a result, for records."""
    flat = " ".join(text.split())
    return flat if len(flat) <= PREVIEW else flat[: PREVIEW - 1] + "…"
