"""The triggers of one agent: at each look, what is due is decided, done and told."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from agiraph.core.schedule import verdicts
from agiraph.core.schedule.heard import after
from agiraph.errors import AgiraphError
from agiraph.model.event import EventType
from agiraph.model.names import AGIRAPH, COORDINATOR
from agiraph.model.trigger import Deed, Kind
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.triggers import diary
from agiraph.runtime.triggers.arming import Arming
from agiraph.runtime.triggers.book import Book
from agiraph.runtime.triggers.consent import consent, may_now
from agiraph.runtime.triggers.deeds import Deeds
from agiraph.runtime.triggers.judging import FAILURES, Judging
from agiraph.runtime.triggers.plan import AGAIN, Plan
from agiraph.runtime.triggers.sights import Sights
from agiraph.runtime.triggers.watched import Watched

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from agiraph.model.event import Event
    from agiraph.model.json import JsonObject
    from agiraph.model.trigger import Trigger
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.people.intake import Intake
    from agiraph.runtime.triggers.book import Slot

CUT_OFF: Final = "cut off: the daemon ended while it ran"
SETTLE: Final = "trigger:what beats see"


class Triggers:
    """Arms, judges and fires; every step is on record before the next.

    Attributes:
        due: when the next look is worth it; None while nothing is waited for.
    """

    def __init__(self, desk: Desk, intake: Intake) -> None:
        """Nothing is read yet."""
        self._desk = desk
        self._book = Book(desk)
        self._arming = Arming(desk, intake, self._book)
        self._deeds = Deeds(desk, self._book)
        self._judging = Judging(desk, self._book, self._deeds)
        self._sights = Sights(desk, self._book, self._deeds)
        self._watched = Watched(desk)
        self._plan = Plan(desk, self._book)
        self._known = False
        self._begun: set[tuple[str, str]] = set()
        self._at_work = asyncio.Lock()
        self.due: datetime | None = None

    async def look(self, sight: Sight) -> None:
        """Take in the file, then do what is due.

        Raises:
            Damaged: what is on record cannot be read.
        """
        await self._arming.read(sight)
        wanted = self._arming.wanted
        if wanted is None or not (wanted or self._known or self._was_armed()):
            return
        async with self._at_work:
            self._recall()
            if self._arming.settle():
                self._plan.forget()
                await self._book.commit()
            await self._round()
            self._look_ahead()

    def errands(self) -> dict[str, Callable[[], Coroutine[None, None, None]]]:
        """What takes longer than a look: commands and probes, by name."""
        found: dict[str, Callable[[], Coroutine[None, None, None]]] = {}
        desk = self._desk
        if desk.is_paused or desk.hold or desk.stopping:
            return found
        for slot in self._book.open:
            if _is_errand(slot):
                name = f"trigger:{slot.trigger}@{slot.slot}"
                found[name] = partial(self._errand, slot)
        if self._probing():
            found[SETTLE] = self._settle
        return found

    # --- what is known

    def _was_armed(self) -> bool:
        self._known = self._desk.world.reader.entry(self._desk.home.armed) is not None
        return self._known

    def _recall(self) -> None:
        """Read the book, once; of the wakes, those that were delivered are done."""
        if self._known and self._book.offset >= 0:
            return
        desk = self._desk
        self._book.load()
        desk.records.heard = self._hears
        self._known = True
        if self._book.offset < 0:
            self._book.offset = diary.size(desk.world.reader, desk.home)
        if self._book.wakes:
            talk = Conversation(desk.world, desk.home.conversation)
            talk.load()
            self._book.wakes = [
                wake for wake in self._book.wakes if wake.id not in talk.delivered
            ]

    def _hears(self, event: Event) -> None:
        """An event was recorded: where a trigger waits for such, look soon."""
        kind = event.type.value
        if kind not in self._arming.events:  # nearly always, and each event asks
            return
        if any(kind == each.event for each in self._armed()):
            self._desk.world.look(self._desk.agent)

    def _armed(self) -> list[Trigger]:
        """The triggers that may fire, in the order of the file."""
        if self._arming.forked:
            return []
        marks = self._book.marks
        return [
            trigger
            for trigger in self._arming.wanted or ()
            if trigger.enabled
            and trigger.id in marks
            and not marks[trigger.id].disarmed
        ]

    def _beats(self) -> list[Trigger]:
        """The heartbeats that wake only where something has changed."""
        return [t for t in self._armed() if t.kind is Kind.HEARTBEAT and not t.always]

    # --- one round

    async def _round(self) -> None:
        book, armed = self._book, self._armed()
        book.wakes = [w for w in book.wakes if not self._is_delivered(w.id)]
        for wake in book.wakes:
            await self._deeds.post(wake)  # a run may have ended with it unread
        await self._watched.scan(armed)
        heard = self._heard()
        seen = await self._see()
        new = self._judging.judge(armed, heard, skip=self._plan.later(armed))
        if any(slot.later for slot in new):
            self._desk.watchful = True
        for slot in new:
            if slot.looks and not self._trigger(slot).probe:
                await self._look_first(slot)
        book.open += new
        if new or seen:  # in one: what is heard is on record with what comes of it
            self._wake_for(new)
            await book.commit()
            for slot in new:
                self._plan.forget(slot.trigger)
        await self._carry_out()

    def _heard(self) -> list[tuple[int, JsonObject]]:
        desk, found = self._desk, []
        lines = diary.lines(desk.world.reader, desk.home, self._book.offset)
        for begin, end, event in lines:
            self._book.stretch = after(self._book.stretch, event)
            self._book.offset = end
            found.append((begin, event))
        return found

    def _is_delivered(self, ident: str) -> bool:
        """Whether a wake that was put before the coordinator is in its conversation."""
        waits = self._desk.mail.awaits(COORDINATOR, ident)
        return ident in self._deeds.posted and not waits

    def _puts_off(self) -> bool:
        """Whether something waits for the end of what its trigger began before."""
        return any(slot.later for slot in self._book.open)

    async def _see(self) -> bool:
        """Where the agent has come to rest, beats keep what they see now; if any do."""
        beats = self._beats()
        self._sights.note(beats, self._arming.fresh)
        self._arming.fresh.clear()
        self._desk.watchful = bool(beats) or self._puts_off()
        owed = [beat for beat in self._sights.owed(beats) if not beat.probe]
        if owed:
            await self._sights.keep(owed)
        return bool(owed)

    def _trigger(self, slot: Slot) -> Trigger:
        return self._arming.by_id[slot.trigger]

    async def _look_first(self, slot: Slot) -> None:
        """A beat fires where it sees something else than when the last wake ended."""
        beat, mark = self._trigger(slot), self._book.marks[slot.trigger]
        seen = await self._sights.of(beat)
        slot.looks = False
        if seen == mark.seen or self._sights.owed([beat]):
            slot.fires, slot.reason = False, verdicts.UNCHANGED
            self._sights.put(beat, seen)
        else:
            # Open until the wake has ended; nothing ends what is no wake.
            mark.seen = "" if slot.action.deed is Deed.WAKE else seen

    def _wake_for(self, slots: Iterable[Slot]) -> None:
        self._book.wakes += [
            self._deeds.wake_of(slot)
            for slot in slots
            if slot.fires
            and not (slot.looks or slot.later)
            and slot.action.deed is Deed.WAKE
        ]

    # --- doing and telling

    async def _carry_out(self) -> None:
        """Do what was decided, then tell it; what a restart left open, too."""
        done = []
        for slot in self._book.open:
            if slot.later:
                continue
            if _is_errand(slot):
                if slot.begun and slot.key not in self._begun:
                    slot.reason = CUT_OFF
                    done.append(slot)
                continue
            if slot.fires:
                await self._deeds.do(slot)
                self._succeeded(slot.trigger)
            done.append(slot)
        await self._tell(done)
        if any(map(_is_errand, self._book.open)):
            self._desk.bell.ring()

    async def _tell(self, done: list[Slot]) -> None:
        if not done:
            return
        desk = self._desk
        await self._book.tell(done)
        for slot in _worth_an_event(done):
            kind = EventType.TRIGGER_FIRED if slot.fires else EventType.TRIGGER_SKIPPED
            more = {"reason": slot.reason} if slot.reason else {}
            where = desk.where()
            await desk.records.event(
                kind, where, trigger=slot.trigger, slot=slot.slot, **more
            )
        await self._disarm({slot.trigger for slot in done})

    async def _disarm(self, triggers: Iterable[str]) -> None:
        """Say of each trigger that failed too often that it fires no more."""
        desk = self._desk
        for name in sorted(triggers):
            mark = self._book.marks.get(name)
            if mark is None or not mark.disarmed:
                continue
            words = (
                f"The trigger {name} failed {FAILURES} times running and fires no "
                f"more ({mark.disarmed}). Mend it in triggers.yaml: any change to it "
                "arms it again."
            )
            await desk.mail.to_outbox(AGIRAPH, words, f"disarmed:{name}:{mark.since}")
            desk.world.remark(f"{desk.agent}: {words}")
            await self._book.commit()

    def _succeeded(self, name: str) -> None:
        mark = self._book.marks.get(name)
        if mark is not None:
            mark.failures = 0

    # --- what takes longer

    def _probing(self) -> list[Trigger]:
        owed = self._sights.owed(self._beats())
        return [b for b in owed if b.probe and may_now(self._desk, b.probe)]

    async def _settle(self) -> None:
        """Keep what beats with a probe see, now that the agent has come to rest."""
        await self._sights.keep(self._probing())
        async with self._at_work:
            await self._book.commit()
        self._desk.world.look(self._desk.agent)

    async def _errand(self, slot: Slot) -> None:
        """A probe and what comes of it, or a command from its start to its end."""
        probe = self._probe_of(slot)
        command = probe or slot.action.command
        step = f"trigger:{slot.trigger}@{slot.slot}" + (" probe" if probe else "")
        why = await consent(self._desk, step, command, lambda: self._stands(slot))
        if why:
            slot.fires, slot.reason = False, why
            async with self._at_work:
                await self._tell([slot])
        elif slot.looks:
            await self._probe_first(slot)
        else:
            await self._command(slot)
        self._desk.world.look(self._desk.agent)

    def _stands(self, slot: Slot) -> bool:
        """Whether what a slot is to do is still what its trigger says."""
        found = [each for each in self._armed() if each.id == slot.trigger]
        return any(each.action == slot.action for each in found)

    def _probe_of(self, slot: Slot) -> str:
        found = [each for each in self._armed() if each.id == slot.trigger]
        return found[0].probe if found and slot.looks else ""

    async def _probe_first(self, slot: Slot) -> None:
        if slot.trigger not in {trigger.id for trigger in self._armed()}:
            slot.looks, slot.fires = False, False
            slot.reason = "it was taken away, or changed"
        else:
            await self._look_first(slot)
        async with self._at_work:
            self._wake_for([slot])
            await self._book.commit()
            await self._carry_out()

    async def _command(self, slot: Slot) -> None:
        self._begun.add(slot.key)
        slot.begun = True
        async with self._at_work:
            await self._book.commit()
        try:
            words = await self._deeds.command(slot)
        except AgiraphError as fault:
            words = str(fault)
        slot.reason = words or slot.reason
        mark = self._book.marks.get(slot.trigger)
        if mark is not None and words:
            self._judging.failed(mark, words)
        else:
            self._succeeded(slot.trigger)
        async with self._at_work:
            await self._tell([slot])

    # --- looking ahead

    def _look_ahead(self) -> None:
        desk, armed = self._desk, self._armed()
        moments = self._plan.moments(armed, self._judging)
        waits = [self._watched.seconds(armed)]
        waits.append(self._judging.waits or None)
        if self._puts_off() and not (desk.is_paused or desk.stopping):
            waits.append(AGAIN.total_seconds())
        now = desk.world.now()
        moments += [now + timedelta(seconds=s) for s in waits if s is not None]
        self.due = min(moments, default=None)
        wanted = self._arming.wanted or ()
        planned = self._plan.shown(wanted, forked=self._arming.forked)
        if planned != desk.planned:
            desk.planned = planned
            desk.bell.ring()


def _is_errand(slot: Slot) -> bool:
    """Whether it needs a process, which no look waits for."""
    waits = slot.looks or slot.action.deed is Deed.COMMAND
    return slot.fires and not slot.later and waits


def _worth_an_event(slots: Iterable[Slot]) -> list[Slot]:
    """What is told as an event: not what found no change, or was missed while down."""
    quiet = (verdicts.UNCHANGED, verdicts.DOWN, verdicts.ASLEEP)
    return [slot for slot in slots if slot.fires or slot.reason not in quiet]
