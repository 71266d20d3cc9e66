"""What a model's service speaks: the shape that all wires share."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from agiraph.model.conversation import AssistantLine, ToolLine, UserLine
from agiraph.model.tool import ToolCall

if TYPE_CHECKING:
    from agiraph.model.conversation import Answer, Request, Spoken, SystemLine
    from agiraph.model.json import Json, JsonObject
    from agiraph.providers.sse import Event

NO_OUTPUT = "(no output)"
NO_TEXT = "(empty message)"
NO_ANSWER = "(no answer)"
_NOT_ID = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What stands between two answers: results of calls first, then texts."""

    results: tuple[ToolLine, ...]
    texts: tuple[UserLine, ...]


Turn: TypeAlias = UserTurn | AssistantLine


class Fragment(NamedTuple):
    """One turn as it goes over the wire.

    Attributes:
        data: JSON messages or items, joined by commas.
        blocks: how many content blocks it holds.
    """

    data: bytes
    blocks: int


class Hearing(Protocol):
    """Puts one answer together from its events."""

    def hear(self, event: Event) -> bool:
        """Take one event; True when it was the closing one.

        Raises:
            ProviderFault: the event is broken, or reports an error.
        """

    def whole(self, body: str) -> bool:
        """Take an answer that came in one piece; False where it is none of this wire.

        Raises:
            ProviderFault: it reports an error.
        """

    def answer(self) -> Answer:
        """The whole answer.

        Raises:
            ProviderFault: the stream ended before its closing event.
        """


class Wire(Protocol):
    """One protocol. Knows no network; the same request gives the same bytes."""

    name: str
    path: str

    def head(self, prefix: SystemLine) -> bytes:
        """The body up to the list of turns: model, system prompt and tools."""

    def turn(self, turn: Turn, model: str) -> Fragment:
        """One turn; its bytes depend on nothing but the turn and the model."""

    def tail(self, request: Request) -> bytes:
        """What closes the list of turns and the body."""

    def joined(self, fragments: list[Fragment]) -> bytes:
        """The turns in order, with cache marks where the wire wants them."""

    def hearing(self, request: Request, size: int) -> Hearing:
        """An ear for the answer to a body of `size` bytes."""


def turns(lines: tuple[Spoken, ...], start: int) -> list[tuple[int, Turn]]:
    """The turns from line `start` on, each with the index behind its last line."""
    found: list[tuple[int, Turn]] = []
    index = start
    while index < len(lines):
        line = lines[index]
        if isinstance(line, AssistantLine):
            index += 1
            found.append((index, line))
            continue
        end = index
        while end < len(lines) and not isinstance(lines[end], AssistantLine):
            end += 1
        found.append((end, _user_turn(lines[index:end])))
        index = end
    return found


def _user_turn(lines: tuple[Spoken, ...]) -> UserTurn:
    return UserTurn(
        results=tuple(line for line in lines if isinstance(line, ToolLine)),
        texts=tuple(line for line in lines if isinstance(line, UserLine)),
    )


def compact(value: object) -> bytes:
    """JSON in as few bytes as it takes; half characters become question marks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def own_content(line: AssistantLine, wire: str, model: str) -> Json:
    """The provider's own form of an answer, or None where it must not be sent.

    It goes back only to the model that it came from: thinking and signatures are
    bound to it. Everything else gets the canonical form.
    """
    if line.own.get("wire") != wire or line.model != model:
        return None
    return line.own.get("content")


def wire_id(call_id: str) -> str:
    """A call's id with only the characters and the length that every wire takes."""
    return _NOT_ID.sub("_", call_id)[:64] or "call"


def texts_joined(texts: tuple[UserLine, ...]) -> str:
    """Several texts as one, parted by blank lines."""
    return "\n\n".join(text.content for text in texts) or NO_TEXT


def read_call(call_id: str, name: str, written: str) -> ToolCall:
    """A call from what the model wrote as its arguments; no text is no arguments."""
    if not written.strip():
        return ToolCall(call_id, name, {})
    try:
        arguments = json.loads(written, parse_constant=_refused)
    except (ValueError, RecursionError):
        return ToolCall(call_id, name, None, broken=written)
    if not isinstance(arguments, dict):
        return ToolCall(call_id, name, None, broken=written)
    return ToolCall(call_id, name, arguments)


def in_one_piece(body: str, *keys: str) -> dict[str, object] | None:
    """An answer that came in one piece, or None where it is none of this wire.

    Args:
        body: what came.
        keys: of which an answer of this wire has one; an error has `error`.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    return data if data.get("error") or any(key in data for key in keys) else None


def count(value: object, *path: str) -> int:
    """A number of tokens somewhere in a usage object; 0 where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) and value > 0 else 0


def made_id(request: Request, index: int) -> str:
    """An id for a call that came without one: by its place in the conversation."""
    turn = sum(isinstance(line, AssistantLine) for line in request.lines) + 1
    return f"call_{turn}_{index}"


def arguments_of(call: ToolCall) -> JsonObject:
    """The arguments that stand for a call; a broken one is sent as `{}`.

    What the model wrote instead stays in `ToolCall.broken`; services refuse a
    conversation that holds arguments which are no JSON object.
    """
    return call.arguments if call.arguments is not None else {}


def bare(model: str) -> str:
    """The model's name at its service: `openai/gpt-4o` is `gpt-4o` there."""
    return model.partition("/")[2] or model


def _refused(constant: str) -> float:
    msg = f"{constant} is no JSON"
    raise ValueError(msg)


def grown(old: object, more: object) -> object:
    """A part of a streamed answer with what came next: texts and lists are added to."""
    if isinstance(old, str) and isinstance(more, str):
        return old + more
    if isinstance(old, list) and isinstance(more, list):
        return old + more
    return more
