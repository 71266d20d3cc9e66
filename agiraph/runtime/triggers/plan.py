"""What comes next: the due times ahead, for the alarm and for `_status.md`."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final

from agiraph.core.schedule.slots import next_slots, zone_of
from agiraph.model.trigger import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from agiraph.model.trigger import Trigger
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.triggers.book import Book
    from agiraph.runtime.triggers.judging import Judging

SHOWN: Final = 3
MOST_SHOWN: Final = 50  # triggers on the status page
AGAIN: Final = timedelta(seconds=60)  # until what was put off is looked at again


class Plan:
    """The next due times of each trigger, worked out once."""

    def __init__(self, desk: Desk, book: Book) -> None:
        """Nothing is worked out."""
        self._desk = desk
        self._book = book
        self._ahead: dict[str, list[datetime]] = {}
        self._zone = repr(desk.world.clock.zone())

    def forget(self, trigger: str | None = None) -> None:
        """Work it out anew, for one trigger or for all."""
        if trigger is None:
            self._ahead.clear()
        else:
            self._ahead.pop(trigger, None)

    def later(self, triggers: Iterable[Trigger]) -> list[str]:
        """The triggers of which nothing is due yet, as far as that is known."""
        clock = self._desk.world.clock
        if self._zone != repr(clock.zone()):
            self._zone = repr(clock.zone())
            self.forget()
        now, found = self._desk.world.now(), []
        for trigger in triggers:
            ahead = self._ahead.get(trigger.id)
            if ahead is not None and (not ahead or now < ahead[0]):
                found.append(trigger.id)
        return found

    def _next(self, trigger: Trigger) -> list[datetime]:
        known = self._ahead.get(trigger.id)
        if known is None:
            mark, clock = self._book.marks[trigger.id], self._desk.world.clock
            found = next_slots(
                trigger,
                SHOWN,
                since=mark.begun(),
                after=mark.after(),
                tree=clock.zone(),
            )
            known = self._ahead[trigger.id] = [slot.astimezone(UTC) for slot in found]
        return known

    def moments(self, armed: Iterable[Trigger], judging: Judging) -> list[datetime]:
        """When something falls due, or is worth another look."""
        found = []
        now = self._desk.world.now()
        for trigger in armed:
            if trigger.kind is Kind.ON_IDLE:
                found += self._idle(trigger, judging, now)
                continue
            ahead = self._next(trigger)
            if ahead:
                found.append(ahead[0] if ahead[0] > now else now + AGAIN)
        return found

    def _idle(
        self, trigger: Trigger, judging: Judging, now: datetime
    ) -> list[datetime]:
        mark = self._book.marks[trigger.id]
        spell, slot = judging.idle_from(trigger, mark)
        if self._desk.active:
            return [now + timedelta(seconds=trigger.seconds)]
        if mark.spell == spell:
            return []
        return [slot if slot > now else now + AGAIN]

    def shown(
        self, wanted: Iterable[Trigger], *, forked: bool
    ) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each trigger with its next due times, or with why it has none."""
        found = [(each.id, self._words(each, forked=forked)) for each in wanted]
        return tuple(found[:MOST_SHOWN])

    def _words(self, trigger: Trigger, *, forked: bool) -> tuple[str, ...]:
        if forked:
            return ("disarmed: this agent is a copy; change triggers.yaml to arm it",)
        mark = self._book.marks.get(trigger.id)
        if mark is None or not trigger.enabled:
            return ("not enabled",)
        if mark.disarmed:
            return (f"disarmed: {mark.disarmed}",)
        if trigger.kind is Kind.ON_EVENT:
            return (f"on {trigger.event}",)
        if trigger.kind is Kind.ON_IDLE:
            return ("when nothing has happened for long enough",)
        zone = zone_of(trigger, self._desk.world.clock.zone())
        times = tuple(
            slot.astimezone(zone).isoformat(timespec="seconds")
            for slot in self._next(trigger)
        )
        return times or ("done",)
