"""Calls are found in what small models write, and only where calls were meant."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agiraph.core.toolcalls import UNKNOWN, Read, read_calls

TOOLS = ("write_file", "publish", "check_board")
CALL = '{"name": "write_file", "arguments": {"path": "a.md", "content": "x"}}'
MEANT = {"path": "a.md", "content": "x"}


def read(text: str, *, whole: bool = True) -> Read:
    return read_calls(text, TOOLS, whole=whole)


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}",
        f"<tool_call>\n{CALL}\n</tool_call",
        f"<|tool_call|>{CALL}<|/tool_call|>",
        f"<function_call>{CALL}</function_call>",
        f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>",
        f"```json\n{CALL}\n```",
        f"```python\n{CALL}\n```",
        f"```tool_call\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"```json\n{CALL}",
        f"[{CALL}]",
        CALL,
        f"  {CALL}  ",
        CALL.replace("arguments", "parameters"),
        CALL.replace("arguments", "args").replace('"name"', '"tool"'),
        json.dumps({"type": "function", "function": json.loads(CALL)}),
        json.dumps({"name": "write_file", "arguments": json.dumps(MEANT)}),
        "{'name': 'write_file', 'arguments': {'path': 'a.md', 'content': 'x'}}",
        CALL[:-1],
        CALL[:-2],
        f"<tool_call>\n{CALL[:-1]}\n</tool_call>",
        CALL.replace('"x"}', '"x",}'),
        f"<think>\nMaybe {{}} or {CALL}?\n</think>\n{CALL}",
    ],
)
def test_a_call_is_read_in_every_form_that_small_models_give_it(text):
    found = read(text)
    assert [(one.name, one.arguments) for one in found.calls] == [("write_file", MEANT)]


def test_the_words_around_calls_are_the_text_of_the_answer():
    found = read(f"First I write.\n\n```json\n{CALL}\n```\n\nThen I publish.")
    assert found.text == "First I write.\n\n\n\nThen I publish."
    assert len(found.calls) == 1


def test_several_calls_are_read_in_their_order():
    second = '{"name": "publish", "arguments": {"summary": "done"}}'
    tagged = f"<tool_call>\n{CALL}\n</tool_call>\n<tool_call>\n{second}\n</tool_call>"
    for text in (tagged, f"[{CALL}, {second}]", f"{CALL}\n{second}"):
        assert [one.name for one in read(text).calls] == ["write_file", "publish"]


def test_braces_tags_and_fences_inside_a_text_belong_to_it():
    content = '# Doc\n```json\n{"name": "publish"}\n```\n</tool_call> } \\ "quoted" {'
    call = {"name": "write_file", "arguments": {"path": "a", "content": content}}
    found = read(f"<tool_call>\n{json.dumps(call)}\n</tool_call>")
    assert [one.arguments for one in found.calls] == [call["arguments"]]
    assert found.text == ""


def test_line_breaks_inside_a_text_are_taken_as_they_stand():
    found = read('{"name": "write_file", "arguments": {"content": "one\ntwo\tthree"}}')
    assert found.calls[0].arguments == {"content": "one\ntwo\tthree"}


def test_a_tool_without_arguments_needs_none():
    for text in (
        '{"name": "check_board"}',
        '<tool_call>{"name": "check_board", "arguments": ""}</tool_call>',
    ):
        assert read(text).calls[0].arguments == {}


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to call here.",
        'The file holds {"name": "Ada", "arguments": {"x": 1}}.',
        '```json\n{"results": [{"name": "write_file", "arguments": {}}]}\n```',
        "Use {braces} and [lists] as you like; { and [ alone too.",
        '{"name": "write_file_later", "arguments": {}}',
    ],
)
def test_what_only_looks_like_a_call_is_left_in_the_text(text):
    assert read(text) == Read(text, ())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            '<tool_call>\n{"name": "publish", "arguments": {oops}}\n</tool_call>',
            "publish",
        ),
        ("<tool_call>\npublish it, please\n</tool_call>", UNKNOWN),
        ('<tool_call>{"name": "publish", "arguments": [1]}</tool_call>', "publish"),
        ('<tool_call>{"path": "a.md"}</tool_call>', UNKNOWN),
        (
            '```json\n{"name": "publish", "arguments": {"summary": done}}\n```',
            "publish",
        ),
        ('{"name": "publish", "arguments": "all of it"}', "publish"),
    ],
)
def test_a_malformed_call_is_told_as_one(text, name):
    found = read(text)
    assert [(one.name, one.arguments) for one in found.calls] == [(name, None)]
    assert found.calls[0].written
    assert found.text == ""


def test_a_call_that_was_cut_off_is_never_mended():
    assert read(CALL[:-1], whole=False).calls[0].arguments is None
    assert read(CALL, whole=False).calls[0].arguments == MEANT


def test_results_that_a_model_made_up_are_cut_away_with_all_that_follows():
    text = f"{CALL}\n<tool_response>\nwritten\n</tool_response>\n{CALL}\nAll done."
    found = read(text)
    assert len(found.calls) == 1
    assert found.text == ""


def test_an_empty_tag_is_nothing():
    assert read("<tool_call>\n</tool_call>").calls == ()


plain = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
values = (
    plain | st.booleans() | st.lists(plain, max_size=2) | st.none() | st.floats(0, 9)
)
values |= st.dictionaries(plain, plain | st.integers(), max_size=2)
objects = st.dictionaries(plain, values, max_size=3)
prose = st.text(st.characters(exclude_characters="{}[]<>`'\""), max_size=40)
FORMS = (
    "<tool_call>\n{}\n</tool_call>",
    "<tool_call>{}",
    "```json\n{}\n```",
    "```python\n{}\n```",
    "{}",
)


@settings(max_examples=60, deadline=None)
@given(st.lists(objects, min_size=1, max_size=3), st.sampled_from(FORMS[:1]), prose)
def test_what_was_written_as_asked_is_read_as_meant(arguments, form, around):
    calls = [json.dumps({"name": "publish", "arguments": one}) for one in arguments]
    text = around.join(["", *(form.replace("{}", one) for one in calls), ""])
    assert [one.arguments for one in read(text).calls] == arguments


@settings(max_examples=60, deadline=None)
@given(objects, st.sampled_from(FORMS), prose)
def test_one_call_is_read_in_any_form_and_between_any_words(arguments, form, around):
    call = json.dumps({"name": "publish", "arguments": arguments})
    found = read(f"{around}\n{form.replace('{}', call)}")
    assert [one.arguments for one in found.calls] == [arguments]


PIECES = (
    *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " "),
    *("<tool_call>", "</tool_call>", "```json", "```", "<think>", "true"),
    *("name", "arguments", '{"name":"publish"'),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_breaks_the_reader_and_no_word_is_lost_without_a_call(text):
    found = read(text)
    if not found.calls and "<t" not in text:
        assert found.text == text.strip()


def test_a_hopeless_text_takes_no_long_time():
    assert read('{"name": ' * 1000).calls == ()
    assert read("[{" * 10_000).calls == ()
