"""Notices to people: the settings, the quiet hours, and how many are sent at once."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from agiraph.core import notices
from agiraph.core.codec import Good, Rejected, read_tree_settings
from agiraph.model.event import Event, EventType
from agiraph.model.notice import (
    Channel,
    Desktop,
    Email,
    Format,
    Notice,
    NoticeKind,
    Program,
    Security,
    Webhook,
)

BERLIN = ZoneInfo("Europe/Berlin")


def notice(number: int = 1, **more: str) -> Notice:
    kind = NoticeKind(more.pop("kind", "message"))
    stamp = "2026-11-21T20:14:03+00:00"
    return Notice(f"m{number}", kind, "a", f"title {number}", "text", stamp, **more)


def channels(text: str) -> tuple[Channel, ...]:
    found = read_tree_settings(f"notify:\n  - {text}\n")
    assert isinstance(found, Good), found
    assert not found.remarks
    return found.value.notify


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ('{webhook: "https://example.org/hook"}', Webhook("https://example.org/hook")),
        (
            '{webhook: "${SLACK_HOOK}", format: slack}',
            Webhook("${SLACK_HOOK}", Format.SLACK),
        ),
        (
            '{webhook: "https://ntfy.example.org/a", token_env: NTFY}',
            Webhook("https://ntfy.example.org/a", token_env="NTFY"),
        ),
        ("{desktop: true}", Desktop()),
        ("{command: [notify.sh, -q]}", Program(("notify.sh", "-q"))),
        (
            (
                "{email: {host: mx.example.org, from: a@example.org, "
                "to: [b@example.org], "
                "user: a, password: '${SMTP}', security: ssl}}"
            ),
            Email(
                "mx.example.org",
                "a@example.org",
                ("b@example.org",),
                465,
                "a",
                "SMTP",
                Security.SSL,
            ),
        ),
    ],
)
def test_each_way_is_read(text: str, way: object) -> None:
    assert channels(text) == (Channel(way),)  # type: ignore[arg-type]


def test_kinds_and_quiet_hours_go_with_a_way() -> None:
    (found,) = channels(
        '{desktop: true, kinds: [question, approval], quiet: "22:00-07:30"}'
    )

    assert found.kinds == {NoticeKind.QUESTION, NoticeKind.APPROVAL}
    assert found.quiet == (22 * 60, 7 * 60 + 30)


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("{kinds: [question]}", "notify[1]", "exactly one of"),
        ('{desktop: true, webhook: "https://a.example"}', "notify[1]", "exactly one"),
        ("{desktop: true, kinds: [questions]}", "notify[1].kinds[1]", "question, app"),
        ('{desktop: true, quiet: "late"}', "notify[1].quiet", "22:00-07:00"),
        ('{desktop: true, quiet: "07:00-07:00"}', "notify[1].quiet", "22:00-07:00"),
        ("{webhook: example.org}", "notify[1].webhook", "https://"),
        (
            '{webhook: "https://hooks.slack.com/services/T0/B0/x"}',
            "notify[1].webhook",
            "no secret in the tree",
        ),
        (
            '{webhook: "https://me:pw@example.org/"}',
            "notify[1].webhook",
            "no secret in the tree",
        ),
        (
            '{webhook: "https://a.example/x", token: abc}',
            "notify[1].token",
            "token_env",
        ),
        (
            "{email: {host: h, from: a@b.c, to: d@e.f, password: hunter2}}",
            "notify[1].email.password",
            "no secret in the tree",
        ),
        (
            (
                "{email: {host: h, from: a@b.c, to: d@e.f, user: u, password_env: P, "
                "security: none}}"
            ),
            "notify[1].email.security",
            "starttls or ssl",
        ),
        ("{email: {host: h, from: a@b.c}}", "notify[1].email.to", "an address"),
        ("{command: notify.sh}", "notify[1].command", "a list of arguments"),
    ],
)
def test_what_cannot_be_used_is_said_at_its_place(
    text: str, key: str, words: str
) -> None:
    found = read_tree_settings(f"notify:\n  - {text}\n")

    assert isinstance(found, Rejected)
    assert [each.key for each in found.problems] == [key]
    assert words in found.problems[0].allowed
    assert "hunter2" not in str(found)
    assert "abc" not in str(found)


def test_an_unknown_key_names_the_nearest() -> None:
    found = read_tree_settings("notify:\n  - {desktop: true, kind: [question]}\n")

    assert isinstance(found, Good)
    assert "did you mean `kinds`" in found.remarks[0].text


def test_a_channel_carries_its_kinds_and_what_was_asked_for_it_by_name() -> None:
    hook = Channel(Webhook("https://a.example"), frozenset({NoticeKind.FAILED}))

    assert not hook.carries(notice())
    assert hook.carries(notice(kind="failed"))
    assert hook.carries(notice(kind="question", channel="webhook"))
    assert not hook.carries(notice(kind="failed", channel="cli"))
    assert Channel(Desktop()).carries(notice())
    assert hook.name == "webhook a.example"


@pytest.mark.parametrize(
    ("clock", "left"),
    [("21:59", 0), ("22:00", 9 * 3600), ("23:30", 7.5 * 3600), ("06:59", 60)],
)
def test_quiet_hours_go_over_midnight(clock: str, left: float) -> None:
    now = datetime.fromisoformat(f"2026-11-21T{clock}:00").replace(tzinfo=BERLIN)

    assert notices.quiet_left(now, (22 * 60, 7 * 60)) == left
    assert notices.quiet_left(now + timedelta(hours=12), (22 * 60, 7 * 60)) == 0
    assert notices.quiet_left(now, None) == 0


def test_few_are_sent_one_by_one_and_many_or_held_ones_as_one() -> None:
    few = [notice(1), notice(2)]

    assert [each.title for each in notices.packed(few, held=False)] == [
        "title 1",
        "title 2",
    ]
    (one,) = notices.packed(few, held=True)
    assert one.title == "2 notices from a"
    (many,) = notices.packed([notice(x) for x in range(1000)], held=False)
    assert many.text.count("\n") == notices.LISTED
    assert "and 950 more" in many.text
    assert notices.packed([], held=True) == []


def test_six_go_in_a_minute_and_the_rest_waits() -> None:
    assert notices.pace_left(100.0, [50.0, 60.0, 70.0, 80.0, 90.0]) == 0
    assert notices.pace_left(100.0, [50.0, 60.0, 70.0, 80.0, 90.0, 95.0]) == 10
    assert notices.pace_left(111.0, [50.0, 60.0, 70.0, 80.0, 90.0, 95.0]) == 0


def test_what_is_sent_again_has_the_same_id() -> None:
    few = [notice(x) for x in range(5)]
    (first,), (again,) = (notices.packed(few, held=False) for _ in range(2))

    assert first.id == again.id


def test_the_same_trouble_is_one_notice_a_day() -> None:
    stamps = ["2026-11-21T20:14:03+00:00", "2026-11-21T22:00:00+00:00"]
    words = "the agent's budget does not allow another call ($1 spent)"

    def told(kind: EventType, words: str, stamp: str) -> str | None:
        found = notices.of_event(Event(kind, "a", "r", data={"words": words}), stamp)
        return found.id if found else None

    first, second = (told(EventType.BUDGET_REACHED, words, each) for each in stamps)
    assert first == second
    assert told(EventType.BUDGET_REACHED, words, "2026-11-22T01:00:00Z") != first
    assert told(EventType.AGENT_HELD, words, stamps[0]) is None
    key = "the key was refused"
    assert told(EventType.AGENT_HELD, key, stamps[0]) is not None
    assert told(EventType.AGENT_HELD, key, stamps[0]) == told(
        EventType.NODE_HELD, key, stamps[1]
    )
    assert told(EventType.TOOL_CALLED, "x", stamps[0]) is None
