"""The pace at which a person is reminded."""

from __future__ import annotations

from agiraph.core.reminders import due, until_next

HOUR, DAY = 3600.0, 86400.0


def test_an_hour_a_day_three_days_a_week_and_then_each_week() -> None:
    ages = [0, HOUR - 1, HOUR, DAY, 3 * DAY, 7 * DAY, 13 * DAY, 14 * DAY, 70 * DAY]

    assert [due(age) for age in ages] == [0, 0, 1, 2, 3, 4, 4, 5, 13]


def test_the_next_one_is_due_when_it_is_said_to_be() -> None:
    for age in (0.0, HOUR, 2 * HOUR, 5 * DAY, 8 * DAY, 100 * DAY):
        left = until_next(age)
        assert left > 0
        assert due(age + left) == due(age) + 1
        assert due(age + left - 1) == due(age)
