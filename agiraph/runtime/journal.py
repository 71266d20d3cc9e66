"""The journal of one agent: what was intended, done and accepted, before it acts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.core.limits import LOG_BYTES
from agiraph.errors import NotThere

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home
    from agiraph.runtime.world import World


class Journal:
    """`_state/journal.jsonl`: appended, flushed before what it announces happens."""

    def __init__(self, world: World, home: Home) -> None:
        """The journal of the agent at `home`; nothing is read yet."""
        self._world = world
        self._path = home.journal
        self._intents: dict[str, JsonObject] = {}
        self._marks: set[tuple[str, str]] = set()
        self._read = False

    async def intend(self, step: str, tool: str, intent: JsonObject) -> None:
        """Record what a step is about to do; on the disk when this returns."""
        self._intents[step] = intent
        await self._add(
            {"kind": "intent", "step": step, "tool": tool, "intent": intent}
        )

    async def mark(self, step: str, what: str) -> None:
        """Record that a step has come past a point, such as its checks."""
        self._marks.add((step, what))
        await self._add({"kind": "mark", "step": step, "what": what})

    async def accept(self, file: str, sha: str) -> None:
        """Record that a person's file was accepted."""
        await self._add({"kind": "accepted", "file": file, "sha": sha})

    def intent(self, step: str) -> JsonObject | None:
        """What a step was about to do, if that was recorded."""
        self._load()
        return self._intents.get(step)

    def marked(self, step: str, what: str) -> bool:
        """Whether a step had come past a point."""
        self._load()
        return (step, what) in self._marks

    def mark_of(self, step: str, beginning: str) -> str | None:
        """What follows a beginning in one of a step's marks, or None."""
        self._load()
        for name, what in self._marks:
            if name == step and what.startswith(beginning):
                return what.removeprefix(beginning)
        return None

    async def _add(self, entry: JsonObject) -> None:
        line = json.dumps({"ts": self._world.stamp(), **entry}, ensure_ascii=False)
        data = line.encode() + b"\n"
        await self._world.append(self._path, data, flush=True)

    def _load(self) -> None:
        if self._read:
            return
        self._read = True
        try:
            data = self._world.reader.read(self._path, limit=LOG_BYTES)
        except NotThere:
            return
        for raw in data.split(b"\n"):
            if raw.startswith(b"{"):
                self._take(raw)

    def _take(self, raw: bytes) -> None:
        try:
            entry = json.loads(raw)
        except ValueError:
            return  # a torn tail: the pen cuts it off before the next append
        if entry.get("kind") == "intent":
            self._intents.setdefault(entry["step"], entry["intent"])
        elif entry.get("kind") == "mark":
            self._marks.add((entry["step"], entry["what"]))
