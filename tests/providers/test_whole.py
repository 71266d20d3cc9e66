"""Answers in one piece, `stream: false`: what is asked for, and what is no answer."""

from __future__ import annotations

import json

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.agent import ProviderSettings
from agiraph.model.conversation import Answer, Stop
from agiraph.providers.accounts import way_to
from agiraph.providers.connection import IDLE, WHOLE_IDLE
from agiraph.providers.faults import Service
from agiraph.providers.openai_chat_stream import ChatHearing
from tests.support.model_server import (
    Failure,
    ModelServer,
    Scripted,
    cut,
    error_event,
    page,
    say,
    spoiled,
)
from tests.support.talk import Talk


async def fault_of(catalog, model, scripted: Scripted) -> ProviderFault:
    with ModelServer(lambda _: scripted) as server:
        async with catalog(server, stream=False) as models:
            with pytest.raises(ProviderFault) as caught:
                await Talk(models.provider(model), model).ask("hi")
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
async def test_the_service_is_asked_in_the_way_that_is_set(
    wire, model, catalog, stream
):
    with ModelServer(lambda _: "ok") as server:
        async with catalog(server, stream=stream) as models:
            answer = await Talk(models.provider(model), model).ask("hi")
    [asked] = server.requests
    assert answer.text == "ok"
    assert asked.body["stream"] is stream
    assert ("stream_options" in asked.body) is (stream and wire == "chat")
    if wire == "gemini":
        assert ("streamGenerateContent" in asked.path) is stream
    else:
        wanted = "text/event-stream" if stream else "application/json"
        assert asked.headers["accept"] == wanted


@pytest.mark.parametrize("scripted", [cut(say("half")), spoiled(say("half"))])
async def test_half_an_answer_is_no_answer(catalog, model, scripted):
    fault = await fault_of(catalog, model, scripted)
    assert fault.kind in (Fault.NETWORK, Fault.REQUEST)


async def test_an_error_in_a_good_answer_is_an_error(catalog, model):
    fault = await fault_of(catalog, model, error_event())
    assert fault.kind is Fault.OVERLOADED
    assert "Overloaded" in fault.words


async def test_a_web_page_is_told_as_one(catalog, model):
    fault = await fault_of(catalog, model, page())
    assert "sent a web page instead of an answer" in fault.words


async def test_an_answer_of_another_kind_is_told_with_what_to_check(catalog, model):
    other = Failure(200, headers={"content-type": "application/json"}, page='{"a": 1}')
    fault = await fault_of(catalog, model, other)
    assert fault.kind is Fault.REQUEST
    assert '{"a": 1}' in fault.words
    assert "`wire_api` and `stream`" in fault.words


async def test_a_prompt_that_gemini_blocks_is_a_refusal(catalog):
    blocked = json.dumps({"promptFeedback": {"blockReason": "SAFETY"}})
    answered = Failure(200, headers={"content-type": "application/json"}, page=blocked)
    model = "gemini/gemini-3.8-flash"
    with ModelServer(lambda _: answered) as server:
        async with catalog(server, stream=False) as models:
            answer = await Talk(models.provider(model), model).ask("hi")
    assert answer.stop is Stop.REFUSAL


def heard(**message: object) -> Answer:
    talk = Talk(None, "mine/x")  # type: ignore[arg-type]
    hearing = ChatHearing(Service("mine", "http://h"), talk.request(), size=300)
    body = {"choices": [{"message": {"role": "assistant", **message}}]}
    assert hearing.whole(json.dumps(body))
    return hearing.answer()


def test_calls_without_ids_are_told_apart():
    look = {"function": {"name": "look", "arguments": "{}"}}
    find = {"function": {"name": "find", "arguments": {"x": 1}}}
    answer = heard(content="", tool_calls=[look, find], function_call=None)
    assert [(c.name, c.arguments) for c in answer.calls] == [
        ("look", {}),
        ("find", {"x": 1}),
    ]
    assert len({call.id for call in answer.calls}) == 2
    assert answer.stop is Stop.TOOLS


def test_what_is_empty_in_a_message_does_not_go_back():
    answer = heard(content="Yes.", tool_calls=[], annotations=[], refusal=None)
    assert answer.own["content"] == {"role": "assistant", "content": "Yes."}


def test_it_may_be_silent_for_as_long_as_a_whole_answer_takes():
    def idle(*, stream: bool, url: str = "https://h.example/v1") -> float:
        lab = ProviderSettings("lab", "openai", base_url=url, stream=stream)
        return way_to("lab", {"lab": lab}, {}).account.idle

    assert idle(stream=True) == IDLE
    assert idle(stream=False) == WHOLE_IDLE
