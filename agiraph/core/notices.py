"""What people are told outside the tree: which notices, when, and how many at once."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from agiraph.model.event import EventType
from agiraph.model.notice import Notice, NoticeKind, Parcel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from agiraph.model.event import Event

ONE_BY_ONE: Final = 3
LISTED: Final = 50
PER_MINUTE: Final = 6
TEXT_SENT: Final = 8000
BACK_OFF: Final = (15.0, 60.0, 300.0, 900.0, 3600.0)
GIVE_UP: Final = 7 * 86_400.0

_KINDS: Final = {
    EventType.AGENT_COMPLETED: NoticeKind.FINISHED,
    EventType.AGENT_FAILED: NoticeKind.FAILED,
    EventType.AGENT_STOPPED: NoticeKind.FAILED,
    EventType.AGENT_HELD: NoticeKind.FAILED,
    EventType.NODE_HELD: NoticeKind.FAILED,
    EventType.BUDGET_REACHED: NoticeKind.BUDGET,
}
_VERBS: Final = {
    EventType.AGENT_COMPLETED: "has finished",
    EventType.AGENT_FAILED: "has failed",
    EventType.AGENT_STOPPED: "was stopped",
    EventType.AGENT_HELD: "is held",
    EventType.NODE_HELD: "is held",
    EventType.BUDGET_REACHED: "has used up its budget",
}


def of_event(event: Event, stamp: str) -> Notice | None:
    """The notice of an event, if people are told of it.

    The same trouble of one run is one notice a day, however many loops meet it.
    """
    kind = _KINDS.get(event.type)
    if kind is None:
        return None
    words = str(event.data.get("words") or event.data.get("reason") or "")
    if _is_hold(event.type) and "budget" in words:
        return None  # a budget has its own event
    day = stamp[:10] if kind in (NoticeKind.BUDGET, NoticeKind.FAILED) else ""
    about = words.partition("(")[0] if kind is not NoticeKind.FINISHED else ""
    name = "held" if _is_hold(event.type) else event.type.value
    mark = hashlib.sha256(about.encode("utf-8", "replace")).hexdigest()[:8]
    return Notice(
        id=f"{name}:{event.run or ''}:{day}:{mark}",
        kind=kind,
        agent=event.agent,
        title=f"{event.agent} {_VERBS[event.type]}",
        text=shortened(words),
        ts=stamp,
    )


def _is_hold(kind: EventType) -> bool:
    return kind in (EventType.AGENT_HELD, EventType.NODE_HELD)


def shortened(text: str) -> str:
    """A text as far as it is worth sending; the file has the whole."""
    return text if len(text) <= TEXT_SENT else text[: TEXT_SENT - 1] + "…"


def quiet_left(now: datetime, quiet: tuple[int, int] | None) -> float:
    """Seconds until the quiet hours end; none where it is not quiet.

    Args:
        now: in the tree's time zone.
        quiet: from and to, in minutes of the day; it may go over midnight.
    """
    if quiet is None:
        return 0.0
    minute = now.hour * 60 + now.minute
    begin, end = quiet
    inside = begin <= minute < end if begin < end else not end <= minute < begin
    if not inside:
        return 0.0
    until = now.replace(hour=end // 60, minute=end % 60, second=0, microsecond=0)
    if until <= now:
        until += timedelta(days=1)
    return max((until - now).total_seconds(), 1.0)


def pace_left(now: float, sent: Sequence[float]) -> float:
    """Seconds until another parcel may go, so that nobody is flooded.

    Args:
        now: on any clock; sent: when parcels went, oldest first.
    """
    lately = [each for each in sent if now - each < 60.0]
    if len(lately) < PER_MINUTE:
        return 0.0
    return lately[-PER_MINUTE] + 60.0 - now


def back_off(failures: int) -> float:
    """Seconds until it is tried again, after so many failures in a row."""
    return BACK_OFF[min(failures, len(BACK_OFF)) - 1]


def packed(waiting: Sequence[Notice], *, held: bool) -> list[Parcel]:
    """What is sent: each by itself, or, where many wait or were held, all as one."""
    if not waiting:
        return []
    if len(waiting) <= ONE_BY_ONE and not (held and len(waiting) > 1):
        return [Parcel(_mark(each), each.title, each.text, (each,)) for each in waiting]
    lines = [f"- {each.title}: {_line(each.text)}" for each in waiting[:LISTED]]
    if len(waiting) > LISTED:
        lines.append(f"- and {len(waiting) - LISTED} more: `agiraph inbox` lists all")
    agents = ", ".join(dict.fromkeys(each.agent for each in waiting[:LISTED]))
    title = f"{len(waiting)} notices from {agents}"
    whole = "|".join(map(_mark, waiting)).encode()
    mark = f"summary:{hashlib.sha256(whole).hexdigest()[:16]}"
    return [Parcel(mark, title, "\n".join(lines), tuple(waiting))]


def _mark(notice: Notice) -> str:
    return f"{notice.agent}:{notice.id}"


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else flat[:199] + "…"
