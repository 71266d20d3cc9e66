"""For each fault: its kind, and the words that a person sees."""

from __future__ import annotations

import asyncio

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.providers import accounts, faults
from agiraph.providers.faults import Service
from tests.support.model_server import (
    Asked,
    ModelServer,
    Scripted,
    cut,
    error_event,
    fail,
    hang,
    page,
    say,
    spoiled,
)
from tests.support.talk import Talk

SERVICE = Service("openai", "https://api.example/v1", "OPENAI_API_KEY", "sk-secret-1")


async def fault_of(catalog, model, scripted, **more) -> ProviderFault:
    with ModelServer(lambda _: scripted) as server:
        async with catalog(server, **more) as models:
            with pytest.raises(ProviderFault) as caught:
                await Talk(models.provider(model), model).ask("hi")
    return caught.value


@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (401, "invalid key", None, Fault.KEY),
        (403, "not allowed", None, Fault.KEY),
        (404, "model: claude-x", None, Fault.MODEL),
        (400, "the model does not support tools", None, Fault.MODEL),
        (402, "no money", None, Fault.QUOTA),
        (429, "You exceeded your quota", "insufficient_quota", Fault.QUOTA),
        (400, "Your credit balance is too low", None, Fault.QUOTA),
        (400, "prompt is too long: 9 > 8", None, Fault.CONTEXT),
        (400, "no", "context_length_exceeded", Fault.CONTEXT),
        (413, "too big", None, Fault.CONTEXT),
        (400, "max_tokens: Field required", None, Fault.REQUEST),
        (422, "unprocessable", None, Fault.REQUEST),
        (429, "slow down", None, Fault.RATE),
        (408, "timeout", None, Fault.OVERLOADED),
        (409, "conflict", None, Fault.OVERLOADED),
        (500, "oops", None, Fault.OVERLOADED),
        (503, "oops", None, Fault.OVERLOADED),
        (529, "Overloaded", None, Fault.OVERLOADED),
    ],
)
async def test_an_error_status_becomes_a_fault_of_its_kind(
    catalog, model, status, message, code, kind
):
    fault = await fault_of(catalog, model, fail(status, message=message, code=code))
    # Messages has no codes: there the word stands in the message or nowhere.
    if code and "anthropic" in model:
        return
    assert fault.kind is kind
    assert message in fault.words
    assert str(status) in fault.words


@pytest.mark.parametrize(
    ("scripted", "kind", "words"),
    [
        (cut("half an answer", 3), Fault.NETWORK, "reached"),
        (spoiled("a broken event", 2), Fault.NETWORK, "cannot be read"),
        (error_event(), Fault.OVERLOADED, "Overloaded"),
        (error_event("rate_limit_error", "slow"), Fault.RATE, "slow"),
        (page(), Fault.REQUEST, "sent a web page instead of an answer"),
        (page(502), Fault.OVERLOADED, "a web page"),
    ],
)
async def test_half_an_answer_is_none(catalog, model, scripted, kind, words):
    fault = await fault_of(catalog, model, scripted)
    assert fault.kind is kind
    assert words in fault.words


async def test_a_service_that_is_not_there_is_named_with_its_address(catalog, model):
    with ModelServer(lambda _: "never") as server:
        pass
    async with catalog(server) as models:
        with pytest.raises(ProviderFault) as caught:
            await Talk(models.provider(model), model).ask("hi")
    assert caught.value.kind is Fault.NETWORK
    assert server.base_url in caught.value.words


async def test_a_stream_that_ends_quietly_before_its_end_is_no_answer(catalog):
    # All events but the last: the connection itself ends as it should.
    model = "openai/gpt-5.4"
    with ModelServer(lambda _: say("x", cut=1)) as server:
        async with catalog(server) as models:
            with pytest.raises(ProviderFault) as caught:
                await Talk(models.provider(model), model).ask("hi")
    assert caught.value.passes


async def test_an_answer_that_falls_silent_is_broken_off(
    catalog, model, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(accounts, "LOCAL_IDLE", 0.5)
    fault = await fault_of(catalog, model, say("one two", stall=2))
    assert fault.kind is Fault.NETWORK
    assert "no answer in time" in fault.words


def test_a_refused_key_says_which_variable_to_set():
    fault = faults.of_status(SERVICE, 401, '{"error": {"message": "bad"}}', {})
    assert fault.words == (
        "OPENAI_API_KEY was refused by openai at https://api.example/v1 (401: bad). "
        "Set OPENAI_API_KEY to a valid key in the daemon's environment "
        "and start it again."
    )


@pytest.mark.parametrize("said", ["sk-secret-1", "sk-proj-abc***def", "AIzaSyA1234567"])
def test_no_key_ever_stands_in_words(said):
    body = f'{{"error": {{"message": "Incorrect API key provided: {said}."}}}}'
    words = faults.of_status(SERVICE, 401, body, {}).words
    assert said not in words
    assert "***" in words


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (
            {
                "retry-after": "Sat, 21 Nov 2026 12:01:00 GMT",
                "date": "Sat, 21 Nov 2026 12:00:00 GMT",
            },
            60.0,
        ),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert faults.retry_after(headers) == seconds


def test_a_delay_that_is_named_in_the_body_counts_too():
    body = '{"error": {"code": 429, "details": [{"retryDelay": "34s"}]}}'
    assert faults.of_status(SERVICE, 429, body, {}).retry_after == 34.0


def test_an_error_in_a_good_answer_is_an_error():
    fault = faults.not_a_stream(
        SERVICE, "application/json", '{"error": {"type": "insufficient_quota"}}'
    )
    assert fault.kind is Fault.QUOTA


async def test_a_call_can_be_cancelled_and_the_next_one_goes_through(catalog, model):
    def script(asked: Asked) -> Scripted:
        return hang() if asked.number == 1 else "ok"

    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            call = asyncio.ensure_future(talk.ask("hi"))
            async with asyncio.timeout(30):
                while not server.requests:
                    await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await talk.ask()).text == "ok"
