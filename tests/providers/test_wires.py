"""Real SDK clients talk to the strict server through our providers."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from itertools import pairwise

import pytest

from agiraph.core.codec import line_from_json, line_to_json
from agiraph.errors import ProviderFault
from agiraph.model.conversation import Stop
from tests.support.model_server import (
    Asked,
    Block,
    Call,
    Failure,
    ModelServer,
    Reply,
    Scripted,
    broken_call,
    call,
    say,
)
from tests.support.talk import Talk


@pytest.fixture(params=["stream", "whole"])
def catalog(request, catalog):
    """All that is promised here is promised of answers in one piece, too."""
    return partial(catalog, stream=request.param == "stream")


def writes_then_ends(asked: Asked) -> Scripted:
    if asked.turn == 1:
        return say("I write.", call("write_file", path="a.md", content='Ä \n "x"'))
    if asked.turn == 2:
        return [
            call("write_file", path="b.md", content="B"),
            call("write_file", path="c"),
        ]
    return "Done."


async def test_a_conversation_with_calls_is_accepted_to_its_end(wire, model, catalog):
    with ModelServer(writes_then_ends) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("Write three files.")
            talk.results("written")
            second = await talk.ask()
            talk.results("", "refused: content is missing", error=True)
            third = await talk.ask("Be quick.", "It is late.")
    assert server.refusals == []
    assert [asked.wire for asked in server.requests] == [wire] * 3
    assert first.text == "I write."
    assert first.calls[0].arguments == {"path": "a.md", "content": 'Ä \n "x"'}
    assert first.stop is Stop.TOOLS
    assert [one.arguments for one in second.calls] == [
        {"path": "b.md", "content": "B"},
        {"path": "c"},
    ]
    assert (third.text, third.calls, third.stop) == ("Done.", (), Stop.END)
    assert server.requests[2].last_user == "Be quick.\n\nIt is late."
    assert server.requests[2].results[0].text == "(no output)"


def parts_of(raw: bytes) -> tuple[bytes, bytes]:
    """A body's head, and its list of turns without what closes it."""
    keys = (b'"input":[', b'"contents":[', b'"messages":[')
    key = next(key for key in keys if key in raw)
    head, _, rest = raw.partition(key)
    ends = ("max_tokens", "stream", "store", "generationConfig")
    tails = [f'],"{end}":'.encode() for end in ends]
    return head, rest[: max(rest.rfind(tail) for tail in tails)]


async def test_what_was_sent_before_is_sent_again_byte_for_byte(model, catalog):
    with ModelServer(writes_then_ends) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            await talk.ask("Write three files.")
            talk.results("written")
            await talk.ask()
            talk.reread()
            talk.results("written")
            await talk.ask()
    bodies = [parts_of(asked.raw) for asked in server.requests]
    for (head, turns), (later_head, later_turns) in pairwise(bodies):
        assert turns
        assert later_head == head
        assert later_turns.startswith(turns)


async def test_usage_falls_into_four_buckets_that_do_not_overlap(wire, model, catalog):
    used = {"input": 7, "output": 11, "cache_read": 100, "cache_write": 13}
    with ModelServer(lambda _: say("hi", usage=used)) as server:
        async with catalog(server) as models:
            answer = await Talk(models.provider(model), model).ask("hi")
    usage = answer.usage
    # Gemini counts no writes: there they are input like any other.
    sent = (20, 0) if wire == "gemini" else (7, 13)
    assert (usage.input, usage.cache_write) == sent
    assert (usage.output, usage.cache_read) == (11, 100)


async def test_arguments_that_are_no_object_are_kept_as_text_and_replayed_as_empty(
    model, catalog
):
    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return [
                broken_call("write_file", '{"path": "a'),
                broken_call("write_file", "[1]"),
                broken_call("write_file", '{"x": NaN}'),
                call("write_file"),
            ]
        return "sorry"

    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("go")
            talk.results("that was no JSON object", error=True)
            await talk.ask()
    assert server.refusals == []
    assert [one.arguments for one in first.calls] == [None, None, None, {}]
    assert [one.broken for one in first.calls] == [
        '{"path": "a',
        "[1]",
        '{"x": NaN}',
        "",
    ]
    assert [one.arguments for one in server.requests[1].calls] == [{}] * 4


async def test_thinking_and_unknown_blocks_go_back_as_they_came(catalog):
    odd = {"type": "future_block", "data": {"deep": [1, 2]}, "note": "kept"}

    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return Reply((Block(odd), Call("write_file", {"path": "p"})))
        return "done"

    model = "anthropic/claude-sonnet-5-5"
    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("go")
            talk.results("ok")
            await talk.ask()
    assert server.refusals == []
    content = server.requests[1].messages[1]["content"]
    assert content == first.own["content"]
    assert [block["type"] for block in content] == [
        "thinking",
        "future_block",
        "tool_use",
    ]
    assert content[0]["thinking"] == "Let me think."
    assert content[0]["signature"]
    assert content[1] == odd


ODD = {
    "messages": {"type": "future_block", "data": {"deep": [1, 2.0]}, "note": "ä"},
    "chat": {"future_field": "kept", "reasoning_details": [{"data": "x+/="}]},
    "responses": {"type": "future_item", "id": "f1", "data": {"deep": [1, 2.0]}},
    "gemini": {"text": "", "thoughtSignature": "c2ln+/8=", "partMetadata": {"a": 1.0}},
}


async def test_what_nobody_knows_yet_survives_a_restart_byte_for_byte(
    wire, model, catalog
):
    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return Reply((Block(ODD[wire]), Call("write_file", {"path": "p"})))
        return "done"

    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            await talk.ask("go")
            talk.results("ok")
            with suppress(ProviderFault):  # the server knows no such things either
                await talk.ask()
            kept = [json.dumps(line_to_json(line)) for line in talk.lines[:3]]
            talk.lines = tuple(line_from_json(json.loads(line)) for line in kept)
            talk.prefix = line_from_json(
                json.loads(json.dumps(line_to_json(talk.prefix)))
            )
            talk.key = "after the restart"
            with suppress(ProviderFault):
                await talk.ask()
    before, after = (asked.raw for asked in server.requests[1:3])
    assert parts_of(after) == parts_of(before)
    sent = json.dumps(ODD[wire], ensure_ascii=False, separators=(",", ":"))
    assert sent.strip("{}").encode() in after


async def test_blocks_that_the_service_would_refuse_back_are_left_out(catalog):
    blocks = (
        Block({"type": "text", "text": " "}),
        Block({"type": "thinking", "thinking": "cut off", "signature": ""}),
        Block({"type": "text", "text": "said"}),
    )
    model = "anthropic/claude-sonnet-5-5"
    with ModelServer(lambda asked: Reply(blocks), thinking=False) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("go")
            await talk.ask("on")
    assert server.refusals == []
    assert len(first.own["content"]) == 3
    assert server.requests[1].messages[1]["content"] == [
        {"type": "text", "text": "said"}
    ]


async def test_reasoning_that_led_nowhere_is_left_out(catalog):
    with ModelServer(lambda asked: Reply((), stop="max_tokens")) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider("responding/gpt-5.4"), "responding/gpt-5.4")
            first = await talk.ask("go")
            await talk.ask("on")
    assert server.refusals == []
    assert first.stop is Stop.LENGTH
    assert first.own["content"][0]["type"] == "reasoning"
    assert server.requests[1].messages[1]["content"] == "(no answer)"


async def test_reasoning_items_go_back_as_they_came(catalog):
    with ModelServer(writes_then_ends) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider("responding/gpt-5.4"), "responding/gpt-5.4")
            first = await talk.ask("go")
            talk.results("ok")
            await talk.ask()
    assert server.refusals == []
    items = server.requests[1].messages[1:4]
    assert items == first.own["content"]
    assert items[0]["encrypted_content"]
    assert server.requests[0].body["store"] is False


async def test_another_model_gets_the_conversation_in_canonical_form(catalog):
    with ModelServer(writes_then_ends) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider("openai/gpt-5.4"), "openai/gpt-5.4")
            await talk.ask("go")
            talk.results("ok")
            other = "anthropic/claude-opus-5-5"
            talk.moved(models.provider(other), other)
            await talk.ask()
            talk.results("ok")
            third = "anthropic/claude-haiku-4-5"
            talk.moved(models.provider(third), third)
            await talk.ask()
            talk.moved(models.provider("responding/gpt-5.4"), "responding/gpt-5.4")
            await talk.ask("once more")
    assert server.refusals == []
    content = server.requests[2].messages[1]["content"]
    assert [block["type"] for block in content] == ["text", "tool_use"]
    carried = server.requests[2].messages[3]["content"]
    assert [block["type"] for block in carried] == ["tool_use", "tool_use"]


async def test_stops_are_told_apart(wire, model, catalog):
    wanted = {"max_tokens": Stop.LENGTH, "refusal": Stop.REFUSAL}
    if wire == "messages":
        wanted |= {
            "pause_turn": Stop.PAUSE,
            "model_context_window_exceeded": Stop.CONTEXT,
            "stop_sequence": Stop.END,
        }
    for stop, meant in wanted.items():
        with ModelServer(lambda _, stop=stop: say("half", stop=stop)) as server:
            async with catalog(server) as models:
                answer = await Talk(models.provider(model), model).ask("go")
        assert answer.stop is meant, stop


@pytest.mark.parametrize("mute", [Reply(()), say(""), say(" \n")])
async def test_an_answer_without_words_does_not_spoil_the_conversation(
    model, catalog, mute
):
    with ModelServer(lambda asked: mute if asked.turn == 1 else "hm") as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            first = await talk.ask("go")
            second = await talk.ask("   ")
    assert server.refusals == []
    assert (first.text.strip(), second.text) == ("", "hm")


async def test_effort_is_passed_on_only_where_the_model_takes_it(wire, model, catalog):
    plain = {
        "messages": "anthropic/claude-sonnet-4-5",
        "chat": "openai/gpt-4o",
        "responses": "responding/gpt-4o",
        "gemini": "gemini/gemini-2.0-flash",
    }[wire]
    with ModelServer(lambda _: "ok") as server:
        async with catalog(server) as models:
            for name in (model, plain):
                options = {"effort": "high", "temperature": 0.5, "max_tokens": 9}
                await Talk(models.provider(name), name, options=options).ask("hi")
    new, old = (asked.body for asked in server.requests)
    assert server.refusals == []
    assert "high" in json.dumps(new)
    assert "high" not in json.dumps(old)
    if wire == "gemini":
        assert new["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "high"}
        assert old["generationConfig"]["temperature"] == 0.5
    else:
        assert "temperature" not in new
        assert old["temperature"] == 0.5


async def test_cache_marks_stand_at_the_system_prompt_and_at_the_end(catalog):
    model = "anthropic/claude-sonnet-5-5"
    with ModelServer(lambda _: "ok") as server:
        async with catalog(server) as models:
            await Talk(models.provider(model), model).ask("hi")
    body = server.requests[0].body
    assert body["cache_control"] == {"type": "ephemeral"}
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}


async def test_after_a_wide_turn_the_last_end_is_marked_too(catalog):
    model = "anthropic/claude-sonnet-5-5"

    def script(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return [call("write_file", path=str(number)) for number in range(12)]
        return "ok"

    with ModelServer(script) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            await talk.ask("hi")
            talk.results("ok")
            await talk.ask()
            await talk.ask("thanks")
    assert server.refusals == []
    marked = server.requests[1].messages[0]["content"][-1]
    assert marked["cache_control"] == {"type": "ephemeral"}
    assert (
        "cache_control"
        not in server.requests[2]
        .raw.decode()
        .split('"messages"')[1][: -len('"cache_control":{"type":"ephemeral"}}')]
    )


async def test_connections_are_used_again(model, catalog):
    with ModelServer(lambda _: "ok") as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            for _ in range(5):
                await talk.ask("more")
    assert server.connections == 1


async def test_half_characters_do_not_break_a_request(model, catalog):
    with ModelServer(lambda _: "ok") as server:
        async with catalog(server) as models:
            await Talk(models.provider(model), model).ask("a \ud83d b")
    assert server.refusals == []
    assert server.requests[0].last_user == "a ? b"


async def test_every_request_has_the_headers_of_the_first(wire, model, catalog):
    """Whether it went by way of the SDK or straight through its client."""
    with ModelServer(lambda asked: "One. " * asked.turn) as server:
        async with catalog(server) as models:
            talk = Talk(models.provider(model), model)
            for words in ("a", "b", "c" * 999):
                await talk.ask(words)
    assert server.refusals == []
    first, *others = (dict(asked.headers) for asked in server.requests)
    assert len({asked.path for asked in server.requests}) == 1
    assert first.pop("content-length")
    for headers in others:
        assert headers.pop("content-length") != "0"
        assert headers == first


async def test_a_refusal_after_an_answer_is_told_like_one_before_it(
    wire, model, catalog
):
    told = []
    for number in (1, 2):
        refused = Failure(429, message="slow down", headers={"retry-after": "7"})
        answers = ["One.", refused][-number:]
        with ModelServer(lambda asked, said=answers: said[asked.turn - 1]) as server:
            async with catalog(server) as models:
                talk = Talk(models.provider(model), model)
                for _ in answers[1:]:
                    await talk.ask("a")
                with pytest.raises(ProviderFault) as caught:
                    await talk.ask("b")
        fault = caught.value
        words = fault.words.replace(server.base_url, "")
        told.append((fault.kind, words, fault.retry_after))
    assert told[0] == told[1]
