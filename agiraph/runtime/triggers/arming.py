"""Arming: the triggers that stand in triggers.yaml, each counted from its own time.

What is left alone in an edit keeps its due times; what is new or says something else
counts from now. In a copy of an agent nothing is armed until its file is touched.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import read_triggers
from agiraph.core.codec.report import Good
from agiraph.core.schedule.slots import moment_of, zone_of
from agiraph.core.schedule.verdicts import PAST
from agiraph.model.trigger import Kind
from agiraph.ports import Seen
from agiraph.runtime.ownership import DISARMED
from agiraph.runtime.triggers.book import Mark, Slot

if TYPE_CHECKING:
    from agiraph.model.trigger import Trigger
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.people.intake import Intake
    from agiraph.runtime.triggers.book import Book

SET_BACK: Final = timedelta(hours=1)  # by more than this a clock was wrong before


class Arming:
    """What is armed of one agent's triggers.yaml.

    Attributes:
        wanted: the triggers in force; None before the file was seen.
        by_id: the same, each by its id.
        events: the types of events that one of them waits for.
        forked: whether this agent is a copy whose file was not touched yet.
        fresh: heartbeats that have not seen anything yet.
    """

    def __init__(self, desk: Desk, intake: Intake, book: Book) -> None:
        """Nothing has been read yet."""
        self._desk = desk
        self._intake = intake
        self._book = book
        self._sha = ""
        self._stale = True
        self.wanted: tuple[Trigger, ...] | None = None
        self.by_id: dict[str, Trigger] = {}
        self.events: frozenset[str] = frozenset()
        self.forked = False
        self.fresh: set[str] = set()

    async def read(self, sight: Sight) -> None:
        """Take in the file as it was just seen."""
        path = self._desk.home.triggers
        if sight.seen is Seen.LATER:
            return
        if sight.seen is Seen.ABSENT:
            await self._intake.clear(path, sight)
            self._put(())
            return
        if self.wanted is not None and not self._intake.is_new(path, sight):
            return
        copy = self._intake.accepted(path)
        force = "nothing of it" if copy is None else "the last good version"
        found = await self._intake.judge(path, sight, read_triggers, force)
        if found is not None:
            await self._intake.keep(path, sight)
            self._sha = sight.sha
            self._put(found)
        elif self.wanted is None:
            known = read_triggers(copy or "")
            self._put(known.value if isinstance(known, Good) else ())

    def _put(self, wanted: tuple[Trigger, ...]) -> None:
        # In a copy any change arms, one of a remark too.
        self._stale = self._stale or self.forked or wanted != self.wanted
        self.wanted = wanted
        self.by_id = {each.id: each for each in wanted}
        self.events = frozenset(each.event for each in wanted if each.event)

    def settle(self) -> bool:
        """Bring what is on record in step with what is wanted; whether it changed."""
        changed = self._set_back()
        if not self._stale:
            return changed
        self._stale = False
        marks, wanted = self._book.marks, self.wanted or ()
        self.forked = self._desk.journal.marked("fork", DISARMED + self._sha)
        if self.forked:
            begun = bool(marks or self._book.open or self._book.wakes)
            marks.clear()
            self._book.open, self._book.wakes = [], []
            return begun
        before = {id_: mark.digest for id_, mark in marks.items()}
        for id_ in before.keys() - {trigger.id for trigger in wanted}:
            del marks[id_]
        moved = [self._arm(trigger, marks.get(trigger.id)) for trigger in wanted]
        return any(moved) or len(before) != len(marks) or changed

    def _arm(self, trigger: Trigger, mark: Mark | None) -> bool:
        now = self._desk.world.stamp()
        if mark is None or mark.digest != trigger.digest:
            mark = Mark(trigger.digest, since=now, last=now, enabled=trigger.enabled)
            self._book.marks[trigger.id] = mark
            if trigger.kind is Kind.HEARTBEAT:
                self.fresh.add(trigger.id)
            self._refuse_past(trigger)
            return True
        if mark.enabled == trigger.enabled:
            return False
        mark.enabled = trigger.enabled
        if mark.enabled and not trigger.kind.once:
            mark.last = now  # what was due while it slept was not due
        return True

    def _refuse_past(self, trigger: Trigger) -> None:
        """A moment that was over when it was first read is told so at once."""
        desk = self._desk
        if trigger.kind is not Kind.AT_TIME:
            return
        slot = moment_of(trigger.at, zone_of(trigger, desk.world.clock.zone()))
        if slot > desk.world.now():
            return
        why = f"{PAST}: it was over when it was first read"
        self._book.open.append(
            Slot(trigger.id, slot.isoformat(), False, trigger.action, why)  # noqa: FBT003
        )
        desk.world.remark(
            f"{desk.home.triggers}: {trigger.id} was due at {trigger.at}, which is "
            "past; it does nothing. Give it another time"
        )

    def _set_back(self) -> bool:
        """Where the clock was set far back, count from where it stands now."""
        desk, now = self._desk, self._desk.world.now()
        ahead = [m for m in self._book.marks.values() if m.after() > now + SET_BACK]
        if not ahead:
            return False
        self._book.era += 1
        for mark in self._book.marks.values():
            mark.last = min(mark.after(), now).isoformat()
            mark.since = min(mark.begun(), now).isoformat()
        desk.world.remark(
            f"{desk.agent}: the clock was set back; its triggers count from now"
        )
        return True
