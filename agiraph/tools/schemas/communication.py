"""The definitions of the tools that speak to others."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import (
    choice,
    define,
    duration,
    flag,
    record,
    text,
    texts,
)

CHANNELS: Final = ("cli", "webhook", "email")
SEND_MESSAGE: Final = define(
    "send_message",
    "Send a message to a worker, the coordinator, the human or everyone.",
    Who.ALL,
    Effect.OWN,
    record(
        {
            "to": text("A worker's name, coordinator, human, or * for everyone."),
            "content": text("The message."),
        },
        {"urgent": flag("Whether it is seen before the receiver's next tool call.")},
    ),
)
CHECK_MESSAGES: Final = define(
    "check_messages",
    "See what came since the last look. Messages also come by themselves.",
    Who.ALL,
    Effect.READS,
    record(),
)
ASK_HUMAN: Final = define(
    "ask_human",
    "Ask the person a question that only a person can answer.",
    Who.ALL,
    Effect.OWN,
    record(
        {"question": text("The question, with all that is needed to answer it.")},
        {
            "channel": choice(
                "Where to ask, besides the files. Default: as the person set it.",
                *CHANNELS,
            ),
            "options": texts("Answers to choose from."),
            "timeout": duration("How long to wait at most. Default: no limit."),
        },
    ),
)
