"""The book of one agent's triggers: what is armed, and what was decided but not told.

A slot is decided in one write of `_state/triggers.json`. Then comes its effect, which
carries the slot and is harmless to repeat, and then its line in `_triggers.jsonl`. So
a daemon that is killed between any two of these does nothing twice and leaves no slot
without a line.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agiraph.core.codec.lines import dumps
from agiraph.core.limits import LOG_BYTES
from agiraph.core.loglines import record_of
from agiraph.core.schedule.heard import Stretch
from agiraph.errors import Damaged, NotThere
from agiraph.model.trigger import Action, Deed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.json import Json, JsonObject
    from agiraph.runtime.desk import Desk

TAIL: Final = 4 * 1024 * 1024  # of the ledger; what was decided last is told there


@dataclass(slots=True)
class Mark:
    """How one trigger stands.

    Attributes:
        since: when it was first read as it is now, ISO 8601.
        last: until when its slots are accounted for.
        failures: how often running it failed; disarmed: why it fires no more.
        seen: what a heartbeat saw when the last wake ended; empty where that is open.
        spell: the idleness for which it has fired.
        recent: when events made it fire within the last hour.
    """

    digest: str
    since: str
    last: str
    enabled: bool = True
    failures: int = 0
    disarmed: str = ""
    seen: str = ""
    spell: str = ""
    recent: list[str] = field(default_factory=list)

    def after(self) -> datetime:
        """The instant after which slots are still to be judged."""
        return datetime.fromisoformat(self.last)

    def begun(self) -> datetime:
        """The instant at which it was first read."""
        return datetime.fromisoformat(self.since)


@dataclass(slots=True)
class Slot:
    """A slot on which was decided, until its line is written.

    Attributes:
        looks: whether it is still to be seen if anything has changed.
        begun: whether its command was started: it is never started again.
        before: what its node's status said, to know an effect again.
        later: whether it is put off until what its trigger began before has ended.
    """

    trigger: str
    slot: str
    fires: bool
    action: Action
    reason: str = ""
    until: str = ""
    looks: bool = False
    begun: bool = False
    before: str = ""
    later: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What no two lines of the ledger have in common."""
        return self.trigger, self.slot


@dataclass(slots=True)
class Wake:
    """A message to the coordinator that may not be in its conversation yet."""

    id: str
    trigger: str
    text: str


class Book:
    """What is on record of the triggers; every change is on the disk at `commit`.

    Attributes:
        marks: by the trigger's id.
        era: how often the clock was set far back; it tells equal slots apart.
        offset: up to where events.jsonl was heard, what was put away of it included.
    """

    def __init__(self, desk: Desk) -> None:
        """Nothing has been read yet."""
        self._desk = desk
        self._written = ""
        self._flushed = -1
        self.marks: dict[str, Mark] = {}
        self.open: list[Slot] = []
        self.wakes: list[Wake] = []
        self.stretch = Stretch()
        self.offset = -1
        self.era = 0

    def load(self) -> None:
        """Read what was on record; what is told in the ledger is not open any more.

        Raises:
            Damaged: to go on without it could do its work again.
        """
        path = self._desk.home.armed
        try:
            raw = self._desk.world.reader.read(path, limit=LOG_BYTES)
        except NotThere:
            return
        try:
            found = json.loads(raw)
            self.marks = {id_: Mark(**mark) for id_, mark in found["marks"].items()}
            self.wakes = [Wake(**wake) for wake in found["wakes"]]
            self.open = [_slot(each) for each in found["open"]]
            self.stretch = Stretch(**found["stretch"])
            self.offset, self.era = int(found["offset"]), int(found["era"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Damaged(path, 1, f"it is no record of triggers ({error})") from None
        if self.open:
            told = self._told()
            self.open = [slot for slot in self.open if slot.key not in told]

    def _told(self) -> set[tuple[str, str]]:
        reader, path = self._desk.world.reader, self._desk.home.fired
        entry = reader.entry(path)
        if entry is None:
            return set()
        start = max(0, entry.size - TAIL)
        lines = reader.part(path, offset=start, limit=TAIL).split(b"\n")
        return {key for line in lines if (key := _key(line)) is not None}

    async def commit(self) -> None:
        """Bring it onto the disk, where it has changed."""
        said = {
            "marks": {id_: asdict(mark) for id_, mark in self.marks.items()},
            "open": [_written(slot) for slot in self.open],
            "wakes": [asdict(wake) for wake in self.wakes],
            "stretch": asdict(self.stretch),
            "offset": self.offset,
            "era": self.era,
        }
        text = json.dumps(said, ensure_ascii=False)
        if text == self._written:
            return
        desk = self._desk
        if self.offset != self._flushed and desk.world.reader.entry(desk.home.events):
            # What was heard must not be lost, or it would be heard again as new.
            await desk.world.durably(lambda: desk.world.pen.flush(desk.home.events))
            self._flushed = self.offset
        await desk.world.write(desk.home.armed, text.encode())
        self._written = text

    async def tell(self, slots: Iterable[Slot]) -> None:
        """Write the lines of slots that are done with; they are open no more."""
        done = list(slots)
        if not done:
            return
        desk = self._desk
        stamp = desk.world.stamp()
        data = b"".join(dumps(_line(slot, stamp)) for slot in done)
        await desk.world.append(desk.home.fired, data, flush=True)
        keys = {slot.key for slot in done}
        self.open = [slot for slot in self.open if slot.key not in keys]


def _line(slot: Slot, stamp: str) -> JsonObject:
    said: dict[str, Json] = {"ts": stamp, "trigger": slot.trigger, "slot": slot.slot}
    if slot.until:
        said["until"] = slot.until
    said["outcome"] = "fired" if slot.fires else "skipped"
    if slot.reason:
        said["reason"] = slot.reason
    return said


def _key(line: bytes) -> tuple[str, str] | None:
    found = record_of(line)
    if found is None or not found.keys() >= {"trigger", "slot"}:
        return None  # half a line: of the tail, or of a crash
    return str(found["trigger"]), str(found["slot"])


def _written(slot: Slot) -> JsonObject:
    said: dict[str, Json] = asdict(slot)
    said["action"] = {**asdict(slot.action), "deed": slot.action.deed.value}
    return said


def _slot(found: dict[str, object]) -> Slot:
    action = dict(found["action"])  # type: ignore[call-overload]  # off the disk
    action["deed"] = Deed(action["deed"])
    return Slot(**{**found, "action": Action(**action)})  # type: ignore[arg-type]
