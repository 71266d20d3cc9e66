"""What goes over the wire for each tool, and what comes back for a wrong call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import ToolRefused
from agiraph.model.tool import ToolCall, Who
from agiraph.tools.registry import (
    DEFINITIONS,
    ORDER,
    check_arguments,
    guidance_for,
    spec_named,
    specs_for,
)

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject

TABLE = {
    "create_work_node": "task id? title? depends_on? refs? worker? max_turns? timeout? "
    "accept? stage? share? hold?",
    "assign_worker": "node_id worker_id",
    "spawn_worker": "name role? type? model? agent_command? tools? identity? memory? "
    "agent_memory?",
    "retire_worker": "worker_id",
    "cancel_node": "node_id reason",
    "check_board": "",
    "reconvene": "assessment next_stage? contract?",
    "finish": "summary artifacts?",
    "publish": "summary partial?",
    "checkpoint": "summary",
    "wait": "nodes? timeout?",
    "suggest_next": "suggestion",
    "send_message": "to content urgent?",
    "check_messages": "",
    "ask_human": "question channel? options? timeout?",
    "read_file": "path offset? limit?",
    "write_file": "path content append?",
    "edit_file": "path old new",
    "list_files": "path",
    "read_ref": "ref_name",
    "bash": "command timeout?",
    "web_search": "query",
    "web_fetch": "url",
    "memory_write": "path content append?",
    "memory_read": "path",
    "memory_search": "query",
    "schedule": "type config action",
    "list_triggers": "",
    "cancel_trigger": "trigger_id",
}


def call(name: str, arguments: JsonObject | None, broken: str = "") -> JsonObject:
    spec = DEFINITIONS[name].spec
    return check_arguments(spec, ToolCall("x", name, arguments, broken))


def shapes(value: Json) -> Iterator[JsonObject]:
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from shapes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from shapes(inner)


@pytest.mark.parametrize("name", TABLE)
def test_names_and_parameters_are_those_of_the_contract(name: str) -> None:
    shape = DEFINITIONS[name].spec.parameters
    properties, required = shape["properties"], shape["required"]

    assert isinstance(properties, dict)
    assert isinstance(required, list)
    assert [p if p in required else f"{p}?" for p in properties] == TABLE[name].split()
    assert shape["additionalProperties"] is False


def test_the_order_is_frozen_and_whole() -> None:
    assert tuple(TABLE) == ORDER


def test_every_parameter_is_described_in_plain_json_schema() -> None:
    allowed = {
        "type", "properties", "required", "additionalProperties", "items", "enum",
        "minimum", "anyOf", "description",
    }  # fmt: skip
    for one in DEFINITIONS.values():
        json.dumps(one.spec.parameters)
        properties = one.spec.parameters["properties"]
        assert isinstance(properties, dict)
        for name, shape in properties.items():
            assert shape["description"], f"{one.name}.{name}"
            for inner in shapes(shape):
                kind = inner.get("type")
                if isinstance(kind, str) or "anyOf" in inner:
                    assert inner.keys() <= allowed


def test_each_caller_gets_its_tools_in_the_frozen_order() -> None:
    ours = [spec.name for spec in specs_for(Who.COORDINATOR, None)]
    theirs = [spec.name for spec in specs_for(Who.WORKER, None)]

    assert "finish" in ours
    assert "publish" not in ours
    assert "publish" in theirs
    assert "check_board" not in theirs
    assert ours == [name for name in ORDER if name in ours]
    assert theirs == [name for name in ORDER if name in theirs]


def test_a_list_of_allowed_tools_keeps_the_order_and_a_way_to_end() -> None:
    specs = specs_for(Who.WORKER, ("bash", "read_file"))

    assert [s.name for s in specs] == ["publish", "checkpoint", "read_file", "bash"]
    assert specs_for(Who.WORKER, ()) == ()


def test_every_tool_has_guidance() -> None:
    text = guidance_for(reversed(ORDER))

    assert text.index("### create_work_node") < text.index("### bash")


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        ("read_file", {"path": "a", "offset": "3"}, {"path": "a", "offset": 3}),
        ("read_file", {"path": "a", "offset": 3.0}, {"path": "a", "offset": 3}),
        ("read_file", {"path": "a", "limit": None}, {"path": "a"}),
        (
            "publish",
            {"summary": "s", "partial": "true"},
            {"summary": "s", "partial": True},
        ),
        ("wait", {"nodes": "amd"}, {"nodes": ["amd"]}),
        ("wait", {"nodes": '["amd", "intel"]'}, {"nodes": ["amd", "intel"]}),
        ("wait", {"timeout": 60}, {"timeout": 60}),
        ("wait", {"timeout": "5m"}, {"timeout": "5m"}),
        ("create_work_node", {"task": "t", "id": 7}, {"task": "t", "id": "7"}),
        (
            "create_work_node",
            {"task": "t", "worker": "A"},
            {"task": "t", "worker": "A"},
        ),
        (
            "create_work_node",
            {"task": "t", "worker": {"name": "A"}, "refs": {"a": "a/published"}},
            {"task": "t", "worker": {"name": "A"}, "refs": {"a": "a/published"}},
        ),
        (
            "create_work_node",
            {"task": "t", "accept": {"file": "report.md"}},
            {"task": "t", "accept": [{"file": "report.md"}]},
        ),
        (
            "spawn_worker",
            {"name": "A", "type": "Harnessed"},
            {"name": "A", "type": "harnessed"},
        ),
        ("spawn_worker", {"name": "A", "type": ""}, {"name": "A"}),
    ],
)
def test_what_has_one_sensible_meaning_is_taken_as_meant(
    name: str, sent: JsonObject, meant: JsonObject
) -> None:
    assert call(name, sent) == meant


@pytest.mark.parametrize(
    ("name", "sent", "words"),
    [
        ("write_file", {"path": "a"}, "`content` is missing (The text to write.)"),
        ("write_file", {"file_path": "a", "content": ""}, "did you mean `path`?"),
        (
            "write_file",
            {"path": None, "content": ""},
            "`path` must be a text; found null",
        ),
        ("read_file", {"path": "a", "offset": "top"}, 'whole number; found "top"'),
        ("read_file", {"path": "a", "offset": 0}, "at least 1"),
        ("read_file", {"path": "a", "offset": 1.5}, "whole number"),
        ("read_file", {"path": ["a"]}, "`path` must be a text"),
        ("publish", {"summary": "s", "partial": "perhaps"}, "true or false"),
        ("spawn_worker", {"name": "A", "type": "robot"}, "harnessed, autonomous"),
        ("check_board", {"all": True}, "there are no parameters"),
        ("wait", {"nodes": 3}, "a list of texts"),
        ("wait", {"timeout": True}, "a number or a text"),
        (
            "reconvene",
            {"assessment": "a", "contract": {"timout": 3}},
            "`contract.timout`",
        ),
        ("create_work_node", {"task": "t", "worker": {"role": "x"}}, "worker.name"),
        ("create_work_node", {"task": "t", "accept": [{"cmd": "x"}]}, "accept[0].cmd"),
        ("create_work_node", {"task": "t", "refs": {"a": {}}}, "refs.a"),
    ],
)
def test_a_wrong_call_is_refused_saying_what_was_expected(
    name: str, sent: JsonObject, words: str
) -> None:
    with pytest.raises(ToolRefused) as refusal:
        call(name, sent)

    assert words in str(refusal.value)
    assert f"Expected: {name}(" in str(refusal.value)


def test_all_faults_of_a_call_are_said_at_once() -> None:
    with pytest.raises(ToolRefused) as refusal:
        call("edit_file", {"path": "a", "old_text": "x"})

    assert "`old`" in str(refusal.value)
    assert "`new` is missing" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"path": "a", "content": "half', "cut off after 30 characters"),
        ('{"path": "a",}', "line 1, column"),
        ("{'path': 'a'}", "no valid JSON"),
        ('["a"]', 'one JSON object; found ["a"]'),
        ("", "cut off after 0"),
    ],
)
def test_broken_json_is_refused_saying_where(text: str, words: str) -> None:
    with pytest.raises(ToolRefused) as refusal:
        call("write_file", None, text)

    assert words in str(refusal.value)


def test_an_unknown_tool_is_refused_naming_the_nearest() -> None:
    specs = specs_for(Who.WORKER, None)

    assert spec_named("bash", specs).name == "bash"
    with pytest.raises(ToolRefused, match=r"Nearest: .*read_file"):
        spec_named("ReadFile", specs)
    with pytest.raises(ToolRefused, match=r"You have: .*bash"):
        spec_named("zzz", specs)
    with pytest.raises(ToolRefused, match="answer in text"):
        spec_named("bash", ())
