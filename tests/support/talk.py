"""A conversation that a test leads with a provider, line by line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agiraph.model.conversation import (
    Answer,
    AssistantLine,
    Kind,
    Request,
    Spoken,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.tool import ToolSpec

if TYPE_CHECKING:
    from agiraph.ports import Provider

TS = "2026-11-21T12:00:00+00:00"
TOOL = ToolSpec(
    "write_file",
    "Write a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


def user(text: str) -> UserLine:
    return UserLine(TS, text, Kind.MAIL, "human")


class Talk:
    """Keeps the lines as the runtime does: appended, never changed."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        system: str = "You are the coordinator.",
        tools: tuple[ToolSpec, ...] = (TOOL,),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.provider = provider
        self.prefix = SystemLine(TS, 1, model, system, tools)
        self.lines: tuple[Spoken, ...] = ()
        self.options = options or {}
        self.max_tokens = 1024
        self.key = "session-1"

    def request(self) -> Request:
        return Request(self.prefix, self.lines, self.max_tokens, self.options, self.key)

    def tell(self, *texts: str) -> None:
        self.lines += tuple(user(text) for text in texts)

    async def ask(self, *texts: str) -> Answer:
        """Tell, ask, and append the answer."""
        self.tell(*texts)
        answer = await self.provider.ask(self.request())
        self.take(answer)
        return answer

    def take(self, answer: Answer) -> None:
        turn = 1 + sum(isinstance(line, AssistantLine) for line in self.lines)
        self.lines += (
            AssistantLine(
                TS,
                turn,
                self.prefix.model,
                answer.text,
                answer.calls,
                answer.stop,
                answer.usage,
                answer.own,
            ),
        )

    def results(self, *texts: str, error: bool = False) -> None:
        """The results of the last answer's calls; the last text serves for the rest."""
        line = self.lines[-1]
        assert isinstance(line, AssistantLine)
        for index, one in enumerate(line.tool_calls):
            text = texts[min(index, len(texts) - 1)]
            self.lines += (
                ToolLine(TS, line.turn, index, one.id, one.name, text, error),
            )

    def reread(self) -> None:
        """The same lines as other objects, as after a restart."""
        self.lines = tuple(replace(line) for line in self.lines)
        self.prefix = replace(self.prefix)

    def moved(self, provider: Provider, model: str) -> None:
        """A new session with another model that carries the lines on."""
        self.provider = provider
        self.prefix = replace(self.prefix, session=2, model=model)
        self.key = "session-2"
