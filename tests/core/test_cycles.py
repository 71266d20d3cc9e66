"""Whether a cycle is ahead, by the marks that a conversation has kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agiraph.core.compaction import carried_ids
from agiraph.core.cycles import begun, ended, waits_since

RUN, NEXT = "2026-11-22-01", "2026-11-23-01"
NOON = datetime(2026, 11, 22, 12, 0, 0, 250_000, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def test_a_cycle_is_ahead_from_the_end_of_one_until_the_next_begins() -> None:
    marks: list[str] = []
    assert waits_since(marks, RUN) is None
    marks += ["_inbox.md#1", ended(RUN, NOON), "_inbox.md#2"]
    assert waits_since(marks, RUN) == NOON
    marks += [ended(RUN, LATER)]
    assert waits_since(marks, RUN) == LATER
    marks += [begun(RUN, LATER)]
    assert waits_since(marks, RUN) is None


def test_a_cycle_is_ahead_in_the_run_in_which_the_last_one_ended() -> None:
    assert waits_since([ended(RUN, NOON)], NEXT) is None
    assert waits_since([begun(RUN, NOON), ended(NEXT, LATER)], NEXT) == LATER


def test_a_conversation_that_is_cut_down_keeps_the_last_mark_alone() -> None:
    marks = [ended(RUN, NOON), begun(RUN, NOON), "_inbox.md#1", ended(RUN, LATER)]
    assert carried_ids([*marks, "x"], RUN) == ("_inbox.md#1", "x", marks[-1])
    assert carried_ids(marks, NEXT) == ("_inbox.md#1",)
