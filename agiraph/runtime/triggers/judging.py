"""Judging: which slots of the armed triggers are due, and whether each may fire."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from agiraph.core.schedule import verdicts
from agiraph.core.schedule.heard import is_brought, is_meant
from agiraph.core.schedule.slots import MOST, Due, due
from agiraph.core.schedule.verdicts import Standing, Verdict, is_late, judge
from agiraph.model.names import COORDINATOR
from agiraph.model.trigger import Deed, Kind
from agiraph.runtime.purses import purses
from agiraph.runtime.triggers.book import Slot
from agiraph.runtime.triggers.consent import CHANGED
from agiraph.runtime.triggers.deeds import may_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.json import JsonObject
    from agiraph.model.trigger import Trigger
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.triggers.book import Book, Mark
    from agiraph.runtime.triggers.deeds import Deeds

MOST_LINES: Final = 20_000  # of all triggers at one look; the rest is summed up
AN_HOUR: Final = timedelta(hours=1)
MOST_EVENTS: Final = 60  # in an hour, for which one trigger fires
FAILURES: Final = 10  # running, after which a trigger is disarmed


class Judging:
    """Judges the triggers of one agent; the marks are moved on, nothing is done."""

    def __init__(self, desk: Desk, book: Book, deeds: Deeds) -> None:
        """A daemon that begins now knows what it missed by its beginning."""
        self._desk = desk
        self._book = book
        self._deeds = deeds
        self._began = desk.world.now()
        self._rests: dict[str, int] = {}
        self._new: list[Slot] = []
        self._firing: set[str] = set()
        self.waits = 0.0  # seconds until this agent may catch up

    def judge(
        self,
        triggers: Iterable[Trigger],
        heard: list[tuple[int, JsonObject]],
        skip: Iterable[str] = (),
    ) -> list[Slot]:
        """Every slot that is due, with what comes of it.

        Args:
            heard: events that have come, each with its place in the log.
            skip: triggers of which nothing is due before some later moment.
        """
        self._new, self.waits = [], 0.0
        firing = [slot for slot in self._book.open if slot.fires and not slot.later]
        self._firing = {slot.trigger for slot in firing}
        armed = list(triggers)
        self._withdraw(armed)
        most = max(20, min(MOST, MOST_LINES // max(len(armed), 1)))
        left_out = frozenset(skip)
        for trigger in armed:
            mark = self._book.marks[trigger.id]
            if trigger.kind is Kind.ON_EVENT:
                self._of_events(trigger, mark, heard)
                self._of_later(trigger, mark)
            elif trigger.kind is Kind.ON_IDLE:
                self._of_idleness(trigger, mark)
            elif trigger.id not in left_out:
                self._of_the_clock(trigger, mark, most)
        if self.waits == 0.0:
            self._desk.world.catching_up.done(self._desk.agent)
        return self._new

    # --- the kinds

    def _of_the_clock(self, trigger: Trigger, mark: Mark, most: int) -> None:
        world = self._desk.world
        found = due(
            trigger,
            since=mark.begun(),
            after=mark.after(),
            until=world.now(),
            tree=world.clock.zone(),
            most=most,
        )
        standing = self._standing(trigger)
        if not found.slots:
            return
        if is_late(found.slots[-1], standing):
            turn = world.catching_up.wait(self._desk.agent, world.clock.monotonic())
            if turn > 0:
                self.waits = turn
                return
        judged = judge(trigger, found, standing)
        if judged:
            mark.last = judged[-1].slot.isoformat()
        for verdict in judged:
            self._add(trigger, mark, verdict)

    def _of_events(
        self, trigger: Trigger, mark: Mark, heard: list[tuple[int, JsonObject]]
    ) -> None:
        """Each event is a slot of its own; after an absence only the newest fires."""
        meant = []
        for place, event in heard:
            when = _at(str(event["ts"])) if "ts" in event else self._began
            if when >= mark.begun() and is_meant(trigger, event):
                meant.append((when, place, event))
        for number, (slot, place, event) in enumerate(meant, 1):
            standing = self._standing(trigger)
            missed = is_late(slot, standing) and number < len(meant)
            if self._too_often(mark):
                standing = self._standing(trigger, verdicts.TOO_OFTEN)
            if missed:
                why = verdicts.DOWN if slot < standing.began else verdicts.ASLEEP
                verdict = Verdict(slot, fires=False, reason=why)
            else:
                verdict = judge(trigger, Due((slot,)), standing)[0]
            name = f"{slot.isoformat()}/{place}"
            running = verdict.reason == verdicts.STILL_RUNNING
            if running and is_brought(event) and self._misses(trigger, slot):
                self._put_off(trigger, name)
                continue
            if verdict.fires:
                self._overtake(trigger)
                mark.recent.append(slot.isoformat())
            self._add(trigger, mark, verdict, name)

    def _too_often(self, mark: Mark) -> bool:
        now = self._desk.world.now()
        mark.recent = [at for at in mark.recent if now - _at(at) < AN_HOUR]
        return len(mark.recent) >= MOST_EVENTS

    # --- what is put off

    def _misses(self, trigger: Trigger, when: datetime) -> bool:
        """Whether what a trigger has begun began too early to know of an event."""
        if trigger.action.deed is Deed.COMMAND:
            mine = [slot for slot in self._book.open if slot.trigger == trigger.id]
            return any(slot.begun for slot in mine)
        if trigger.id in self._firing:
            return False
        if trigger.action.deed is Deed.RUN:
            return self._deeds.at_work_since(trigger.action, when)
        awaits = self._desk.mail.awaits
        mine_sent = [w.id for w in self._book.wakes if w.trigger == trigger.id]
        return not any(awaits(COORDINATOR, ident) for ident in mine_sent)

    def _put_off(self, trigger: Trigger, name: str) -> None:
        """Keep the newest for when the trigger may fire again; it stands for all."""
        self._overtake(trigger)
        slot = Slot(trigger.id, name, True, trigger.action, verdicts.PUT_OFF)  # noqa: FBT003
        slot.later = True
        self._new.append(slot)

    def _overtake(self, trigger: Trigger) -> None:
        """A newer event fires, or waits, in the place of what was put off."""
        for slot in (*self._book.open, *self._new):
            if slot.later and slot.trigger == trigger.id:
                _skip(slot, verdicts.OVERTAKEN)

    def _of_later(self, trigger: Trigger, mark: Mark) -> None:
        """What was put off fires once nothing speaks against it any longer."""
        mine = [s for s in self._book.open if s.later and s.trigger == trigger.id]
        for slot in mine:
            if self._against(trigger) or self._too_often(mark):
                continue
            slot.later = False
            self._book.open.remove(slot)
            mark.recent.append(self._desk.world.now().isoformat())
            self._decide(trigger, mark, slot)

    def _withdraw(self, armed: Iterable[Trigger]) -> None:
        """What was put off for a trigger that is not as it was is not done."""
        known = {trigger.id: trigger.action for trigger in armed}
        for slot in self._book.open:
            if slot.later and known.get(slot.trigger) != slot.action:
                _skip(slot, CHANGED)

    def _of_idleness(self, trigger: Trigger, mark: Mark) -> None:
        """Once for each stretch in which nothing happens and nobody is at work."""
        spell, slot = self.idle_from(trigger, mark)
        now = self._desk.world.now()
        if self._desk.active or _at_or_never(mark.spell) >= _at_or_never(spell):
            return
        if now < slot:
            return
        mark.spell = spell
        verdict = judge(trigger, Due((slot,)), self._standing(trigger))[0]
        self._add(trigger, mark, verdict)

    def idle_from(self, trigger: Trigger, mark: Mark) -> tuple[str, datetime]:
        """What tells a stretch of idleness from every other, and when it is long."""
        spell = max(self._book.stretch.since, mark.since, key=_at_or_never)
        return spell, _at(spell) + timedelta(seconds=trigger.seconds)

    # --- one slot

    def _add(
        self, trigger: Trigger, mark: Mark, verdict: Verdict, name: str = ""
    ) -> None:
        slot = Slot(
            trigger=trigger.id,
            slot=name or verdict.slot.isoformat(),
            fires=verdict.fires,
            action=trigger.action,
            reason=verdict.reason,
            until=verdict.until.isoformat() if verdict.until else "",
        )
        self._decide(trigger, mark, slot)

    def _decide(self, trigger: Trigger, mark: Mark, slot: Slot) -> None:
        if slot.fires:
            self._check(trigger, mark, slot)
        if slot.fires:
            self._firing.add(slot.trigger)
        self._new.append(slot)

    def _check(self, trigger: Trigger, mark: Mark, slot: Slot) -> None:
        """Whether it can be done at all, and whether it must look first."""
        failed = self._deeds.why_not(slot)
        if not failed and trigger.probe:
            failed = may_run(self._desk)
        if failed:
            slot.fires, slot.reason = False, f"failed: {failed}"
            self.failed(mark, failed)
            return
        slot.before = self._deeds.stands(slot)
        beat = trigger.kind is Kind.HEARTBEAT and not trigger.always
        slot.looks = beat and not self._at_work()
        self._rests[trigger.id] = self._desk.rests

    def failed(self, mark: Mark, words: str) -> None:
        """Count a failure; after some running the trigger is disarmed."""
        mark.failures += 1
        if mark.failures >= FAILURES:
            mark.disarmed = words

    def _at_work(self) -> bool:
        return any(node.status.state.at_work for node in self._desk.nodes.values())

    # --- what holds now

    def _standing(self, trigger: Trigger, against: str = "") -> Standing:
        now = self._desk.world.now()
        return Standing(now, self._began, against or self._against(trigger))

    def _against(self, trigger: Trigger) -> str:
        """Why a trigger may not fire now; empty where it may."""
        desk = self._desk
        if desk.is_paused:
            return verdicts.PAUSED
        if desk.stopping:
            return "stopped"
        if desk.hold:
            return f"held: {desk.hold}"
        if self._is_running(trigger):
            return verdicts.STILL_RUNNING
        return self._against_a_wake() if trigger.action.deed is Deed.WAKE else ""

    def _against_a_wake(self) -> str:
        desk = self._desk
        if not desk.settings.coordinator:
            return "coordinator: false in GOAL.md: there is nobody to wake"
        if desk.error:
            return f"failed: {desk.error}"
        held = desk.held.get(COORDINATOR, "")
        if "budget" in held or self._spent():
            return verdicts.OVER_BUDGET
        return f"held: {held}" if held else ""

    def _spent(self) -> bool:
        """Whether a budget has nothing left, so that no call can be made."""
        rooms = [room for each in purses(self._desk, None) for room in each.room()]
        return any(room is not None and room <= 0 for room in rooms)

    def _is_running(self, trigger: Trigger) -> bool:
        """Whether what it began the last time goes on still."""
        if trigger.id in self._firing:
            return trigger.action.deed is not Deed.SEND
        match trigger.action.deed:
            case Deed.WAKE:
                waiting = any(w.trigger == trigger.id for w in self._book.wakes)
                same = self._rests.get(trigger.id) == self._desk.rests
                return waiting or (same and COORDINATOR in self._desk.active)
            case Deed.RUN:
                return self._deeds.busy(trigger.action)
            case Deed.SEND | Deed.COMMAND:
                return False


def _skip(slot: Slot, why: str) -> None:
    slot.later, slot.fires, slot.reason = False, False, why


def _at(stamp: str) -> datetime:
    return datetime.fromisoformat(stamp)


def _at_or_never(stamp: str) -> float:
    return _at(stamp).timestamp() if stamp else 0.0
