"""Gemini's own wire, by its real package, against the strict server."""

from __future__ import annotations

import json

import pytest

from agiraph.core.codec import line_from_json, line_to_json
from agiraph.errors import Fault, ProviderFault
from agiraph.model.agent import ProviderSettings, TreeSettings
from agiraph.model.conversation import Stop
from agiraph.providers import accounts
from agiraph.providers import models as module
from agiraph.providers.faults import Service
from agiraph.providers.gemini import GeminiWire
from agiraph.providers.gemini_stream import GeminiHearing
from agiraph.providers.models import ModelCatalog
from agiraph.providers.offline import OfflineProvider
from agiraph.providers.sse import Event
from tests.support.clock import HandClock
from tests.support.model_server import (
    Asked,
    Block,
    ModelServer,
    Reply,
    Scripted,
    call,
    fail,
    say,
)
from tests.support.talk import Talk

MODEL = "gemini/gemini-3.8-flash"


TALK = Talk(OfflineProvider(), MODEL)


def unnamed(name: str, **arguments: object) -> Block:
    """A call as models before Gemini 3 make it: without an id."""
    return Block({"functionCall": {"name": name, "args": arguments}})


async def test_signatures_survive_a_restart_byte_for_byte(catalog):
    odd = {"text": "", "partMetadata": {"a": [1.0, 2], "future": "ä"}}

    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return Reply((Block(odd), call("write_file", path="ä"), call("write_file")))
        return "done"

    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(MODEL), MODEL)
            first = await talk.ask("go")
            talk.results("ok")
            kept = [json.dumps(line_to_json(line)) for line in talk.lines]
            talk.lines = tuple(line_from_json(json.loads(line)) for line in kept)
            await talk.ask()
    assert server.refusals == []
    content = server.requests[1].messages[1]
    assert content == first.own["content"]
    parts = content["parts"]
    assert parts[1] == odd
    assert parts[2]["thoughtSignature"]
    assert parts[3]["functionCall"]["args"] == {}


async def test_a_signature_stays_on_its_own_part(catalog):
    pieces = (
        Block({"text": "one "}),
        Block({"text": "two"}),
        Block({"text": "", "thoughtSignature": "sig"}),
        Block({"text": "three"}),
    )
    with ModelServer(lambda _: Reply(pieces), thinking=False) as server:
        async with catalog(server) as models:
            answer = await Talk(models.provider(MODEL), MODEL).ask("go")
    assert answer.text == "one twothree"
    content = answer.own["content"]
    assert isinstance(content, dict)
    assert content["parts"] == [
        {"text": "one two"},
        {"text": "", "thoughtSignature": "sig"},
        {"text": "three"},
    ]


async def test_calls_without_ids_are_answered_by_name_and_order(catalog):
    model = "gemini/gemini-2.0-flash"

    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            calls = (unnamed("write_file", path="a"), unnamed("write_file", path="b"))
            return Reply(calls)
        return "done"

    with ModelServer(script, thinking=False) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("go")
            talk.results("A", "B")
            await talk.ask()
            talk.moved(models.provider(MODEL), MODEL)
            await talk.ask("again")
    assert server.refusals == []
    assert len({one.id for one in first.calls}) == 2
    assert "id" not in server.requests[1].messages[1]["parts"][0]["functionCall"]
    # Carried over, the calls are no longer the service's own, and say so.
    carried = server.requests[2].messages[1]["parts"]
    assert carried[0]["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in carried[1]


async def test_a_conversation_from_elsewhere_is_accepted(catalog):
    other = "anthropic/claude-sonnet-5-5"

    def script(asked: Asked) -> Scripted:
        return call("write_file", path="a") if asked.turn < 3 else "done"

    with ModelServer(script, new_sessions=True) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(other), other)
            await talk.ask("go")
            talk.results("ok")
            talk.moved(models.provider(MODEL), MODEL)
            await talk.ask()
            talk.results("no such folder", error=True)
            talk.moved(models.provider(other), other)
            await talk.ask()
    assert server.refusals == []
    assert [asked.wire for asked in server.requests] == [
        "messages",
        "gemini",
        "messages",
    ]


async def test_a_call_that_the_service_could_not_read_becomes_a_broken_call(catalog):
    stop = "MALFORMED_FUNCTION_CALL"

    def script(asked: Asked) -> Scripted:
        return Reply((), stop=stop) if asked.turn == 1 else "done"

    with ModelServer(script, thinking=False) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(MODEL), MODEL)
            first = await talk.ask("go")
            talk.results("that was no JSON object", error=True)
            await talk.ask()
    assert server.refusals == []
    assert first.stop is Stop.TOOLS
    assert first.calls[0].name == "write_file"
    assert "Malformed function call" in first.calls[0].broken


async def test_a_blocked_prompt_is_a_refusal():
    hearing = GeminiHearing(Service("gemini", "http://h"), TALK.request(), 9)
    hearing.hear(Event("", '{"promptFeedback": {"blockReason": "SAFETY"}}'))
    answer = hearing.answer()
    assert answer.stop is Stop.REFUSAL
    assert "SAFETY" in answer.text


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
async def test_every_filter_is_a_refusal(catalog, reason):
    with ModelServer(lambda _: say("half", stop=reason)) as server:
        async with catalog(server) as models:
            answer = await Talk(models.provider(MODEL), MODEL).ask("go")
    assert answer.stop is Stop.REFUSAL


async def test_a_wrong_key_names_the_variable(catalog):
    with ModelServer(lambda _: "never") as server:
        async with catalog(server, GEMINI_API_KEY="wrong") as models:
            with pytest.raises(ProviderFault) as caught:
                await Talk(models.provider(MODEL), MODEL).ask("hi")
    assert caught.value.kind is Fault.KEY
    assert "Set GEMINI_API_KEY to a valid key" in caught.value.words


async def test_a_wait_that_the_service_names_is_kept(catalog):
    busy = fail(429, message="Quota exceeded. Please retry in 31.5s.")
    with ModelServer(lambda _: busy) as server:
        async with catalog(server) as models:
            with pytest.raises(ProviderFault) as caught:
                await Talk(models.provider(MODEL), MODEL).ask("hi")
    assert caught.value.kind is Fault.RATE
    assert caught.value.retry_after == 31.5


async def test_without_the_package_the_imitation_of_openai_is_used(monkeypatch):
    monkeypatch.setattr(accounts, "has_package", lambda name: name == "openai")
    way = accounts.way_to("gemini", {}, {"GEMINI_API_KEY": "x"})
    assert way.wire == "chat"
    home = "https://generativelanguage.googleapis.com/v1beta/openai"
    assert way.account.base_url == home
    asked = {"GEMINI_BASE_URL": f"{home}/"}
    assert accounts.way_to("gemini", {}, asked).account.base_url == home


def test_who_wants_the_own_protocol_without_its_package_is_told_what_to_install(
    monkeypatch,
):
    monkeypatch.setattr(accounts, "has_package", lambda _: False)
    monkeypatch.setattr(module, "has_package", lambda _: False)
    own = ProviderSettings("gemini", "gemini", wire_api="gemini")
    models = ModelCatalog(
        settings=TreeSettings(providers=(own,)),
        environment={"GEMINI_API_KEY": "x"},
        clock=HandClock(),
    )
    with pytest.raises(ProviderFault) as caught:
        models.provider(MODEL)
    assert caught.value.kind is Fault.SDK
    assert "pip install 'agiraph[gemini]'" in caught.value.words


@pytest.mark.parametrize(
    ("url", "wire", "root"),
    [
        ("http://h:1", "gemini", "http://h:1"),
        ("http://h:1/v1beta/", "gemini", "http://h:1"),
        ("http://h:1/v1beta/openai", "chat", "http://h:1/v1beta/openai"),
    ],
)
def test_the_address_says_which_protocol_is_meant(url, wire, root):
    way = accounts.way_to("gemini", {}, {"GEMINI_BASE_URL": url})
    assert (way.wire, way.account.base_url) == (wire, root)


def test_models_before_gemini_3_get_a_thinking_budget():
    model = "gemini/gemini-2.5-flash"
    wire = GeminiWire(Service("gemini", "http://h", model=model))
    talk = Talk(OfflineProvider(), model, options={"effort": "low"})
    talk.tell("hi")
    tail = json.loads(b'{"contents":[' + wire.tail(talk.request()))
    assert tail["generationConfig"]["thinkingConfig"] == {"thinkingBudget": 1024}
