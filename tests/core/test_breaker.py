"""Which agents a daemon that keeps dying leaves alone."""

from __future__ import annotations

from agiraph.core.breaker import Life, recent, suspects, words


def lives(*at_work: str, gets_on: bool = False) -> list[Life]:
    """Lives and who was at work in each, with nothing new on record between them."""
    return [
        Life(100.0 * at, dict.fromkeys(names.split(), at if gets_on else 7))
        for at, names in enumerate(at_work)
    ]


def test_who_was_at_work_three_times_when_the_daemon_died_is_held() -> None:
    assert suspects(lives("bad", "bad good", "bad")) == {"bad"}


def test_two_deaths_hold_nobody() -> None:
    assert suspects(lives("bad", "", "bad")) == frozenset()


def test_who_gets_on_between_the_deaths_is_not_in_a_loop_until_there_are_many() -> None:
    assert suspects(lives(*["busy"] * 9, gets_on=True)) == frozenset()
    assert suspects(lives(*["busy"] * 10, gets_on=True)) == {"busy"}


def test_deaths_long_ago_do_not_count() -> None:
    assert [life.ended for life in recent(lives("a", "a", "a", "a"), 420.0)] == [
        200.0,
        300.0,
    ]


def test_the_words_say_how_to_try_again() -> None:
    assert "agiraph resume bad" in words("bad")
    assert "touch GOAL.md" in words("bad")
