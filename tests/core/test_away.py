"""The file AWAY, and the outbox as entries."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.away import read_away
from agiraph.core.codec.outbox import read_outbox

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_a_time_ends_it_and_words_do_not() -> None:
    away = read_away("until: 2026-11-22T12:00\nskiing\n", UTC)

    assert away.left(NOW) == 86400
    assert away.told() == "until 2026-11-22 12:00 (skiing)"
    assert read_away("until: 2026-11-20\n", UTC).left(NOW) == 0
    assert read_away("", UTC).left(NOW) is None
    assert read_away("until: Monday\n", UTC).told() == "for now (until: Monday)"


@given(st.text())
def test_any_text_at_all_is_away(text: str) -> None:
    assert read_away(text, UTC).told()
    read_outbox(text)


def test_entries_are_told_apart_by_their_heads_alone() -> None:
    text = (
        "\n## 2026-11-21 20:14 · a · b <!-- m1 -->\n\none\n\n## two\n"
        "\n## 2026-11-21 20:15 · Alice <!-- q-001 -->\n\nWhich?\n"
    )
    first, second = read_outbox(text)

    assert (first.sender, first.text) == ("a · b", "one\n\n## two")
    assert not first.is_question
    assert second.is_question
    assert first.id == read_outbox(text[:60])[0].id
