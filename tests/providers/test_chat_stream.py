"""Streams as the servers that imitate OpenAI really send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agiraph.errors import ProviderFault
from agiraph.model.conversation import Answer, Stop
from agiraph.providers.faults import Service
from agiraph.providers.openai_chat_stream import ChatHearing
from agiraph.providers.sse import Event
from tests.support.talk import Talk

SERVICE = Service("mine", "http://127.0.0.1:1/v1")


def heard(*chunks: dict[str, Any] | str) -> Answer:
    talk = Talk(None, "mine/x")  # type: ignore[arg-type]
    hearing = ChatHearing(SERVICE, talk.request(), size=300)
    for chunk in chunks:
        text = chunk if isinstance(chunk, str) else json.dumps(chunk)
        hearing.hear(Event("", text))
    return hearing.answer()


def delta(finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": more, "finish_reason": finish}]}


def part(ident: str | None, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"id": ident, "function": {"name": name, "arguments": arguments}} | more


def test_a_stream_that_ends_quietly_without_its_end_is_no_answer():
    with pytest.raises(ProviderFault, match="broke off"):
        heard(delta(content="half"))
    with pytest.raises(ProviderFault, match="broke off"):
        heard(delta(content="whole"), delta("stop"))


def test_calls_that_share_an_index_are_told_apart_by_their_ids():
    answer = heard(
        delta(tool_calls=[part("a", "look", "{}", index=0)]),
        delta(tool_calls=[part("b", "find", '{"x":', index=0)]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": "1}"}}]),
        delta("stop"),
        "[DONE]",
    )
    assert [(c.id, c.name, c.arguments) for c in answer.calls] == [
        ("a", "look", {}),
        ("b", "find", {"x": 1}),
    ]
    assert answer.stop is Stop.TOOLS


def test_a_call_without_an_id_gets_one_that_its_place_gives():
    chunks = (delta(tool_calls=[part(None, "look", {"x": 1})]), delta("stop"), "[DONE]")
    first, again = heard(*chunks), heard(*chunks)
    assert first.calls[0].id == again.calls[0].id == "call_1_0"
    assert first.calls[0].arguments == {"x": 1}
    function = first.own["content"]["tool_calls"][0]["function"]  # type: ignore[index,call-overload]
    assert json.loads(function["arguments"]) == {"x": 1}


def test_without_a_word_on_usage_it_is_reckoned_and_never_nothing():
    usage = heard(delta("stop", content="abcdef"), "[DONE]").usage
    assert (usage.input, usage.output) == (100, 2)


def test_what_the_service_says_it_cost_is_passed_on():
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "cost": 0.25}
    answer = heard(delta("stop", content="a"), {"choices": [], "usage": usage})
    assert answer.cost_usd == 0.25


def test_unknown_fields_are_kept_for_the_way_back():
    extra = {"google": {"thought_signature": "s"}}
    answer = heard(
        delta(reasoning_details=[{"n": 1}]),
        delta(reasoning_details=[{"n": 2}]),
        delta(tool_calls=[part("a", "look", "{}", index=0, extra_content=extra)]),
        delta("tool_calls"),
        "[DONE]",
    )
    message: Any = answer.own["content"]
    assert message["reasoning_details"] == [{"n": 1}, {"n": 2}]
    assert message["tool_calls"][0]["extra_content"] == extra


def test_an_error_in_the_middle_is_a_fault():
    error = {"error": {"code": 502, "message": "upstream died"}}
    with pytest.raises(ProviderFault, match="upstream died"):
        heard(delta(content="half"), error)
