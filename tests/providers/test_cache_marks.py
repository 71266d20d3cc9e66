from __future__ import annotations

import json

from agiraph.model.conversation import AssistantLine, Request, Stop, SystemLine
from agiraph.model.usage import Usage
from agiraph.providers.anthropic import MessagesWire
from agiraph.providers.faults import Service
from agiraph.providers.sse import Event

WIRE = MessagesWire(Service("anthropic", "https://x"), diagnoses=True)


def prefix(who: str) -> SystemLine:
    content = f"Rules.\n\n## Who you are (identity.md)\n\nYou are {who}.\n"
    return SystemLine("", 1, "anthropic/m", content, ())


def test_workers_of_one_kind_share_a_marked_part_of_the_system_prompt() -> None:
    ada, ben = WIRE.head(prefix("Ada")), WIRE.head(prefix("Ben"))
    shared, own = json.loads(ada + b"]}")["system"]

    assert ada.startswith(ben[: ben.index(b"Who you are")])
    assert shared["text"] + own["text"] == prefix("Ada").content
    assert shared["cache_control"] == own["cache_control"] == {"type": "ephemeral"}


def test_the_service_is_told_which_answer_to_compare_with() -> None:
    own = {"wire": "messages", "id": "msg_1", "content": []}
    line = AssistantLine("", 1, "anthropic/m", "x", (), Stop.END, Usage(), own)

    def asked(*lines: AssistantLine) -> object:
        tail = WIRE.tail(Request(prefix("Ada"), lines, 100, {}, "k"))
        return json.loads(b"{" + tail.removeprefix(b"],"))["diagnostics"]

    assert asked(line) == {"previous_message_id": "msg_1"}
    assert asked() == {"previous_message_id": None}


def test_a_missed_cache_is_told_with_its_reason() -> None:
    hearing = WIRE.hearing(Request(prefix("Ada"), (), 100, {}, "k"), 10)
    reason = {"type": "tools_changed", "cache_missed_input_tokens": 9}
    said = {"id": "m", "usage": {}, "diagnostics": {"cache_miss_reason": reason}}
    for data in (
        {"type": "message_start", "message": said},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ):
        hearing.hear(Event("", json.dumps(data)))

    assert hearing.answer().cache_miss == "tools_changed"
