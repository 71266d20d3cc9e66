"""When triggers are due, against a slow and plain reference."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agiraph.core.schedule.cron import NAMED, cron_problem, cron_slots
from agiraph.core.schedule.slots import MOST, Due, due, moment_of, next_slots
from agiraph.model.trigger import Action, Deed, Kind, Trigger

BERLIN = ZoneInfo("Europe/Berlin")
WAKE = Action(Deed.WAKE, task="look")
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


# --- the reference: every minute is looked at, as cron does it


def numbers(field: str, least: int, most: int) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span == "*":
            low, high = least, most
        else:
            low = DAYS.index(first) if first in DAYS else int(first)
            high = int(last) if last else (most if step else low)
        found |= set(range(low, high + 1, int(step or 1)))
    return found


def is_day(local: datetime, day: str, month: str, weekday: str) -> bool:
    if local.month not in numbers(month, 1, 12):
        return False
    last = calendar.monthrange(local.year, local.month)[1]
    by_date = local.day == last if day == "L" else local.day in numbers(day, 1, 31)
    by_name = local.isoweekday() % 7 in {n % 7 for n in numbers(weekday, 0, 7)}
    if day.startswith("*") or weekday.startswith("*"):
        return by_date and by_name
    return by_date or by_name


def matches(line: str, local: datetime) -> bool:
    minute, hour, day, month, weekday = line.split()
    in_time = local.minute in numbers(minute, 0, 59)
    in_time = in_time and local.hour in numbers(hour, 0, 23)
    return in_time and is_day(local, day, month, weekday)


def reference(
    line: str, after: datetime, until: datetime, zone: ZoneInfo
) -> list[datetime]:
    """Fixed times go by the clock on the wall, the others by the time that passes."""
    minute, hour, *_ = line.split()
    fixed = not minute.startswith("*") and not hour.startswith("*")
    found = set()
    at = after.astimezone(UTC).replace(second=0, microsecond=0)
    if not fixed:
        while at <= until:
            if matches(line, at.astimezone(zone)):
                found.add(at)
            at += timedelta(minutes=1)
    wall = (after - timedelta(days=2)).astimezone(zone).replace(tzinfo=None)
    wall = wall.replace(second=0, microsecond=0)
    end = (until + timedelta(days=1)).astimezone(zone).replace(tzinfo=None)
    while fixed and wall <= end:
        if matches(line, wall):
            found.add(first_at(wall, zone))
        wall += timedelta(minutes=1)
    return sorted(each for each in found if after < each <= until)


def first_at(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a time on the wall: the first, or of the next that exists."""
    while True:
        instant = wall.replace(tzinfo=zone).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == wall:
            return instant
        wall += timedelta(minutes=1)


minute = st.sampled_from(["0", "30", "*/15", "*", "5,50", "10-12", "7-59/20"])
hour = st.sampled_from(["2", "*", "1-3", "*/6", "3", "0,2,23", "1"])
day = st.sampled_from(["*", "1", "L", "29-31", "*/2", "25", "28"])
month = st.sampled_from(["*", "3,10", "*/5", "2", "4-11"])
weekday = st.sampled_from(["*", "1", "7", "0", "mon", "1-5", "sun", "*/3"])
zones = st.sampled_from(
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"]
)
starts = st.sampled_from(
    [
        (2026, 3, 28),
        (2026, 10, 24),
        (2026, 3, 7),
        (2026, 10, 31),
        (2026, 4, 4),
        (2028, 2, 28),
    ]
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.tuples(minute, hour, day, month, weekday).map(" ".join),
    starts,
    st.integers(0, 2 * 86400),
    zones,
)
@example("30 2 * * *", (2026, 10, 24), 86400 + 5000, "Europe/Berlin")
@example("0 2 * * *", (2026, 4, 4), 3600, "Australia/Lord_Howe")
def test_cron_lines_are_due_when_a_slow_and_plain_reference_says(
    line: str, start: tuple[int, int, int], seconds: int, zone: str
) -> None:
    there = ZoneInfo(zone)
    after = datetime(*start, tzinfo=UTC) + timedelta(seconds=seconds)
    until = after + timedelta(days=2)
    if cron_problem(line):
        return
    found = []
    for slot in cron_slots(line, after=after, zone=there):
        if slot > until:
            break
        found.append(slot)

    assert found == reference(line, after, until, there)


# --- what cron means


def trigger(kind: Kind, **more: object) -> Trigger:
    return Trigger("t", kind, WAKE, "d", **more)  # type: ignore[arg-type]


def cron(line: str, zone: str | None = "Europe/Berlin") -> Trigger:
    return trigger(Kind.SCHEDULED, cron=line, timezone=zone)


def nexts(of: Trigger, after: str, count: int = 3) -> list[str]:
    moment = datetime.fromisoformat(after)
    found = next_slots(of, count, since=moment, after=moment, tree=UTC)
    return [each.isoformat(timespec="minutes") for each in found]


def test_monday_is_1_and_sunday_is_0_and_7() -> None:
    assert nexts(cron("0 9 * * 1"), "2026-11-21T12:00Z", 1) == [
        "2026-11-23T09:00+01:00"
    ]
    for sunday in ("0 9 * * 0", "0 9 * * 7", "0 9 * * sun"):
        assert nexts(cron(sunday), "2026-11-21T12:00Z", 1) == ["2026-11-22T09:00+01:00"]


def test_of_two_days_either_will_do() -> None:
    found = nexts(cron("0 9 1 * mon"), "2026-11-24T12:00Z")
    assert [each[:10] for each in found] == ["2026-11-30", "2026-12-01", "2026-12-07"]


def test_names_stand_for_their_lines_and_l_for_the_last_day() -> None:
    assert nexts(cron("@daily"), "2026-11-21T12:00Z", 1) == ["2026-11-22T00:00+01:00"]
    assert nexts(cron("0 0 L * *"), "2026-02-21T12:00Z", 1) == [
        "2026-02-28T00:00+01:00"
    ]
    assert all(cron_problem(name) is None for name in NAMED)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 0 30 2 *", "day"),
        ("0 9 * * 8", "day-of-week"),
        ("every day", "five fields"),
        ("* * * * * *", "five fields"),
        ("0 0 31 2,4 *", "day"),
        ("@reboot", "five fields"),
        ("61 * * * *", "minute"),
        ("", "five fields"),
    ],
)
def test_a_line_that_is_never_due_is_told_so(line: str, words: str) -> None:
    assert words in str(cron_problem(line))


def test_a_time_that_is_left_out_in_spring_is_due_at_the_next_minute_that_exists() -> (
    None
):
    assert nexts(cron("30 2 * * *"), "2026-03-28T12:00Z", 2) == [
        "2026-03-29T03:00+02:00",
        "2026-03-30T02:30+02:00",
    ]
    assert (
        moment_of("2026-03-29T02:30", BERLIN).isoformat() == "2026-03-29T03:00:00+02:00"
    )


def test_a_time_that_comes_twice_in_autumn_is_due_the_first_time_only() -> None:
    assert nexts(cron("30 2 * * *"), "2026-10-24T12:00Z", 2) == [
        "2026-10-25T02:30+02:00",
        "2026-10-26T02:30+01:00",
    ]
    between = "2026-10-25T01:10+00:00"  # 2:10 for the second time
    assert nexts(cron("30 2 * * *"), between, 1) == ["2026-10-26T02:30+01:00"]
    assert (
        moment_of("2026-10-25T02:30", BERLIN).isoformat() == "2026-10-25T02:30:00+02:00"
    )


def test_every_half_hour_is_every_half_hour_when_the_hour_comes_twice() -> None:
    found = nexts(cron("*/30 * * * *"), "2026-10-25T00:00Z", 5)
    assert [each[11:] for each in found] == [
        *("02:30+02:00", "02:00+01:00", "02:30+01:00", "03:00+01:00", "03:30+01:00"),
    ]


# --- the other kinds


def test_a_beat_keeps_its_pace_from_when_it_was_first_read() -> None:
    beat = trigger(Kind.HEARTBEAT, seconds=1800.0)
    since = datetime(2026, 3, 28, 12, 7, tzinfo=BERLIN)
    after = datetime(2026, 3, 29, 1, 50, tzinfo=BERLIN)
    found = next_slots(beat, 3, since=since, after=after, tree=UTC)
    assert [each.isoformat(timespec="minutes")[11:] for each in found] == [
        *("03:07+02:00", "03:37+02:00", "04:07+02:00"),
    ]


def test_a_delay_counts_from_when_it_was_first_read_and_is_due_once() -> None:
    since = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    delay = trigger(Kind.DELAYED, seconds=1800.0)
    slot = since + timedelta(minutes=30)

    def found(after: datetime, until: datetime) -> Due:
        return due(delay, since=since, after=after, until=until, tree=UTC)

    assert found(since, slot - timedelta(seconds=1)) == Due()
    assert found(since, slot + timedelta(days=400)) == Due((slot,))
    assert found(slot, slot + timedelta(days=400)) == Due()


def test_a_moment_is_read_in_the_trigger_s_zone_or_the_tree_s() -> None:
    there = trigger(Kind.AT_TIME, at="2026-11-23T09:00", timezone="Asia/Tokyo")
    assert nexts(there, "2026-11-21T00:00Z") == ["2026-11-23T09:00+09:00"]
    offset = trigger(Kind.AT_TIME, at="2026-11-23T09:00-05:00")
    assert nexts(offset, "2026-11-21T00:00Z") == ["2026-11-23T09:00-05:00"]
    assert nexts(there, "2026-11-24T00:00Z") == []


def test_two_spans_side_by_side_hold_what_the_whole_holds() -> None:
    since = datetime(2026, 10, 24, 0, 0, tzinfo=BERLIN)
    for each in (cron("*/20 1-3 * * *"), trigger(Kind.HEARTBEAT, seconds=777.0)):
        end = since + timedelta(days=3)
        whole = due(each, since=since, after=since, until=end, tree=UTC).slots
        parts = []
        at = since
        while at < end:
            step = min(at + timedelta(minutes=37), end)
            parts += due(each, since=since, after=at, until=step, tree=UTC).slots
            at = step
        assert list(whole) == parts


def test_an_hour_that_comes_twice_is_told_apart_where_all_is_in_one_zone() -> None:
    each = cron("*/30 * * * *")
    first = datetime(2026, 10, 25, 2, 10, tzinfo=BERLIN)
    until = datetime(2026, 10, 25, 2, 40, tzinfo=BERLIN)
    assert len(due(each, since=first, after=first, until=until, tree=UTC).slots) == 1
    again = until.replace(fold=1)
    assert len(due(each, since=first, after=first, until=again, tree=UTC).slots) == 3


def test_a_year_of_minutes_is_told_in_a_thousand_slots_and_one_sum() -> None:
    since = datetime(2025, 1, 1, tzinfo=UTC)
    until = since + timedelta(days=365)
    found = due(
        cron("* * * * *", None), since=since, after=since, until=until, tree=UTC
    )
    assert len(found.slots) == MOST
    assert found.slots[-1] == until
    assert found.before == (since + timedelta(minutes=1), found.slots[0])
