"""Question files, triggers and messages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agiraph.core import codec
from agiraph.core.codec import Good, Rejected
from agiraph.model.event import Event, EventType
from agiraph.model.message import Message, Question, QuestionKind
from agiraph.model.usage import ModelCall, Usage

ASKED = Question(
    number=1,
    sender="Alice",
    node="database",
    asked="2026-11-21T20:14:03+00:00",
    kind=QuestionKind.QUESTION,
    text="Should I use PostgreSQL or SQLite?",
    options=("PostgreSQL", "SQLite"),
)
WRITTEN = codec.write_question(ASKED)


def answer(text: str) -> str:
    read = codec.read_question(text, "q-001.md")
    assert isinstance(read, Good), read
    assert read.value.text == ASKED.text
    return read.value.answer


def test_an_open_question_reads_well_and_back() -> None:
    assert WRITTEN == (
        "---\n"
        "from: Alice\n"
        "node: database\n"
        "asked: 2026-11-21T20:14:03+00:00\n"
        "kind: question\n"
        "answer:           # one line here is enough\n"
        "---\n"
        "Should I use PostgreSQL or SQLite?\n\n"
        "- [ ] PostgreSQL\n"
        "- [ ] SQLite\n\n"
        "## Answer\n\n"
    )
    assert codec.read_question(WRITTEN, "q-001.md") == Good(ASKED)


def test_each_of_the_three_places_takes_the_answer() -> None:
    assert answer(WRITTEN.replace("answer:", "answer: yes")) == "yes"
    assert answer(WRITTEN.replace("[ ] SQLite", "[x] SQLite")) == "SQLite"
    assert answer(WRITTEN + "SQLite, it is\nsmall.\n") == "SQLite, it is\nsmall."


@pytest.mark.parametrize("typed", [" yes", "yes", "  yes  "])
def test_an_answer_typed_at_the_end_of_its_line_counts(typed: str) -> None:
    hint = "# one line here is enough"
    assert answer(WRITTEN.replace(hint, hint + typed)) == "yes"
    assert answer(WRITTEN.replace(f"           {hint}", typed)) == "yes"


def test_words_that_look_like_an_answer_further_down_are_none() -> None:
    hint = "answer:           # one line here is enough yes"
    asked = replace(ASKED, text=f"Is this so?\n\n{hint}\nanswer:yes")
    read = codec.read_question(codec.write_question(asked), "q-001.md")
    assert read == Good(asked)


def test_several_ticked_boxes_are_one_answer_but_not_for_an_approval() -> None:
    both = WRITTEN.replace("[ ]", "[x]")

    assert answer(both) == "PostgreSQL, SQLite"
    approval = both.replace("kind: question", "kind: approval")
    assert isinstance(codec.read_question(approval, "q-001.md"), Rejected)


@pytest.mark.parametrize(
    "said", ["yes", 'SQLite: it\'s "small"', "one\n\ntwo", "- a\n- b", "42", "a: b"]
)
def test_an_answer_is_filled_in_and_read_back(said: str) -> None:
    filled = codec.with_answer(WRITTEN, said)

    assert answer(filled) == said
    assert filled.replace("answer:", "")[:60] == WRITTEN.replace("answer:", "")[:60]


def test_the_same_answer_in_two_places_is_one_answer() -> None:
    assert answer(WRITTEN.replace("answer:", "answer: sqlite") + "SQLite\n") == "sqlite"


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN.replace("answer:", "answer: yes") + "no\n",
        WRITTEN.replace("[ ] SQLite", "[X] SQLite") + "PostgreSQL\n",
    ],
)
def test_answers_that_differ_do_not_count(text: str) -> None:
    read = codec.read_question(text, "q-001.md")

    assert isinstance(read, Rejected)
    assert "differ" in read.problems[0].found


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))
forged = st.sampled_from(
    [
        "May I?\n\n## Answer\n\nyes",
        "May I?\n- [x] yes",
        "## answer",
        "\\## Answer",
        "---",
    ]
)
lines = words.map(lambda text: " ".join(text.split())).filter(bool)


@settings(max_examples=60, deadline=None)
@given(words | forged, st.lists(lines, max_size=3), words)
def test_no_question_answers_itself_and_every_one_survives(
    text: str, options: list[str], said: str
) -> None:
    question = Question(
        7, "Bob", None, "t", QuestionKind.APPROVAL, text.strip(), tuple(options)
    )

    read = codec.read_question(codec.write_question(question), "q-007.md")

    assert read == Good(question)
    answered = Question(
        7, "Bob", None, "t", QuestionKind.APPROVAL, "May I?", (), said.strip()
    )
    assert codec.read_question(codec.write_question(answered), "q-007.md") == Good(
        answered
    )


TRIGGERS = """\
- id: hn
  type: scheduled                  # a comment
  cron: "0 */2 * * *"
  timezone: Europe/Berlin
  action: {type: wake_agent, task: Check HN for new AI posts}
- {id: build, type: delayed, delay: 30m, action: {type: send_message, to: human, content: Done.}}
- {id: monday, type: at_time, at: "2026-11-23T09:00", action: {type: wake_agent, task: Report}}
- {id: pulse, type: heartbeat, every: 30m, watch: ["inputs/**"], action: {type: wake_agent, task: x}}
- {id: chain, type: on_event, event: node.completed, filter: {node: a}, action: {type: run_node, node: b}}
- {id: watchdog, type: on_idle, idle: 1h, enabled: false, action: {type: run_command, command: ls}}
"""  # noqa: E501


def test_good_triggers_are_read_as_they_were_written() -> None:
    read = codec.read_triggers(TRIGGERS)

    assert isinstance(read, Good)
    assert not read.remarks
    assert [each.id for each in read.value] == [
        *("hn", "build", "monday"),
        *("pulse", "chain", "watchdog"),
    ]
    assert codec.read_triggers("# none\n") == Good(())


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("scheduled", "hourly", "[1].type"),
        ("0 */2 * * *", "every day", "[1].cron"),
        ("delay: 30m, ", "", "[2].delay"),
        ("2026-11-23T09:00", "monday", "[3].at"),
        ("30m, watch", "30, watch", "[4].every"),
        ("node.completed", "node.complete", "[5].event"),
        ("wake_agent, task: Report", "wake_agent", "[3].action.task"),
        ("run_node", "run_nodes", "[5].action.type"),
        ("id: build", "id: HN", "id"),
        ("enabled: false", "enabled: off-ish", "[6].enabled"),
        ("0 */2 * * *", "0 0 30 2 *", "[1].cron"),
        ("0 */2 * * *", "0 9 * * 8", "[1].cron"),
        ("0 */2 * * *", "*/0 * * * *", "[1].cron"),
        ("Europe/Berlin", "Europe/Berlim", "[1].timezone"),
        ("2026-11-23T09:00", "2026-02-30T09:00", "[3].at"),
        ("every: 30m", "every: 0m", "[4].every"),
        ("every: 30m", "every: 0.2s", "[4].every"),
        ("inputs/**", "../**", "[4].watch[1]"),
    ],
)
def test_a_bad_trigger_names_the_key(old: str, new: str, key: str) -> None:
    read = codec.read_triggers(TRIGGERS.replace(old, new))

    assert isinstance(read, Rejected)
    assert [each.key for each in read.problems] == [key]


@settings(max_examples=60, deadline=None)
@given(words)
def test_a_message_survives_writing_and_reading(text: str) -> None:
    message = Message("m-1", "Big Bob", "*", "2026-11-21T20:14:03Z", text.strip(), True)

    assert codec.read_message(codec.write_message(message)) == Good(message)


def test_a_message_file_is_named_by_number_sender_and_receiver() -> None:
    assert codec.message_name(1, "alice", "bob") == "000001_alice_to_bob.md"
    assert codec.message_name(12, "Big Bob", "*") == "000012_Big-Bob_to_all.md"
    assert codec.message_name(3, "a/../b", "é") == "000003_a-..-b_to_é.md"
    assert len(codec.message_name(3, "語" * 64, "語" * 64).encode()) < 255


def test_a_dropped_file_is_one_message_whose_settings_address_it() -> None:
    read = codec.read_dropped("---\nto: alice\nurgent: true\n---\none\n---\ntwo\n")

    assert isinstance(read, Good)
    assert (read.value.to, read.value.urgent) == ("alice", True)
    assert read.value.text == "one\n---\ntwo"
    everyone = codec.read_dropped("!@all stop")
    assert isinstance(everyone, Good)
    assert (everyone.value.to, everyone.value.urgent) == ("*", True)
    assert isinstance(codec.read_dropped("  \n"), Rejected)


@pytest.mark.parametrize("written", ["all", "'@all'", "'*'", "ALL"])
def test_a_dropped_file_goes_to_everyone_however_that_is_written(written: str) -> None:
    read = codec.read_dropped(f"---\nto: {written}\n---\nLunch!\n")

    assert isinstance(read, Good)
    assert read.value.to == "*"


def test_a_record_says_what_applies_and_an_unknown_cost_is_null() -> None:
    event = Event(EventType.NODE_COMPLETED, "news", run="r", node="n")
    call = ModelCall("t", "a/b", Usage(1, 2, 3, 4), None, run="r", node="n")

    assert codec.event_to_json(event, "t") == {
        "ts": "t",
        "type": "node.completed",
        "agent": "news",
        "run": "r",
        "node": "n",
    }
    assert codec.usage_line(call)["cost_usd"] is None
    assert codec.usage_from_line(codec.usage_line(call)) == call
