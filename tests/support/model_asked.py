"""A request as a script of the model server sees it, the same for all wires."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

COORDINATOR = "coordinator"


@dataclass(frozen=True)
class Called:
    """A call that the model made earlier."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """The result of a call, with the name of the tool.

    Attributes:
        error: whether it is marked as an error; None where the wire has no such mark.
    """

    id: str
    name: str
    text: str
    error: bool | None = False


@dataclass
class Turn:
    """One message of the conversation."""

    role: str  # user or assistant
    text: str = ""
    calls: list[Called] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass
class Asked:
    """One request.

    Attributes:
        number: counted over all requests of the server, from 1.
        wire: messages, chat, responses or gemini.
        body: the JSON as it came; raw: its bytes.
        refused: why the server refused it; "" where it did not.
    """

    number: int
    wire: str
    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any]
    refused: str = ""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The list that grows, in the wire's own form, without the system prompt."""
        key = {"responses": "input", "gemini": "contents"}.get(self.wire, "messages")
        found = self.body.get(key)
        listed = found if isinstance(found, list) else []
        return [m for m in listed if m.get("role") not in ("system", "developer")]

    @cached_property
    def system(self) -> str:
        """The system prompt; parts of it that a cache keeps apart are one text."""
        if self.wire == "messages":
            found = self.body.get("system", "")
            parts = found if isinstance(found, list) else [{"text": found}]
            return "".join(str(part["text"]) for part in parts)
        if self.wire == "responses":
            return str(self.body.get("instructions") or "")
        if self.wire == "gemini":
            return _text(self.body.get("systemInstruction", {}).get("parts"))
        roles = ("system", "developer")
        found = [m for m in self.body.get("messages", []) if m.get("role") in roles]
        return "\n\n".join(_text(message.get("content")) for message in found)

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools: name -> JSON Schema of the arguments."""
        found = {}
        for tool in self.declared:
            inner = tool.get("function", tool)
            keys = ("parameters", "input_schema", "parametersJsonSchema")
            schemas = (inner[key] for key in keys if inner.get(key))
            found[str(inner.get("name"))] = next(schemas, {})
        return found

    @property
    def declared(self) -> list[dict[str, Any]]:
        """The tools in the wire's own form, one by one."""
        listed = self.body.get("tools") or []
        if self.wire != "gemini":
            return listed
        return [one for group in listed for one in group["functionDeclarations"]]

    @cached_property
    def turns(self) -> list[Turn]:
        """The conversation, user and assistant in turn."""
        turns: list[Turn] = []
        names: dict[str, str] = {}
        for message in self.messages:
            role, text, calls, results = _read(self.wire, message)
            if not turns or turns[-1].role != role:
                turns.append(Turn(role))
            turn = turns[-1]
            turn.text = "\n\n".join(part for part in (turn.text, text) if part)
            turn.calls += calls
            names |= {one.id: one.name for one in calls}
            turn.results += [
                Result(r.id, names.get(r.id, r.name), r.text, r.error) for r in results
            ]
        return turns

    @property
    def turn(self) -> int:
        """Which answer of this conversation is wanted, from 1."""
        return sum(turn.role == "assistant" for turn in self.turns) + 1

    @property
    def first_user(self) -> str:
        """The text that opens the conversation: the brief."""
        return self.turns[0].text if self.turns else ""

    @property
    def last_user(self) -> str:
        """The texts since the last answer."""
        last = self.turns[-1] if self.turns else Turn("user")
        return last.text if last.role == "user" else ""

    @property
    def results(self) -> list[Result]:
        """The results of calls since the last answer."""
        last = self.turns[-1] if self.turns else Turn("user")
        return last.results

    @property
    def result(self) -> str:
        """The texts of these results together."""
        return "\n".join(result.text for result in self.results)

    @property
    def all_results(self) -> list[Result]:
        return [result for turn in self.turns for result in turn.results]

    @property
    def calls(self) -> list[Called]:
        """Every call made so far in this conversation."""
        return [one for turn in self.turns for one in turn.calls]

    @property
    def called(self) -> list[str]:
        """The names of these calls, in order."""
        return [one.name for one in self.calls]

    @property
    def all_text(self) -> str:
        """All that stands in the conversation, the system prompt included."""
        said = [turn.text for turn in self.turns]
        return "\n".join([self.system, *said, *(r.text for r in self.all_results)])

    @property
    def node(self) -> str | None:
        """The node that a worker's newest brief is about; None for the coordinator."""
        if self._leads:
            return None
        found = re.findall(r"^# Your node: (.+)$", self._told, re.MULTILINE)
        return found[-1].strip() if found else None

    @property
    def who(self) -> str:
        """`coordinator`, or the worker's name, or its node where no name is told."""
        if self._leads:
            return COORDINATOR
        found = re.search(
            r"^## Who you are.*\n+You are (.+?)(?:, |\.$)", self.system, re.MULTILINE
        ) or re.search(r"^You are ([^,.\n]+)", self.system, re.MULTILINE)
        if found:
            return found[1].strip()
        return self.node or "worker"

    @property
    def _leads(self) -> bool:
        return "You are the coordinator" in self.system

    @property
    def _told(self) -> str:
        return "\n".join(turn.text for turn in self.turns if turn.role == "user")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n\n".join(str(part["text"]) for part in parts if "text" in part)


def _read(
    wire: str, message: dict[str, Any]
) -> tuple[str, str, list[Called], list[Result]]:
    """Role, text, calls and results of one message or item."""
    if wire == "responses":
        return _read_item(message)
    if wire == "gemini":
        return _read_content(message)
    content = message.get("content")
    if wire == "chat":
        if message.get("role") == "tool":
            result = Result(str(message.get("tool_call_id")), "", _text(content), None)
            return "user", "", [], [result]
        calls = [
            Called(c["id"], c["function"]["name"], _object(c["function"]["arguments"]))
            for c in message.get("tool_calls") or []
        ]
        return str(message.get("role")), _text(content), calls, []
    if isinstance(content, str):
        return str(message.get("role")), content, [], []
    blocks = content if isinstance(content, list) else []
    text = _text([block for block in blocks if block.get("type") == "text"])
    calls = [
        Called(b["id"], b["name"], _object(b["input"]))
        for b in blocks
        if b.get("type") == "tool_use"
    ]
    results = [
        Result(b["tool_use_id"], "", _text(b.get("content")), bool(b.get("is_error")))
        for b in blocks
        if b.get("type") == "tool_result"
    ]
    return str(message.get("role")), text, calls, results


def _read_item(item: dict[str, Any]) -> tuple[str, str, list[Called], list[Result]]:
    kind = item.get("type", "message")
    if kind == "function_call":
        called = Called(item["call_id"], item["name"], _object(item["arguments"]))
        return "assistant", "", [called], []
    if kind == "function_call_output":
        return (
            "user",
            "",
            [],
            [Result(item["call_id"], "", _text(item["output"]), None)],
        )
    if kind == "message":
        return str(item.get("role")), _text(item.get("content")), [], []
    return "assistant", "", [], []


def _read_content(
    content: dict[str, Any],
) -> tuple[str, str, list[Called], list[Result]]:
    parts = content.get("parts") or []
    role = "assistant" if content.get("role") == "model" else "user"
    # A part without words is there for its signature only.
    said_ = [part for part in parts if part.get("text") and not part.get("thought")]
    text = _text(said_)
    calls, results = [], []
    for number, part in enumerate(parts):
        called, answered = part.get("functionCall"), part.get("functionResponse")
        if called:
            ident = called.get("id") or f"{called['name']}#{number}"
            calls.append(Called(ident, called["name"], _object(called.get("args"))))
        if answered:
            said = answered["response"]
            text_ = str(said.get("output", said.get("error")))
            ident = answered.get("id") or f"{answered['name']}#{number}"
            results.append(Result(ident, answered["name"], text_, "error" in said))
    return role, text, calls, results


def _object(written: Any) -> dict[str, Any]:
    if isinstance(written, str):
        try:
            written = json.loads(written)
        except ValueError:
            return {}
    return written if isinstance(written, dict) else {}
