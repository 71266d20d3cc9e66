"""What a script of the model server may answer, and how each wire says it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Say:
    """Text."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call; `broken` is sent instead of the arguments where it is set."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    broken: str | None = None
    id: str = ""


@dataclass(frozen=True)
class Block:
    """A content block or output item of one wire, sent as it is."""

    value: dict[str, Any]


Part: TypeAlias = Say | Call | Block


@dataclass(frozen=True)
class Reply:
    """A whole answer.

    Attributes:
        stop: in the words of the Messages wire: end_turn, tool_use, max_tokens …;
            "" is what the parts imply.
        usage: input, output, cache_read, cache_write, and cost where the service
            names it; made up where it is None.
        delay: seconds before the first byte.
        cut: how many events are sent before the connection is closed; None is all.
        stall: how many events are sent before it falls silent; None is all.
        spoil: number of the event whose data is cut in half; None is none.
        error: an error event (type, message) in place of the end.
    """

    parts: tuple[Part, ...]
    stop: str = ""
    usage: dict[str, float] | None = None
    delay: float = 0.0
    cut: int | None = None
    stall: int | None = None
    spoil: int | None = None
    error: tuple[str, str] | None = None


@dataclass(frozen=True)
class Failure:
    """An answer with an error status, or a web page."""

    status: int
    type: str = ""
    message: str = "it failed on purpose"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    page: str = ""


@dataclass(frozen=True)
class Hang:
    """No answer at all for so many seconds, then a closed connection."""

    seconds: float = 30.0


Scripted: TypeAlias = "Reply | Failure | Hang | Part | str | list[Part | str]"


@dataclass(frozen=True)
class Said:
    """What a reply needs beside its parts.

    Attributes:
        bond: stands for the conversation so far; what thinking is signed with.
    """

    id: str
    model: str
    bond: str
    thinking: bool
    usage: dict[str, Any]


Event: TypeAlias = tuple[str, dict[str, Any] | str]


def say(text: str, *calls: Call, **how: Any) -> Reply:
    """A text, perhaps with calls after it."""
    return Reply((Say(text), *calls), **how)


def call(name: str, /, **arguments: Any) -> Call:
    """One call; put several into a list."""
    return Call(name, arguments)


def broken_call(name: str, written: str) -> Call:
    """A call whose arguments are no JSON object."""
    return Call(name, broken=written)


def fail(
    status: int,
    *,
    retry_after: float | str | None = None,
    message: str = "it failed on purpose",
    code: str | None = None,
    kind: str = "",
) -> Failure:
    """An error as the services send it."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Failure(
        status, kind or _TYPES.get(status, "api_error"), message, code, headers
    )


def page(status: int = 200) -> Failure:
    """A web page, as a proxy or a login sends it."""
    html = "<!DOCTYPE html><html><body>Please log in</body></html>"
    return Failure(status, page=html)


def cut(reply: Scripted, after: int = 2) -> Reply:
    """The reply, its connection closed after so many events."""
    return replace(whole(reply), cut=after)


def spoiled(reply: Scripted, event: int = 2) -> Reply:
    """The reply with one event that is no JSON."""
    return replace(whole(reply), spoil=event)


def error_event(kind: str = "overloaded_error", message: str = "Overloaded") -> Reply:
    """A stream that begins well and ends with an error event."""
    return Reply((Say("I was about to"),), error=(kind, message))


def hang(seconds: float = 30.0) -> Hang:
    """No answer."""
    return Hang(seconds)


def whole(scripted: Scripted) -> Any:
    """What a script returned, as a Reply where it is one."""
    match scripted:
        case Reply() | Failure() | Hang():
            return scripted
        case str():
            return Reply((Say(scripted),))
        case list():
            parts = (Say(one) if isinstance(one, str) else one for one in scripted)
            return Reply(tuple(parts))
        case Say() | Call() | Block():
            return Reply((scripted,))
    msg = f"a script may not answer {scripted!r}"
    raise TypeError(msg)


_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def failure_body(wire: str, failure: Failure) -> dict[str, Any]:
    """The error in the shape of the wire's service."""
    kind = failure.type or _TYPES.get(failure.status, "api_error")
    error: dict[str, Any] = {"type": kind, "message": failure.message}
    if wire == "messages":
        return {"type": "error", "error": error, "request_id": "req_test"}
    if wire == "gemini":
        about = {"code": failure.status, "message": failure.message, "status": kind}
        details = [{"reason": failure.code}] if failure.code else []
        return {"error": about | {"details": details}}
    return {"error": error | {"param": None, "code": failure.code}}


def stop_of(reply: Reply) -> str:
    """Why it stopped, in the words of the Messages wire."""
    if reply.stop:
        return reply.stop
    called = any(isinstance(part, Call) for part in reply.parts)
    return "tool_use" if called else "end_turn"


def identified(reply: Reply, number: int) -> Reply:
    """The reply with an id for each call that has none."""
    parts = tuple(
        replace(part, id=part.id or f"call_{number:05d}_{index}")
        if isinstance(part, Call)
        else part
        for index, part in enumerate(reply.parts)
    )
    return replace(reply, parts=parts)


def halves(text: str) -> list[str]:
    """A text in two pieces, as streams bring it."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece] or [""]


def written(call_part: Call) -> str:
    """The arguments as the model wrote them."""
    if call_part.broken is not None:
        return call_part.broken
    return json.dumps(call_part.arguments, ensure_ascii=False)
