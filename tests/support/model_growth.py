"""What ties a request of the model server to those before it: prompts only grow."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.model_asked import Asked


# What Gemini takes for calls that it did not make itself.
UNSIGNED = "skip_thought_signature_validator"


class Refused(Exception):
    """The request is one that the service would refuse with 400."""


def bond(asked: Asked, messages: list[dict[str, Any]]) -> str:
    """What stands for everything up to a place: model, system, tools, messages."""
    tools = asked.body.get("tools")
    kept = [asked.wire, asked.model, asked.system, tools, _unmarked(messages)]
    text = json.dumps(_unmarked(kept), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def before_last_answer(asked: Asked) -> list[dict[str, Any]] | None:
    """The messages that the last answer in a request was given to."""
    starts = answer_starts(asked)
    return asked.messages[: starts[-1]] if starts else None


def answer_starts(asked: Asked) -> list[int]:
    """Where each answer begins in the list of messages or items."""
    starts = []
    previous = False
    for index, message in enumerate(asked.messages):
        kind = message.get("type", "message")
        mine = message.get("role") in ("assistant", "model") or kind in (
            "reasoning",
            "function_call",
        )
        if mine and not previous:
            starts.append(index)
        previous = mine
    return starts


def check_bonds(asked: Asked, signed: set[str]) -> None:
    """Thinking is bound to what came before it: the service knows its own."""
    starts = answer_starts(asked)
    for start in starts:
        expected = bond(asked, asked.messages[:start])
        for signature in _signatures(asked, start):
            if signature not in signed:
                raise Refused("Invalid `signature` in `thinking` block")
            if signature != expected:
                raise Refused(
                    f"messages.{start}: thinking block is bound to a different "
                    "conversation: system, tools or an earlier message has changed"
                )


def _signatures(asked: Asked, start: int) -> Iterator[str]:
    if asked.wire == "chat":
        return
    if asked.wire == "gemini":
        for part in asked.messages[start]["parts"]:
            if part.get("thoughtSignature", UNSIGNED) != UNSIGNED:
                yield part["thoughtSignature"]
        return
    if asked.wire == "responses":
        item = asked.messages[start]
        if item.get("type") == "reasoning":
            yield str(item["encrypted_content"])
        return
    content = asked.messages[start].get("content")
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "thinking":
            yield str(block.get("signature"))


def _unmarked(value: Any) -> Any:
    """The same without cache marks, which are no part of what was said."""
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    return value
