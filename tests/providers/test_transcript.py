from __future__ import annotations

import json

from agiraph.providers.anthropic import MessagesWire
from agiraph.providers.faults import Service
from agiraph.providers.sse import Decoder, Event
from agiraph.providers.transcript import Transcripts
from tests.support.talk import Talk, user

WIRE = MessagesWire(Service("anthropic", "http://h"))


class Silent:
    """A provider that is never asked."""

    async def ask(self, request: object) -> None:
        raise AssertionError

    async def close(self) -> None:
        pass


def talk() -> Talk:
    made = Talk(Silent(), "anthropic/claude-opus-5-5")  # type: ignore[arg-type]
    made.tell("one")
    return made


def said(body: bytes) -> list[str]:
    content = json.loads(body)["messages"][0]["content"]
    return [block["text"] for block in content]


def test_a_turn_that_has_grown_since_the_last_call_is_rendered_anew():
    led, transcripts = talk(), Transcripts(WIRE)
    transcripts.body(led.request())
    led.tell("two")
    assert said(transcripts.body(led.request())) == ["one", "two"]


def test_lines_that_differ_are_never_taken_from_what_was_kept():
    led, transcripts = talk(), Transcripts(WIRE)
    transcripts.body(led.request())
    led.lines = (user("another"),)
    assert said(transcripts.body(led.request())) == ["another"]


def test_sessions_with_one_key_but_another_prefix_are_kept_apart():
    led, transcripts = talk(), Transcripts(WIRE)
    transcripts.body(led.request())
    led.prefix = Talk(Silent(), "anthropic/x", system="other").prefix  # type: ignore[arg-type]
    body = json.loads(transcripts.body(led.request()))
    assert body["system"][0]["text"] == "other"
    assert body["model"] == "x"


def test_what_is_kept_stays_below_its_limit():
    transcripts = Transcripts(WIRE, limit=1000)
    for number in range(50):
        led = talk()
        led.key = f"session-{number}"
        led.tell("x" * 200)
        assert said(transcripts.body(led.request()))[0] == "one"
    assert len(transcripts._kept) < 5
    assert transcripts._size <= 1000


def test_events_are_read_however_the_bytes_are_cut():
    stream = 'event: a\ndata: {"x":\r\ndata: 1}\r\n\r\n: note\n\ndata: Ä\n\ndata: end'
    whole = [Event("a", '{"x":\n1}'), Event("", "Ä"), Event("", "end")]
    raw = stream.encode()
    for size in (1, 2, 3, 7, len(raw)):
        decoder, found = Decoder(), []
        for start in range(0, len(raw), size):
            found += decoder.feed(raw[start : start + size])
        assert found + decoder.close() == whole
