"""Files that `on_event: file.changed` names: an event for each that came or changed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

from agiraph.errors import AgiraphError
from agiraph.model.event import EventType
from agiraph.model.trigger import Kind
from agiraph.runtime.triggers import diary
from agiraph.runtime.triggers.eye import SETTLED, Eye

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.trigger import Trigger
    from agiraph.runtime.desk import Desk

EVERY: Final = 60.0  # seconds between two scans
TAIL: Final = 256 * 1024


class Watched:
    """The files of one agent that triggers wait for."""

    def __init__(self, desk: Desk) -> None:
        """Nothing has been scanned."""
        self._desk = desk
        self._eye = Eye(desk.world.reader, desk.home.path)
        self._known: dict[str, str] | None = None
        self._globs: tuple[str, ...] = ()
        self._next = 0.0
        self._first = True

    def seconds(self, triggers: Iterable[Trigger]) -> float | None:
        """Seconds until the next scan; None where no file is waited for."""
        if not globs_of(triggers):
            return None
        return max(self._next - self._desk.world.clock.monotonic(), 0.0)

    async def scan(self, triggers: Iterable[Trigger]) -> None:
        """Say what has changed since the last scan; at the first one nothing has."""
        globs, clock = globs_of(triggers), self._desk.world.clock
        if not globs or (clock.monotonic() < self._next and globs == self._globs):
            return
        self._next = clock.monotonic() + EVERY
        before = clock.now().timestamp() - SETTLED
        found = await asyncio.to_thread(lambda: self._files(globs, before))
        # What is just being written is waited for; what was there counts as there.
        there = await asyncio.to_thread(lambda: self._files(globs, 0.0))
        known, same = self._recall(globs)
        self._globs = globs
        if same:
            gone = dict.fromkeys(known.keys() - there.keys(), "")
            changed = {p: sha for p, sha in found.items() if known.get(p) != sha}
            await self._tell({**changed, **gone}, known)
        else:
            known = {**there, **known}  # new globs: what is there is no news
        found = {**{p: s for p, s in known.items() if p in there}, **found}
        await self._keep(globs, found)

    def _files(self, globs: tuple[str, ...], before: float) -> dict[str, str]:
        """Those in folders of the home: its own files are told by who reads them."""
        found = self._eye.files(globs, before=before)
        return {
            path: sha
            for path, sha in found.items()
            if "/" in path and not path.startswith("runs/")
        }

    async def _tell(self, changed: dict[str, str], known: dict[str, str]) -> None:
        desk = self._desk
        told = self._told() if changed and self._first else set()
        self._first = False
        for path, sha in sorted(changed.items()):
            how = "gone" if not sha else "changed" if path in known else "new"
            if (path, sha) not in told:
                where = desk.where()
                shown = f"{desk.agent}/{path}"
                await desk.records.event(
                    EventType.FILE_CHANGED, where, path=shown, how=how, sha=sha
                )

    def _told(self) -> set[tuple[str, str]]:
        """What was told last: a crash may have come before it was kept."""
        desk = self._desk
        start = max(0, diary.size(desk.world.reader, desk.home) - TAIL)
        found = set()
        for _, _, event in diary.lines(desk.world.reader, desk.home, start):
            data = event.get("data")
            if event.get("type") == EventType.FILE_CHANGED.value and isinstance(
                data, dict
            ):
                path = str(data.get("path", "")).removeprefix(f"{desk.agent}/")
                found.add((path, str(data.get("sha", "-"))))
        return found

    def _recall(self, globs: tuple[str, ...]) -> tuple[dict[str, str], bool]:
        """What the last scan found, and whether it was for the same globs."""
        if self._known is not None:
            return self._known, globs == self._globs
        desk = self._desk
        try:
            raw = desk.world.reader.read(desk.home.watched, limit=1 << 24)
            found = json.loads(raw)
            self._globs = tuple(found["globs"])
            self._known = {str(k): str(v) for k, v in found["files"].items()}
        except (AgiraphError, ValueError, KeyError, TypeError, AttributeError):
            return {}, False  # the first scan
        return self._known, globs == self._globs

    async def _keep(self, globs: tuple[str, ...], found: dict[str, str]) -> None:
        if found == self._known and globs == self._globs and self._known is not None:
            return
        desk, self._known = self._desk, found
        data = json.dumps({"globs": globs, "files": found}, ensure_ascii=False)
        await desk.world.write(desk.home.watched, data.encode())


def globs_of(triggers: Iterable[Trigger]) -> tuple[str, ...]:
    """The globs of all triggers that wait for a file."""
    found: set[str] = set()
    for trigger in triggers:
        if trigger.kind is Kind.ON_EVENT and trigger.event == "file.changed":
            paths = trigger.filter.get("path")
            wanted = paths if isinstance(paths, list) else [paths]
            found |= {path for path in wanted if isinstance(path, str)}
    return tuple(sorted(found))
