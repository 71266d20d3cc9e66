"""What is a new message in `_inbox.md`."""

from __future__ import annotations

import json

import pytest

from agiraph.core.inbox import InboxMemory, quiet_needed, take_in
from agiraph.model.message import Heard, InboxMessage

LONG = "Please compare the accelerators of the three makers by price and power."
OTHER = "Then write a page on cooling for people who never built a rack."
THIRD = "What did yesterday's run cost, and which node took most of it?"


def history(*texts: str) -> list[list[str]]:
    """What each of these states of the file, one after the other, delivers."""
    memory = InboxMemory()
    delivered = []
    for at, text in enumerate(texts):
        messages, memory = take_in(memory, text, now=1000.0 + at)
        delivered.append([message.text for message in messages if message.new])
    return delivered


def only(text: str) -> InboxMessage:
    messages, _ = take_in(InboxMemory(), text, now=0.0)
    assert len(messages) == 1
    return messages[0]


def test_everything_new_is_one_message_where_there_are_no_separators() -> None:
    assert history("one\n\n  two\n") == [["one\n\n  two"]]


def test_each_block_between_separators_is_a_message() -> None:
    assert history("one\nmore\n---\ntwo\n---\n\n") == [["one\nmore", "two"]]


def test_only_what_was_appended_is_delivered() -> None:
    assert history("one\n", "one\ntwo\n", "one\ntwo\nthree\n") == [
        ["one"],
        ["two"],
        ["three"],
    ]


def test_a_line_appended_to_the_last_block_is_delivered_though_the_block_is_long() -> (
    None
):
    text = f"one\n---\n{LONG}\n{OTHER}\n"

    assert history(text, text + "And be quick.\n")[1] == ["And be quick."]


def test_a_block_appended_behind_separators_is_delivered() -> None:
    assert history("one\n---\ntwo\n", "one\n---\ntwo\n---\nthree\n")[1] == ["three"]


def test_a_message_put_on_top_is_delivered() -> None:
    assert history("one\n", "zero\none\n")[1] == ["zero"]
    assert history("one\n---\ntwo\n", "zero\n---\none\n---\ntwo\n")[1] == ["zero"]


def test_saving_again_delivers_nothing() -> None:
    assert history("one\n", "one\n")[1] == []


def test_white_space_at_line_ends_and_between_lines_delivers_nothing() -> None:
    assert history("one\ntwo\n", "one  \r\n\r\ntwo\t\r\n\r\n")[1] == []


def test_separators_put_in_or_taken_out_deliver_nothing() -> None:
    assert history("one\ntwo\n", "one\n---\ntwo\n", "one\ntwo\n")[1:] == [[], []]


def test_the_same_words_written_again_are_new() -> None:
    assert history("ok\n", "ok\nok\n", "ok\nok\nok\n") == [["ok"], ["ok"], ["ok"]]
    assert history("ok\n---\nok\n", "ok\n---\nok\n---\nok\n")[1] == ["ok"]


def test_the_same_words_written_again_after_they_were_pruned_are_new() -> None:
    assert history("continue\n", "", "continue\n") == [["continue"], [], ["continue"]]


@pytest.mark.parametrize("glue", ["\n", "\n---\n"])
def test_a_correction_delivers_nothing_and_is_told(glue: str) -> None:
    before = glue.join([LONG, OTHER, THIRD]) + "\n"
    after = glue.join([LONG, OTHER.replace("page", "pgae"), THIRD]) + "\n"
    _, memory = take_in(InboxMemory(), before, now=0.0)

    messages, _ = take_in(memory, after, now=1.0)

    assert [message.kind for message in messages] == [Heard.CORRECTED]


@pytest.mark.parametrize("end", ["", "---\nbye\n"])
def test_a_line_reworded_within_a_long_block_is_a_correction(end: str) -> None:
    before = f"{LONG}\n{OTHER}\nAnd a table.\n{THIRD}\n{end}"
    after = before.replace("And a table.", "No pictures!")

    assert history(before, after)[1] == []


def test_a_line_added_to_a_long_block_among_others_is_a_correction() -> None:
    before = f"{LONG}\n{OTHER}\n{THIRD}\n---\nbye\n"
    after = before.replace(THIRD, f"{THIRD}\nAnd a table.")

    assert history(before, after)[1] == []


def test_what_replaces_the_last_line_of_a_plain_file_is_new() -> None:
    before = f"{LONG}\n{LONG}\n{OTHER}\nAnd a table.\n"

    assert history(before, before.replace("And a table.", "Stop now!"))[1] == [
        "Stop now!"
    ]


def test_a_block_that_was_rewritten_altogether_is_new() -> None:
    assert history(f"{LONG}\n---\n{OTHER}\n", f"{THIRD}\n---\n{OTHER}\n")[1] == [THIRD]
    assert history(f"{LONG}\n{OTHER}\n", f"{LONG}\n{THIRD}\n")[1] == [THIRD]


def test_a_correction_and_a_new_line_in_one_save_deliver_the_new_line() -> None:
    after = f"{LONG.replace('three', 'tree')}\n{THIRD}\n"

    assert history(f"{LONG}\n", after)[1] == [THIRD]


def test_a_text_wrapped_anew_delivers_nothing() -> None:
    assert history(f"{LONG} {OTHER}\n", f"{LONG}\n{OTHER}\n")[1] == []


def test_pruning_delivers_nothing() -> None:
    assert history("one\ntwo\nthree\n", "two\n", "")[1:] == [[], []]
    assert history("one\n---\ntwo\n---\nthree\n", "three\n", "")[1:] == [[], []]


@pytest.mark.parametrize("glue", ["", "---\n"])
def test_two_pruned_blocks_that_come_back_together_are_a_restored_file(
    glue: str,
) -> None:
    one, two, three = f"{LONG}\n", f"{LONG}\n{glue}{OTHER}\n", THIRD + "\n"

    assert history(one, two, "", two)[3] == []
    assert history(one, two, "", two + glue + three)[3] == [THIRD]


def test_a_block_that_was_moved_delivers_nothing() -> None:
    before = f"{LONG}\n---\n{OTHER}\n---\n{THIRD}\n"
    after = f"{OTHER}\n---\n{THIRD}\n---\n{LONG}\n"

    assert history(before, after)[1] == []


def test_a_message_typed_on_after_it_was_taken_is_delivered_whole() -> None:
    assert history("Please\n", "Please compare the three.\n")[1] == [
        "Please compare the three."
    ]


def test_a_restart_between_reading_and_recording_repeats_the_same() -> None:
    _, memory = take_in(InboxMemory(), "one\n", now=0.0)
    kept = InboxMemory.from_json(json.loads(json.dumps(memory.to_json())))

    first = take_in(memory, "one\ntwo\n", now=1.0)
    again = take_in(kept, "one\ntwo\n", now=1.0)

    assert first == again
    assert first[0][0].number == 2


def test_what_was_pruned_is_forgotten_after_thirty_days_and_is_bounded() -> None:
    _, memory = take_in(InboxMemory(), "one\n---\ntwo\n", now=0.0)
    _, memory = take_in(memory, "", now=10.0)
    assert len(memory.pruned) == 2
    _, memory = take_in(memory, "x\n", now=31 * 86400.0)
    assert memory.pruned == ()
    for day in range(40):
        text = f"{day}" * 20_000 + "\n"
        _, memory = take_in(memory, text, now=31 * 86400.0 + day)
    assert sum(len(line) for each in memory.pruned for line in each.block) <= 200_000


def test_who_gets_it_and_how_soon_is_said_by_its_beginning() -> None:
    assert only("hello\n").to == "coordinator"
    assert (only("@alice look\n").to, only("@alice look\n").text) == ("alice", "look")
    assert only('@"Big Bob": look\n').to == "Big Bob"
    assert only("@all look\n").to == "*"
    assert only("!stop\n").urgent
    assert only("! @alice stop\n") == only("@alice ! stop\n")
    assert only("! @alice stop\n").urgent
    assert not only("![a picture](x.png)\n").urgent
    assert only("mail a@b.org now\n").to == "coordinator"
    answer = only("q-1: PostgreSQL\n")
    assert (answer.reply_to, answer.answer) == ("q-001", "PostgreSQL")
    assert answer.text == "q-1: PostgreSQL"


def test_a_workers_inbox_goes_to_the_worker() -> None:
    messages, _ = take_in(InboxMemory(), "hello\n", now=0.0, to="alice")

    assert messages[0].to == "alice"


def test_lines_to_different_people_that_came_at_once_are_different_messages() -> None:
    messages, _ = take_in(
        InboxMemory(), "hello\nyou\n@alice one\n@bob two\nq-002: yes\n", now=0.0
    )

    assert [(each.to, each.text) for each in messages] == [
        ("coordinator", "hello\nyou"),
        ("alice", "one"),
        ("bob", "two"),
        ("coordinator", "q-002: yes"),
    ]


def test_decorators_of_pasted_code_address_nobody() -> None:
    code = "look:\n```\n@cache\ndef f():\n@alice x\n```\n"

    assert only(code).to == "coordinator"


def test_quiet_times_follow_how_the_file_was_written() -> None:
    _, memory = take_in(InboxMemory(), "one\ntwo\n", now=0.0)

    assert quiet_needed(memory, "one\ntwo\nthree\n", editor_lock=False) == 0.25
    assert quiet_needed(memory, "one\nthree\n", editor_lock=False) == 3.0
    assert quiet_needed(memory, "", editor_lock=False) == 3.0
    assert quiet_needed(memory, "one\ntwo\nthree\n", editor_lock=True) == 5.0
    assert quiet_needed(memory, "one\ntwo\nthree", editor_lock=True) == 60.0


@pytest.mark.parametrize("glue", ["", "---\n"])
def test_a_large_hostile_file_is_compared_in_bounded_time(glue: str) -> None:
    memory = InboxMemory()
    same = f"ok\n{glue}" * 10_000

    _, memory = take_in(memory, same + f"do this\n{glue}please\n", now=0.0)
    _, memory = take_in(memory, "".join(f"{n}\n{glue}" for n in range(10_000)), now=1.0)
    messages, _ = take_in(memory, "no\n" + f"yes\n{glue}" * 9_999 + same, now=2.0)

    assert messages
