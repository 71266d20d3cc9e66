"""The post room of the tree: notices to people, kept until each channel has them.

A notice is on the disk, in its agent's `_state/notices.jsonl`, before whoever it is
about goes on; that a channel has it is on the disk before the next one is sent. So
nothing is lost or sent twice, but around a crash: what was sent and not noted yet is
sent again, with the same id.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from agiraph.core import notices
from agiraph.core.limits import LOG_BYTES
from agiraph.core.loglines import BadLine, records
from agiraph.errors import AgiraphError, NotSent, NotThere, TooManyOpen
from agiraph.model.layout import MACHINE, ROOT, Home
from agiraph.model.notice import Notice, NoticeKind
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import PurePosixPath

    from agiraph.model.json import JsonObject
    from agiraph.model.notice import Channel
    from agiraph.ports import Messenger
    from agiraph.runtime.world import World

FAILING = MACHINE / "notify.json"
KEPT = 256 * 1024  # bytes of an agent's record, before it is begun anew
RECALLED = 500  # ids of notices that outlive the record they were told in
QUIET_LOOK = 20.0
PATIENCE = 1.0  # seconds between two tries to read

Read = TypeVar("Read")


@dataclass(slots=True)
class Tray:
    """What waits for one channel.

    Attributes:
        held: whether it was held back, by quiet hours or since the person is away.
        sent: when the last parcels went.
        failures: in a row; fault: the words of the last, since: its beginning.
    """

    channel: Channel
    waiting: list[Notice] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    held: bool = False
    failures: int = 0
    fault: str = ""
    since: str = ""
    sent: list[float] = field(default_factory=list)


class PostRoom:
    """Keeps notices, and sends them while it runs."""

    def __init__(self, world: World, messenger: Messenger) -> None:
        """Nothing is kept yet."""
        self._world = world
        self._messenger = messenger
        self._trays: dict[str, Tray] = {}
        self._known: dict[str, dict[str, None]] = {}  # ids, in order
        self._sizes: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._told = ""

    # --- what comes in

    async def add(self, notice: Notice) -> None:
        """Keep a notice for every channel that carries it; once for its id."""
        channels = self._world.settings.notify
        words = {"cli", *(each.word for each in channels)}
        if notice.channel not in words:  # there is none of the kind that was asked for
            notice = replace(notice, channel="")
        keys = [key_of(each) for each in channels if each.carries(notice)]
        if not keys:
            return
        known = await self._recalled(notice.agent)
        if notice.id in known:
            return
        known[notice.id] = None
        entry = {**asdict(notice), "kind": notice.kind.value}
        await self._line(notice.agent, {"notice": entry, "channels": keys})
        self._furnish()
        for tray in self._of(keys):
            tray.waiting.append(notice)
            tray.wake.set()

    def settings_changed(self) -> None:
        """Channels have come or gone; what waits for one that is gone is dropped."""
        self._furnish()
        self._changed.set()

    def _furnish(self) -> None:
        wanted = {key_of(each): each for each in self._world.settings.notify}
        for key in [key for key in self._trays if key not in wanted]:
            del self._trays[key]
        for key, channel in wanted.items():
            if key in self._trays:
                self._trays[key].channel = channel
            else:
                self._trays[key] = Tray(channel)
                self._changed.set()

    async def _recall_all(self) -> None:
        """What an earlier daemon kept and did not send waits again."""
        for entry in await self._patiently(lambda: self._world.reader.entries(ROOT)):
            if entry.kind is EntryKind.FOLDER and entry.name[0] not in "._":
                await self._recalled(entry.name)

    async def _recalled(self, agent: str) -> dict[str, None]:
        """The ids of an agent's notices; its record is read when first asked for."""
        if agent not in self._known:
            entries = await self._patiently(lambda: self._read(agent))
            if agent not in self._known:  # nor read while this one waited
                known = self._known[agent] = {}
                self._furnish()
                for entry in entries:
                    self._take(agent, entry, known)
        return self._known[agent]

    async def _patiently(self, read: Callable[[], Read]) -> Read:
        """What is read, however long no handle is left: it must not count as empty."""
        while True:
            try:
                return read()
            except TooManyOpen:
                await self._world.clock.sleep(PATIENCE)

    def _read(self, agent: str) -> list[JsonObject]:
        """The entries of an agent's record.

        Raises:
            TooManyOpen: no handle was left.
        """
        try:
            data = self._world.reader.read(_path(agent), limit=LOG_BYTES)
            self._sizes[agent] = len(data)
            return [record.found for record in records(data)]
        except NotThere:
            return []
        except TooManyOpen:
            raise
        except (AgiraphError, BadLine) as fault:
            self._world.remark(f"{_path(agent)} is not read: {fault}")
            return []

    def _take(self, agent: str, entry: JsonObject, known: dict[str, None]) -> None:
        notice, ids = _notice(entry.get("notice")), entry.get("sent")
        keys = entry.get("channels")
        named = [str(key) for key in keys] if isinstance(keys, list) else []
        if isinstance(ids, list):
            for tray in self._of(named):
                tray.waiting = [
                    n for n in tray.waiting if n.agent != agent or n.id not in ids
                ]
        elif isinstance(before := entry.get("known"), list):
            known |= dict.fromkeys(map(str, before))
        elif notice is not None:
            known[notice.id] = None
            mine = entry.get("by") == self._world.whereabouts.machine
            if mine and notice.agent == agent:  # and not of the home it was copied from
                for tray in self._of(named):
                    tray.waiting.append(notice)
                    tray.wake.set()

    def _of(self, keys: list[str]) -> list[Tray]:
        return [self._trays[key] for key in keys if key in self._trays]

    async def _line(self, agent: str, entry: JsonObject) -> None:
        world = self._world
        entry = {"ts": world.stamp(), "by": world.whereabouts.machine, **entry}
        data = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            await world.append(_path(agent), data, flush=True)
        except NotThere:
            return  # its home is gone, and with it what there was to tell
        except AgiraphError as fault:
            self._world.remark(f"{_path(agent)} could not be written: {fault}")
            return
        self._sizes[agent] = self._sizes.get(agent, 0) + len(data)

    # --- what goes out

    async def run(self) -> None:
        """Serve every channel by itself, so that one that hangs holds up no other."""
        tasks: dict[str, asyncio.Task[None]] = {}
        found = await self._patiently(lambda: self._world.reader.entry(FAILING))
        if found is not None:
            await self._write_failing("[]")  # of an earlier daemon
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                if self._trays:
                    await self._recall_all()
                for key in [key for key in tasks if key not in self._trays]:
                    tasks.pop(key).cancel()
                for key, tray in self._trays.items():
                    if key not in tasks or tasks[key].done():
                        tasks[key] = group.create_task(
                            self._serve(key, tray), name=f"notify {tray.channel.name}"
                        )
                await self._tell()
                await self._changed.wait()

    async def _serve(self, key: str, tray: Tray) -> None:
        while self._trays.get(key) is tray:
            tray.wake.clear()
            if not tray.waiting:
                await tray.wake.wait()
            left = self._hold(tray)
            if left > 0:
                tray.held = True
                await self._world.clock.sleep(min(left, QUIET_LOOK))
                continue
            pace = notices.pace_left(self._world.clock.monotonic(), tray.sent)
            if pace > 0:
                await self._world.clock.sleep(pace)
            await self._send_all(key, tray)
            if tray.fault:
                await self._world.clock.sleep(notices.back_off(tray.failures))

    def _hold(self, tray: Tray) -> float:
        """Seconds for which nothing is sent, as far as that is known now."""
        world = self._world
        here = world.clock.now().astimezone(world.clock.zone())
        away = QUIET_LOOK if world.away else 0.0
        return max(away, notices.quiet_left(here, tray.channel.quiet))

    async def _send_all(self, key: str, tray: Tray) -> None:
        await self._give_up_old(key, tray)
        for parcel in notices.packed(tray.waiting, held=tray.held):
            try:
                await self._messenger.send(tray.channel, parcel)
            except NotSent as fault:
                tray.failures += 1
                tray.since = tray.since or self._world.stamp()
                tray.fault = str(fault)
                await self._tell()
                return
            await self._sent(key, tray, parcel.notices)
            now = self._world.clock.monotonic()
            tray.sent = [*tray.sent, now][-notices.PER_MINUTE :]
            tray.failures, tray.fault, tray.since = 0, "", ""
        tray.held = False
        await self._tell()

    async def _sent(self, key: str, tray: Tray, done: Iterable[Notice]) -> None:
        gone = {(each.agent, each.id) for each in done}
        for agent in sorted({agent for agent, _ in gone}):
            ids: list[str] = sorted(ident for of, ident in gone if of == agent)
            await self._line(agent, {"sent": list(ids), "channels": [key]})
        tray.waiting = [n for n in tray.waiting if (n.agent, n.id) not in gone]
        for agent in {agent for agent, _ in gone}:
            await self._begin_anew(agent)

    async def _give_up_old(self, key: str, tray: Tray) -> None:
        """What could not be sent for a week is no news; the tree has it anyway."""
        now = self._world.clock.now()
        old = [
            each
            for each in tray.waiting
            if (now - datetime.fromisoformat(each.ts)).total_seconds() > notices.GIVE_UP
        ]
        if old and tray.fault:
            name = tray.channel.name
            self._world.remark(f"{name}: {len(old)} old notices are not sent any more")
            await self._sent(key, tray, old)

    async def _begin_anew(self, agent: str) -> None:
        """A long record is replaced by a short one, once nothing in it waits.

        What was told lately stays known: the same trouble may be met again today.
        """
        waits = any(n.agent == agent for t in self._trays.values() for n in t.waiting)
        if waits or self._sizes.get(agent, 0) < KEPT:
            return
        pen, path = self._world.pen, _path(agent)
        known = list(self._known.get(agent, {}))[-RECALLED:]
        data = json.dumps({"ts": self._world.stamp(), "known": known}).encode() + b"\n"
        await self._world.durably(lambda: pen.write(path, data))
        self._sizes[agent] = len(data)

    async def _tell(self) -> None:
        """Keep what fails where `agiraph status` finds it."""
        failing = [
            {
                "channel": tray.channel.name,
                "since": tray.since,
                "error": tray.fault,
                "waiting": len(tray.waiting),
            }
            for tray in self._trays.values()
            if tray.fault
        ]
        text = json.dumps(failing, ensure_ascii=False, indent=1)
        if text == self._told or (not failing and not self._told):
            return
        for each in failing:
            if not self._told:
                self._world.remark(f"{each['channel']}: {each['error']}; tried again")
        self._told = text if failing else ""
        await self._write_failing(text)

    async def _write_failing(self, text: str) -> None:
        await self._world.write(FAILING, text.encode() + b"\n")


def key_of(channel: Channel) -> str:
    """What a channel is known by; another address is another channel."""
    way = replace(channel, kinds=frozenset(), quiet=None).way
    return hashlib.sha256(repr(way).encode()).hexdigest()[:12]


def _path(agent: str) -> PurePosixPath:
    return Home(agent).notices


def _notice(entry: object) -> Notice | None:
    if not isinstance(entry, dict):
        return None
    try:
        kind = NoticeKind(entry["kind"])
        known = {key: str(value) for key, value in entry.items() if key in _FIELDS}
        return Notice(**{**known, "kind": kind})  # type: ignore[arg-type]
    except (KeyError, ValueError, TypeError):
        return None


_FIELDS = frozenset(Notice.__dataclass_fields__)
