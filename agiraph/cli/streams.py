"""The events of many agents as one stream: each once, however their logs move on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agiraph.cli.view import agent_names
from agiraph.core.loglines import record_of
from agiraph.model.layout import Home
from agiraph.runtime.parts import older
from agiraph.tree.logs import Tail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agiraph.cli.read import Files
    from agiraph.model.json import JsonObject
    from agiraph.tree.logs import Damage

_NEW_AGENTS_EVERY = 1.0
_TAIL = 512 * 1024  # bytes of each log where many are looked through


class Stream:
    """What happened to some agents, and goes on happening."""

    def __init__(self, files: Files, agent: str | None) -> None:
        """Of one agent, or of all that there are and will be."""
        self._files = files
        self._only = agent
        self._logs: dict[str, _Log] = {}
        self._looked = 0.0
        self.damage: list[Damage] = []

    def begin(
        self, enough: Callable[[list[JsonObject]], bool] | None = None
    ) -> list[JsonObject]:
        """What is on record, oldest first; of many agents the last part of each.

        Args:
            enough: whether these events are; if not, and they are of one agent, what
                was put away of its log comes before them, an archive at a time. None:
                they are.
        """
        self._look_for_agents(whole=self._only is not None)
        found = self._gathered()
        if self._only is None or enough is None:
            return found
        archives = self._logs[self._only].older()
        while not enough(found) and (old := next(archives, None)) is not None:
            found = old + found
        return found

    def more(self) -> list[JsonObject]:
        """What was added since the last call, of new agents everything."""
        if time.monotonic() - self._looked > _NEW_AGENTS_EVERY:
            self._look_for_agents(whole=True)
        return self._gathered()

    def _look_for_agents(self, *, whole: bool) -> None:
        self._looked = time.monotonic()
        names = agent_names(self._files) if self._only is None else (self._only,)
        for name in names:
            if name not in self._logs:
                self._logs[name] = _Log(self._files, name, whole=whole)
        for name in self._logs.keys() - set(names):
            del self._logs[name]

    def _gathered(self) -> list[JsonObject]:
        """By their times, and those of one log in its own order."""
        found: list[tuple[str, JsonObject]] = []
        for log in self._logs.values():
            latest = ""
            for event in log.more(self.damage):
                latest = max(latest, str(event.get("ts", "")))
                found.append((latest, event))
        return [event for _, event in sorted(found, key=lambda each: each[0])]


class _Log:
    """One agent's events."""

    def __init__(self, files: Files, agent: str, *, whole: bool) -> None:
        self._files = files
        self._path = path = Home(agent).events
        start = 0
        entry = files.entry(path)
        if entry is not None and not whole and entry.size > _TAIL:
            tail = files.part(path, entry.size - _TAIL, _TAIL)
            start = entry.size - _TAIL + tail.find(b"\n") + 1
        self._tail = Tail(files.reader, path, offset=start)
        self._last = ""

    def older(self) -> Iterator[list[JsonObject]]:
        """What was put away before all this, an archive at a time, newest first."""
        for lines in older(self._files.reader, self._path, self._tail.head):
            yield [event for line in lines if (event := record_of(line)) is not None]

    def more(self, damage: list[Damage]) -> list[JsonObject]:
        """What was added; a log that begins anew tells nothing for a second time."""
        lines = self._tail.more()
        if lines.damage is not None:
            damage.append(lines.damage)
        found = list(lines.records)
        if lines.restarted:
            found = [event for event in found if str(event.get("ts", "")) > self._last]
        stamps = [str(event.get("ts", "")) for event in found]
        self._last = max([self._last, *stamps])
        return found
