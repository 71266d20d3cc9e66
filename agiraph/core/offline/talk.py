"""A conversation as a list of what was asked for and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model.conversation import AssistantLine, Kind, ToolLine, UserLine
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agiraph.model.conversation import Request, Spoken
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolCall

CHECKPOINT = "checkpoint"


@dataclass(frozen=True, slots=True)
class Move:
    """What is said next: text, and calls by the tool's name and arguments."""

    text: str = ""
    calls: tuple[tuple[str, JsonObject], ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """A call with its result."""

    name: str
    arguments: JsonObject
    result: str
    error: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """What has happened since the work at hand began.

    Attributes:
        system: the frozen system prompt; tools: the names of its tools.
        node: the node that a worker works on; None for the coordinator.
        brief: what opened the run or node.
        done: the calls that have a result, in order.
        told: what others have said since then, the brief left out.
        fresh: the part of it that came since the last answer.
        earlier: the calls before all this.
    """

    system: str
    tools: frozenset[str]
    node: str | None
    brief: str
    done: tuple[Done, ...]
    told: tuple[UserLine, ...]
    fresh: tuple[UserLine, ...]
    earlier: tuple[Done, ...]

    def calls_of(self, name: str) -> Iterator[Done]:
        """The calls of one tool."""
        return (done for done in self.done if done.name == name)

    def call(self, name: str, **arguments: str) -> Done | None:
        """The last call of a tool with these arguments among its own."""
        for done in reversed(self.done):
            if done.name == name and arguments.items() <= done.arguments.items():
                return done
        return None

    def succeeded(self, name: str) -> Done | None:
        """The last call of a tool that did what it should."""
        good = (done for done in reversed(self.done) if not done.error)
        return next((done for done in good if done.name == name), None)

    @property
    def last(self) -> Done | None:
        """The last call of all."""
        return self.done[-1] if self.done else None

    @property
    def mail(self) -> tuple[UserLine, ...]:
        """What a person has written since the last answer."""
        return tuple(
            line
            for line in self.fresh
            if line.kind is Kind.MAIL and line.sender == HUMAN
        )


def talk_of(request: Request) -> Talk:
    """What a request says, from its last brief or finished cycle on."""
    start = _start(request.lines)
    lines = request.lines[start:]
    users = [line for line in lines if isinstance(line, UserLine)]
    brief = users[0].content if users and users[0].kind is Kind.BRIEF else ""
    return Talk(
        system=request.prefix.content,
        tools=frozenset(tool.name for tool in request.prefix.tools),
        node=request.prefix.node,
        brief=brief,
        done=tuple(_done(lines)),
        told=tuple(line for line in users if line.kind is not Kind.BRIEF),
        fresh=_fresh(lines),
        earlier=tuple(_done(request.lines[:start])),
    )


def _start(lines: Sequence[Spoken]) -> int:
    """Where the work at hand begins."""
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if isinstance(line, UserLine) and line.kind is Kind.BRIEF:
            return at
        if isinstance(line, ToolLine) and line.name == CHECKPOINT and not line.error:
            return at + 1
    return 0


def _done(lines: Sequence[Spoken]) -> Iterator[Done]:
    """Calls and results paired within one answer; a session's numbers may repeat."""
    calls: tuple[ToolCall, ...] = ()
    for line in lines:
        if isinstance(line, AssistantLine):
            calls = line.tool_calls
        elif isinstance(line, ToolLine) and line.index < len(calls):
            call = calls[line.index]
            yield Done(line.name, call.arguments or {}, line.content, line.error)


def _fresh(lines: Sequence[Spoken]) -> tuple[UserLine, ...]:
    found: list[UserLine] = []
    for line in lines:
        if isinstance(line, AssistantLine):
            found = []
        elif isinstance(line, UserLine) and line.kind is not Kind.BRIEF:
            found.append(line)
    return tuple(found)
