"""A conversation as it is kept: one line for each message, appended, never edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolCall, ToolSpec
    from agiraph.model.usage import Headroom, Usage


class Stop(Enum):
    """Why a model stopped."""

    END = "end"  # it had said what it wanted
    TOOLS = "tools"  # it waits for the results of its calls
    LENGTH = "length"  # the answer's maximum was reached
    REFUSAL = "refusal"  # it, or a filter, refused
    PAUSE = "pause"  # the service wants to be asked again with what it said
    CONTEXT = "context"  # the window is full


class Kind(Enum):
    """Why a user line stands in a conversation."""

    BRIEF = "brief"  # what opens a run or a node
    MAIL = "mail"  # a message from somebody
    NOTICE = "notice"  # the daemon tells what happened or what is wrong
    OPENING = "opening"  # what goes on from a conversation that was put away


@dataclass(frozen=True, slots=True)
class SystemLine:
    """The frozen prefix that opens a session.

    Attributes:
        session: 1 for the first; counts up within one file.
        model: the whole name, `provider/model`.
        content: the system prompt.
        tools: the tools in their frozen order.
        node: the node that a worker's session is about.
        why: what opened it, e.g. `start`, `model changed`.
        carries: the earlier session's lines go on in it, in canonical form.
        resumes: the lines of its node's last session go on in it.
        compacted: how many compactions in a row, this one included, had next to no
            turn between them; 0 where none opened the session.
        turns: model calls of the same assignment before the compaction.
    """

    ts: str
    session: int
    model: str
    content: str
    tools: tuple[ToolSpec, ...]
    node: str | None = None
    why: str = "start"
    carries: bool = False
    resumes: bool = False
    compacted: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True)
class UserLine:
    """Text that the model reads as the user's.

    Attributes:
        ids: ids of the messages or notices that are hereby delivered.
    """

    ts: str
    content: str
    kind: Kind
    sender: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantLine:
    """One answer of the model, as received.

    Attributes:
        turn: number of the model call within the session, from 1.
        own: the provider's own form, sent again unchanged: `wire` and `content`.
    """

    ts: str
    turn: int
    model: str
    content: str
    tool_calls: tuple[ToolCall, ...]
    stop: Stop
    usage: Usage
    own: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolLine:
    """The result of one tool call.

    Attributes:
        turn: the assistant line's turn that asked for it.
        index: which of that turn's calls, from 0.
        call_id: the provider's id of the call.
        ids: ids of the messages or notices that are hereby delivered.
    """

    ts: str
    turn: int
    index: int
    call_id: str
    name: str
    content: str
    error: bool = False
    ids: tuple[str, ...] = ()


Line: TypeAlias = SystemLine | UserLine | AssistantLine | ToolLine
Spoken: TypeAlias = UserLine | AssistantLine | ToolLine


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    Attributes:
        prefix: the session's frozen first line.
        lines: everything after it, in order; between two assistant lines the tool
            results come first, one for each call, then the user lines.
        max_tokens: the longest answer, in tokens.
        options: passed on where the model takes them, e.g. `effort`.
        key: the same for all calls of one session; for cache routing only.
    """

    prefix: SystemLine
    lines: tuple[Spoken, ...]
    max_tokens: int
    options: JsonObject
    key: str

    @property
    def model(self) -> str:
        return self.prefix.model


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered; half an answer is none.

    Attributes:
        own: the provider's own form of it: `{"wire": …, "content": …}`.
        cost_usd: what the service itself says it cost, where it does.
        id: the service's id of the answer, for its support.
        headroom: what the service says is left of each of its limits.
        cache_miss: why the service says that its cache did not serve the prompt.
    """

    text: str
    calls: tuple[ToolCall, ...]
    stop: Stop
    usage: Usage
    own: JsonObject
    cost_usd: float | None = None
    id: str = ""
    headroom: tuple[Headroom, ...] = ()
    cache_miss: str = ""
