"""What comes of the slots that are due: fired, skipped and why, or put off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from agiraph.core.schedule.slots import Due
    from agiraph.model.trigger import Trigger

LATE: Final = timedelta(seconds=60)  # from when on a slot was missed
DOWN, ASLEEP, CAUGHT_UP = "down", "asleep", "caught up"
STILL_RUNNING, PAUSED, OVER_BUDGET = "still running", "paused", "over budget"
UNCHANGED, PAST, TOO_OFTEN = "unchanged", "past", "too often"
PUT_OFF, OVERTAKEN = "put off", "overtaken"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comes of one slot.

    Attributes:
        fires: whether it does; else it is skipped.
        reason: why it is skipped, or that it fires late; empty where it is on time.
        until: where it stands for all slots from this one until then (itself not).
    """

    slot: datetime
    fires: bool
    reason: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known where slots are judged.

    Attributes:
        began: when this daemon began to keep the triggers.
        against: why nothing may fire now; empty where it may.
    """

    now: datetime
    began: datetime
    against: str = ""


def is_late(slot: datetime, standing: Standing) -> bool:
    """Whether a slot was missed, so that firing it now is catching up."""
    return standing.now - slot > LATE


def judge(trigger: Trigger, due: Due, standing: Standing) -> tuple[Verdict, ...]:
    """What comes of what is due: the newest fires where it may, the others were missed.

    What is due once is put off while it may not fire: then nothing comes of it yet.
    """
    if not due.slots or (trigger.kind.once and standing.against):
        return ()
    missed = [_missed(slot, standing) for slot in due.slots[:-1]]
    if due.before is not None:
        first, until = due.before
        missed.insert(0, _missed(first, standing, until))
    return (*missed, _newest(due.slots[-1], standing))


def _missed(
    slot: datetime, standing: Standing, until: datetime | None = None
) -> Verdict:
    why = DOWN if slot < standing.began else ASLEEP
    return Verdict(slot, fires=False, reason=why, until=until)


def _newest(slot: datetime, standing: Standing) -> Verdict:
    if standing.against:
        return Verdict(slot, fires=False, reason=standing.against)
    late = CAUGHT_UP if is_late(slot, standing) else ""
    return Verdict(slot, fires=True, reason=late)
