"""What comes of due slots, and of events that triggers wait for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agiraph.core.schedule.heard import Stretch, after, glob, is_brought, is_meant
from agiraph.core.schedule.slots import Due
from agiraph.core.schedule.verdicts import Standing, judge
from agiraph.model.trigger import Action, Deed, Kind, Trigger

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
WAKE = Action(Deed.WAKE, task="look")


def trigger(kind: Kind = Kind.SCHEDULED, **more: Any) -> Trigger:
    return Trigger("t", kind, WAKE, "d", **more)


def told(due: Due, standing: Standing, kind: Kind = Kind.SCHEDULED) -> list[str]:
    return [
        " ".join(
            [f"{each.slot:%H:%M}", "fired" if each.fires else "skipped", each.reason]
        ).strip()
        for each in judge(trigger(kind), due, standing)
    ]


def hours(*numbers: int) -> Due:
    return Due(tuple(NOON.replace(hour=number) for number in numbers))


def test_what_is_due_now_fires() -> None:
    now = NOON + timedelta(seconds=2)
    assert told(hours(12), Standing(now, NOON - timedelta(days=1))) == ["12:00 fired"]


def test_after_an_absence_the_newest_fires_and_the_others_were_missed() -> None:
    began = NOON.replace(hour=10, minute=30)
    now = NOON.replace(hour=13, minute=30)
    assert told(hours(9, 10, 11, 12, 13), Standing(now, began)) == [
        *("09:00 skipped down", "10:00 skipped down", "11:00 skipped asleep"),
        *("12:00 skipped asleep", "13:00 fired caught up"),
    ]


def test_what_may_not_fire_is_skipped_and_once_is_put_off() -> None:
    standing = Standing(NOON, NOON, against="paused")
    assert told(hours(12), standing) == ["12:00 skipped paused"]
    assert told(hours(12), standing, Kind.AT_TIME) == []


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("inputs/**", "inputs/a.md", True),
        ("inputs/**", "inputs/deep/a.md", True),
        ("inputs/*", "inputs/deep/a.md", False),
        ("inputs/**/*.md", "inputs/a.md", True),
        ("inputs/**/*.md", "inputs/deep/a.md", True),
        ("inputs/*.md", "inputs/aXmd", False),
        ("inputs/?.md", "inputs/a.md", True),
        ("inputs/**", "GOAL.md", False),
    ],
)
def test_a_glob_says_which_files_are_meant(pattern: str, path: str, fits: bool) -> None:
    assert bool(glob(pattern).fullmatch(path)) is fits


def event(kind: str, ts: str = "t1", **data: Any) -> dict[str, Any]:
    top = {key: data.pop(key) for key in ("run", "node") if key in data}
    return {"ts": ts, "type": kind, "agent": "a", **top, "data": data}


def test_an_event_is_brought_by_people_files_and_the_ends_of_nodes() -> None:
    human = {"from": "human"}
    brought = [
        *(event("file.changed"), event("human.response"), event("node.completed")),
        *(event("node.failed"), event("message.sent", **human)),
    ]
    own = [
        *(event("message.sent", **{"from": "coordinator"}), event("node.created")),
        *(event("memory.written"), event("tool.called"), event("human.question")),
        *(event("trigger.fired"), event("message.received", **human)),
    ]
    assert all(map(is_brought, brought))
    assert not any(map(is_brought, own))


def test_an_event_is_meant_by_its_type_and_all_of_the_filter() -> None:
    wanted = trigger(
        Kind.ON_EVENT, event="node.completed", filter={"node": ["a", "b"], "run": "r"}
    )
    assert is_meant(wanted, event("node.completed", node="b", run="r"))
    assert not is_meant(wanted, event("node.completed", node="c", run="r"))
    assert not is_meant(wanted, event("node.completed", node="a", run="s"))
    assert not is_meant(wanted, event("node.failed", node="a", run="r"))


def test_a_file_is_meant_by_its_path_in_the_home() -> None:
    wanted = trigger(Kind.ON_EVENT, event="file.changed", filter={"path": "inputs/**"})
    assert is_meant(wanted, event("file.changed", path="a/inputs/x.csv"))
    assert is_meant(wanted, event("file.changed", path="inputs/x.csv"))
    assert not is_meant(wanted, event("file.changed", path="a/GOAL.md"))


def test_what_triggers_send_is_never_meant() -> None:
    mail = trigger(Kind.ON_EVENT, event="message.sent")
    assert is_meant(mail, event("message.sent", id="_inbox.md#1"))
    assert not is_meant(mail, event("message.sent", id="trigger:t@now"))
    fired = trigger(Kind.ON_EVENT, event="trigger.fired")
    assert not is_meant(fired, event("trigger.fired", trigger="t"))
    assert is_meant(fired, event("trigger.fired", trigger="other"))


def test_what_a_woken_agent_does_ends_no_idleness_but_work_does() -> None:
    stretch = after(Stretch(), event("agent.completed", "t1"))
    assert stretch == Stretch("t1")
    for each in (
        event("trigger.fired", "t2", trigger="t"),
        event("message.sent", "t2", id="trigger:t@x", **{"from": "agiraph"}),
        event("message.received", "t3", id="trigger:t@x"),
        event("tool.called", "t4"),
        event("message.sent", "t5", id="m", **{"from": "coordinator"}),
        event("agent.held", "t6"),
    ):
        stretch = after(stretch, each)
    assert stretch == Stretch("t1", reacting=True)
    assert after(stretch, event("node.created", "t7")) == Stretch("t7")
    mail = event("message.sent", "t8", id="_inbox.md#1", **{"from": "human"})
    assert after(stretch, mail) == Stretch("t8", people=1)
