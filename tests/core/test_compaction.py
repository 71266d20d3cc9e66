"""When a conversation is put away, and what stands for it."""

from __future__ import annotations

import pytest

from agiraph.core.compaction import (
    Asked,
    Wanted,
    Window,
    answer_of,
    asked_by,
    carried_ids,
    in_a_row,
    longest_result,
    mark,
    shares,
    turns,
    without_marks,
)
from agiraph.core.owed import owes_reply, unanswered
from agiraph.core.summary import (
    HEADINGS,
    Opening,
    as_text,
    by_rule,
    earlier_summary,
    opening_text,
    weight,
    wrong,
)
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    Spoken,
    Stop,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.names import HUMAN
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage

TS = "2026-11-22T10:00:00+00:00"
PREFIX = SystemLine(TS, 3, "led/model", "rules", ())


def said(turn: int, text: str = "", **calls: str) -> AssistantLine:
    made = tuple(
        ToolCall(f"c{turn}{name}", name, {"path": path}) for name, path in calls.items()
    )
    return AssistantLine(TS, turn, "m", text, made, Stop.END, Usage())


def result(turn: int, name: str, text: str, *ids: str, error: bool = False) -> ToolLine:
    return ToolLine(TS, turn, 0, f"c{turn}{name}", name, text, error, ids)


def told(text: str, *ids: str, sender: str = "agiraph") -> UserLine:
    kind = Kind.MAIL if sender == HUMAN else Kind.NOTICE
    return UserLine(TS, text, kind, sender, ids)


def asks(what: Wanted, count: int = 1, session: int = 3) -> UserLine:
    return told("Please.", mark(session, what, count))


def is_mail(ident: str) -> bool:
    return "#" in ident


BRIEF = UserLine(TS, "# Run 1", Kind.BRIEF, "agiraph", ("brief:2026-11-22-01",))


# --- when


@pytest.mark.parametrize(
    ("size", "full"), [(0, False), (76_808, False), (76_809, True), (200_000, True)]
)
def test_it_is_full_when_size_and_the_longest_answer_pass_the_share(
    size: int, full: bool
) -> None:
    window = Window(100_000, 8_192, 0.85)
    assert window.is_full(size) is full


def test_the_answer_shrinks_where_the_window_ends_and_never_to_nothing() -> None:
    window = Window(20_000, 4_000, 0.85)
    assert window.room(10_000) == 4_000
    assert window.room(17_000) == 3_000
    assert window.room(19_900) == 512
    assert window.fits(19_000)
    assert not window.fits(19_600)
    assert Window(20_000, 100, 0.85).room(30_000) == 100


@pytest.mark.parametrize(
    ("window", "wanted", "answer"),
    [(200_000, 8_192, 8_192), (32_768, 8_192, 4_096), (4_096, 8_192, 1_024)],
)
def test_a_small_window_is_not_spent_on_one_answer(
    window: int, wanted: int, answer: int
) -> None:
    assert answer_of(window, wanted) == answer


def test_results_are_shown_smaller_the_less_there_is_left() -> None:
    window = Window(40_000, 4_000, 0.85)
    shown = [longest_result(window, size) for size in range(0, 40_000, 2_000)]
    assert shown == sorted(shown, reverse=True)
    assert shown[0] == 22_500
    assert shown[-1] == 1_000
    assert longest_result(Window(200_000, 8_192, 0.85), 0) == 24_000


def test_any_number_of_results_in_one_turn_stays_inside_the_window() -> None:
    window = Window(40_000, 4_000, 0.85)
    size = window.limit
    for _ in range(8):
        size += longest_result(window, size) // 3
    assert size + 512 <= window.tokens


def test_a_rebuilt_conversation_leaves_most_of_its_room_for_work() -> None:
    window, prefix = Window(40_000, 4_000, 0.85), 28_000
    parts = shares(window, prefix)
    taken = parts.brief + parts.summary + parts.standing + parts.last
    assert 0 < taken <= (window.limit * 3 - prefix) * 0.6
    assert shares(window, 200_000).brief == 0


# --- how far


def test_a_mark_is_read_back_in_its_own_session_only() -> None:
    line = asks(Wanted.SUMMARY, 2)
    assert asked_by(line, 3) == Asked(Wanted.SUMMARY, 2)
    assert asked_by(line, 4) is None
    assert asked_by(told("hello", "end:2026-11-22-01:n"), 3) is None
    opening = UserLine(TS, "…", Kind.OPENING, "agiraph", (mark(3, Wanted.NOTES),))
    assert asked_by(opening) is None


def test_notes_and_summaries_are_no_turns() -> None:
    lines = [
        BRIEF,
        said(1, read_file="a"),
        result(1, "read_file", "A"),
        asks(Wanted.NOTES),
        said(2, memory_write="b"),
        result(2, "memory_write", "ok"),
        asks(Wanted.SUMMARY),
        said(3, "## Goal"),
        told("go on"),
        said(4, "yes"),
    ]
    assert turns(lines) == 2
    assert without_marks(lines) == tuple(lines[:3])


def test_two_turns_between_compactions_are_progress() -> None:
    one: list[Spoken] = [BRIEF, said(1, read_file="a"), result(1, "read_file", "A")]
    two = [*one, said(2, "hm")]
    prefix = SystemLine(TS, 3, "m", "rules", (), compacted=2)
    assert in_a_row(prefix, one) == 3
    assert in_a_row(prefix, two) == 1
    assert in_a_row(PREFIX, one) == 1


# --- what goes on


def test_what_was_told_last_and_not_answered_goes_on_word_for_word() -> None:
    lines = [BRIEF, told("old news"), said(1, "ok"), told("new"), told("newer")]
    assert [line.content for line in unanswered(lines, is_mail)] == ["new", "newer"]


def test_a_person_is_owed_an_answer_until_a_text_without_a_call() -> None:
    asked = told("How far?", "_inbox.md#1", sender=HUMAN)
    working: list[Spoken] = [
        BRIEF, asked, said(1, read_file="a"), result(1, "read_file", "A"), told("x"),
    ]  # fmt: skip
    assert [line.content for line in unanswered(working, is_mail)] == ["How far?", "x"]
    assert owes_reply([*working, said(2, "Half way.")], is_mail)
    assert not owes_reply([*working, said(2, "I read.", read_file="b")], is_mail)
    assert not owes_reply([BRIEF, said(1, "I rest.")], is_mail)
    assert not owes_reply([BRIEF, asked, said(1, "Here."), said(2, "Bye.")], is_mail)


def test_an_answer_to_a_question_is_something_a_person_has_written() -> None:
    def is_written(ident: str) -> bool:
        return ident.startswith("answer:")

    answered = told("[answer to q-001] PostgreSQL", "answer:q-001", "end:n")
    working: list[Spoken] = [
        BRIEF, answered, said(1, read_file="a"), result(1, "read_file", "A"),
    ]  # fmt: skip
    assert unanswered(working, is_written) == (answered,)
    assert owes_reply([*working, said(2, "PostgreSQL it is.")], is_written)
    assert not owes_reply([*working, said(2, "It is.")], is_mail)


def test_mail_that_a_tool_brought_is_owed_too() -> None:
    mail = result(1, "check_messages", "[message from human] Hi", "_inbox.md#1")
    lines = [BRIEF, said(1, check_messages=""), mail]
    (owed,) = unanswered(lines, is_mail)
    assert (owed.sender, owed.ids) == (HUMAN, ("_inbox.md#1",))


def test_ids_of_earlier_runs_are_let_go_and_mail_is_not() -> None:
    ids = [
        "brief:2026-11-21-01",
        "end:2026-11-21-01:n:t:completed",
        "_inbox.md#4",
        "coordinator/2.1.0",
        "brief:2026-11-22-01",
        "end:2026-11-22-01:n:t:completed",
        "stays:x:end:2026-11-22-01:n:t:failed",
        mark(3, Wanted.NOTES),
    ]
    assert carried_ids(ids, "2026-11-22-01") == tuple(ids[2:7])
    assert carried_ids(["brief:2026:1", "x"], "") == ("brief:2026:1", "x")


# --- the summary


def test_a_summary_that_is_no_use_is_told_apart() -> None:
    assert "empty" in wrong(" \n", Stop.END, 1000)
    assert "cut off" in wrong("## Goal", Stop.LENGTH, 1000)
    assert "longer (12 bytes)" in wrong("12 characters"[:12], Stop.END, 12)
    assert wrong("short", Stop.END, 1000) == ""


LINES: list[Spoken] = [
    BRIEF,
    said(1, "I look.", read_file="inputs/a.md", list_files="scratch"),
    result(1, "read_file", "A"),
    said(2, "I write.", write_file="scratch/b.md"),
    result(2, "write_file", "the disk is full", error=True),
]


def test_a_summary_by_rule_has_every_heading_and_names_what_was_done() -> None:
    text = by_rule(LINES, "", 6_000)
    assert [f"## {title}" in text for title in HEADINGS] == [True] * 6
    assert "- read_file inputs/a.md: done" in text
    assert "- write_file scratch/b.md: failed" in text
    assert "Last said: I write." in text
    assert "`inputs/a.md`" in text
    assert len(by_rule(LINES * 500, "earlier " * 5_000, 6_000)) < 8_000


def test_the_last_turns_are_told_from_the_end_back() -> None:
    text = as_text(LINES, 10_000)
    assert text.startswith("[you] I look.\n[you called read_file")
    assert text.endswith("[result of write_file, failed] the disk is full")
    assert "# Run 1" not in text
    assert as_text(LINES, 60).endswith("the disk is full")
    assert len(as_text([told("long " * 10_000)], 2_000)) < 2_000
    assert as_text(LINES, 0) == ""


def test_the_summary_of_an_opening_is_found_again() -> None:
    summary = "## Goal\n\nIt.\n\n## Open\n\n- more"
    text = opening_text(Opening("words", "# Run 1", summary, "n is running", "[you] x"))
    opening = UserLine(TS, text, Kind.OPENING, "agiraph")
    assert earlier_summary([opening, said(1, "y")]) == summary
    bare = opening_text(Opening("words", "# Run 1", summary, "", ""))
    assert earlier_summary([UserLine(TS, bare, Kind.OPENING, "agiraph")]) == summary
    assert earlier_summary(LINES) == ""


def test_what_is_replaced_weighs_texts_and_calls() -> None:
    assert weight([told("abc")]) == 3
    assert weight([said(1, "ab", read_file="x")]) == 2 + len('{"path": "x"}')
