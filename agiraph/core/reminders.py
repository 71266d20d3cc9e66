"""When a person is reminded of an open question: at a pace that slows down."""

from __future__ import annotations

from agiraph.core.limits import REMINDERS, REMINDERS_THEN


def due(age: float) -> int:
    """How many reminders belong to a question of an age in seconds.

    After an hour, a day, three days, a week, and then each week.
    """
    if age >= REMINDERS[-1]:
        return len(REMINDERS) + int((age - REMINDERS[-1]) // REMINDERS_THEN)
    return sum(age >= each for each in REMINDERS)


def until_next(age: float) -> float:
    """Seconds until the next reminder of a question of an age."""
    number = due(age)
    if number < len(REMINDERS):
        return REMINDERS[number] - age
    return REMINDERS[-1] + (number - len(REMINDERS) + 1) * REMINDERS_THEN - age
