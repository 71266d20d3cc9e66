"""What a seed makes the models say: each speaker's steps, drawn and never remembered.

What a model says next hangs only on its conversation: the id of each call names its
step, so that the steps that have their results can be told from those that have not.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.model.conversation import (
    Answer,
    AssistantLine,
    Kind,
    Stop,
    ToolLine,
    UserLine,
)
from agiraph.model.names import HUMAN
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.model.conversation import Request, Spoken
    from agiraph.model.json import Json

WORKERS = ("alice", "bob", "Carol Ann")
_BLOCKS = frozenset({"wait", "ask_human"})
_STEP = re.compile(r"_s(\w+)$")
_ENDED = re.compile(r"\[node (\S+) (failed|checkpointed)")
_OPEN = re.compile(r"([\w.-]+) \((\w+)\)")


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a plan; `{mark}` in its texts becomes a text of its own."""

    tool: str
    arguments: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spoke:
    """One call that a conversation shows, with its result."""

    step: str
    name: str
    content: str
    error: bool


class Parts:
    """What each speaker of one seed says."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def answer(self, request: Request) -> Answer:
        """The answer to one request: the same for the same request."""
        agent, who, _ = request.key.split("/")
        if not request.prefix.tools:
            said: Sequence[tuple[str, Step]] = ()
            text = f"All of it in one go. {self.mark(request, 'single')}"
        elif _is_reflection(request.lines):
            said, text = (), f"learned {self.mark(request, 'reflect')}"
        elif who == "coordinator":
            said, text = _Coordinator(self, agent, request).next()
        else:
            said, text = _Worker(self, agent, who, request).next()
        return _as_answer(request, said, text)

    def mark(self, request: Request, step: str) -> str:
        """A text that stands for one step of one session, and for nothing else."""
        agent, who, _ = request.key.split("/")
        return f"m.{agent}.{who}.{_session(request)}.{step}.m"

    def chance(self, *words: object) -> random.Random:
        """Draws that hang on the seed and on these words alone."""
        return random.Random("/".join(map(str, (self._seed, *words))))

    # --- plans

    def lead(self, agent: str, run: int) -> list[Step]:
        """What the coordinator does in one run."""
        draw = self.chance(agent, "lead", run)
        steps = [_append("_plan.md")]
        nodes = [f"n{number}" for number in range(draw.randint(1, 4))]
        for number, node in enumerate(nodes):
            steps.append(
                Step("create_work_node", self._node(draw, nodes[:number], node))
            )
        for _ in range(draw.randint(0, 5)):
            steps.insert(draw.randint(1, len(steps)), self._aside(draw))
        return steps

    def _node(
        self, draw: random.Random, earlier: list[str], node: str
    ) -> dict[str, Json]:
        spec: dict[str, Json] = {"id": node, "task": f"Do {node}. {{mark}}"}
        if earlier and draw.random() < 0.5:
            spec["depends_on"] = [draw.choice(earlier)]
        if earlier and draw.random() < 0.3:
            needed = draw.choice(earlier)
            spec["refs"] = {"before": f"nodes/{needed}/published"}
        if draw.random() < 0.5:
            spec["worker"] = draw.choice(WORKERS)
        if draw.random() < 0.15:
            spec["max_turns"] = 1
        if draw.random() < 0.15:
            spec["accept"] = [{"file": "log.md"}]
        return spec

    def _aside(self, draw: random.Random) -> Step:
        worker = draw.choice(WORKERS)
        hired: dict[str, Json] = {"name": worker, "role": "tester", "memory": "{mark}"}
        stage: dict[str, Json] = {
            "assessment": "{mark}",
            "next_stage": f"after {worker}",
        }
        return draw.choice(
            (
                _append("scratch/log.md"),
                _append("scratch/log.md"),
                Step("spawn_worker", hired),
                Step("send_message", {"to": worker, "content": "{mark}"}),
                Step("send_message", {"to": HUMAN, "content": "{mark}"}),
                Step("ask_human", {"question": "Which? {mark}"}),
                Step("bash", {"command": "echo {mark}"}),
                _remember("MEMORY.md"),
                Step("reconvene", stage),
                Step("wait", {"timeout": draw.randint(1, 30)}),
                Step("check_board"),
                Step("check_messages"),
            )
        )

    def work(self, agent: str, node: str) -> list[Step]:
        """What a worker does on one node."""
        draw = self.chance(agent, "work", node)
        steps = [_append("scratch/log.md")]
        steps += [self._labour(draw) for _ in range(draw.randint(0, 6))]
        if node.count("-") < 2 and draw.random() < 0.25:
            children = draw.randint(1, 2)
            for number in range(children):
                child: dict[str, Json] = {
                    "id": f"{node}-{number}",
                    "task": "A part. {mark}",
                }
                steps.append(Step("create_work_node", child))
            steps.append(Step("wait"))
        steps.append(_append("scratch/log.md"))
        return steps

    def _labour(self, draw: random.Random) -> Step:
        whole: dict[str, Json] = {"path": "scratch/{mark}.md", "content": "{mark}\n"}
        to = draw.choice((*WORKERS, HUMAN, "*"))
        return draw.choice(
            (
                *[_append("scratch/log.md")] * 3,
                *[Step("write_file", whole)] * 2,
                *[Step("bash", {"command": "echo {mark}"})] * 3,
                Step("send_message", {"to": "coordinator", "content": "{mark}"}),
                Step("send_message", {"to": to, "content": "{mark}"}),
                Step("ask_human", {"question": "Which? {mark}"}),
                _remember("memory.md"),
                Step("suggest_next", {"suggestion": "{mark}"}),
                Step("check_messages"),
                Step("list_files", {"path": "scratch"}),
            )
        )


def _remember(path: str) -> Step:
    arguments: dict[str, Json] = {"path": path, "content": "{mark}\n", "append": True}
    return Step("memory_write", arguments)


def _append(path: str) -> Step:
    arguments: dict[str, Json] = {"path": path, "content": "{mark}\n", "append": True}
    return Step("write_file", arguments)


# --- what a conversation shows


def _is_reflection(lines: Sequence[Spoken]) -> bool:
    last = lines[-1] if lines else None
    return isinstance(last, UserLine) and any(
        i.startswith("reflect:") for i in last.ids
    )


def _spoken(lines: Sequence[Spoken]) -> list[Spoke]:
    """The calls with results, but for those that were put off."""
    found = []
    off = prompts.words("put_off").strip()
    for line in lines:
        step = _STEP.search(line.call_id) if isinstance(line, ToolLine) else None
        if isinstance(line, ToolLine) and step and line.content.strip() != off:
            found.append(Spoke(step.group(1), line.name, line.content, line.error))
    return found


def _since_answer(lines: Sequence[Spoken]) -> list[Spoken]:
    """What was said since the model spoke last."""
    for index in range(len(lines) - 1, -1, -1):
        if isinstance(lines[index], AssistantLine):
            return list(lines[index + 1 :])
    return list(lines)


def _talk(lines: Sequence[Spoken]) -> int:
    return sum(
        isinstance(line, AssistantLine) and not line.tool_calls for line in lines
    )


def _session(request: Request) -> str:
    """A short name for one session, whatever its number."""
    text = request.key + request.prefix.ts + request.prefix.content
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class _Speaker:
    """What is said next by someone with a plan."""

    def __init__(self, parts: Parts, agent: str, who: str, request: Request) -> None:
        self._agent = agent
        self._parts = parts
        self._request = request
        self._turn = sum(isinstance(line, AssistantLine) for line in request.lines)
        self._draw = parts.chance(agent, who, request.prefix.session, self._turn)
        self._lines: Sequence[Spoken] = request.lines
        self._done: list[Spoke] = []

    def _from_plan(self, plan: list[Step]) -> list[tuple[str, Step]]:
        """The next calls: one to three without results, to the first that waits."""
        settled = {spoke.step for spoke in self._done}
        chosen: list[tuple[str, Step]] = []
        most = self._draw.randint(1, 3)
        for number, step in enumerate(plan):
            if str(number) in settled:
                continue
            chosen.append((str(number), step))
            if len(chosen) >= most or step.tool in _BLOCKS:
                break
        return chosen

    def _count(self, tool: str, *, error: bool | None = None) -> int:
        return sum(
            spoke.name == tool and (error is None or spoke.error is error)
            for spoke in self._done
        )

    def _wait(self) -> list[tuple[str, Step]]:
        return [("W", Step("wait", {"timeout": 20 + self._turn}))]


class _Worker(_Speaker):
    def __init__(self, parts: Parts, agent: str, node: str, request: Request) -> None:
        super().__init__(parts, agent, node, request)
        self._node = node
        self._done = _spoken(request.lines)
        briefs = [
            line
            for line in request.lines
            if isinstance(line, UserLine) and line.kind is Kind.BRIEF
        ]
        self._again = len(briefs) > 1

    def next(self) -> tuple[Sequence[tuple[str, Step]], str]:
        habit = self._parts.chance(self._agent, self._node, "habit").random()
        if habit < 0.04 and not self._again:
            return (), "I would rather talk."
        if self._draw.random() < 0.04 and _talk(self._lines) < 2:
            return (), "Let me think aloud."
        plan = self._from_plan(self._parts.work(self._agent, self._node))
        if plan:
            return plan, ""
        if habit > 0.94 and not self._again:
            return [("E", Step("checkpoint", {"summary": "so far {mark}"}))], ""
        if self._done and self._done[-1].name == "publish" and self._done[-1].error:
            if "children are still open" in self._done[-1].content:
                return self._wait(), ""
            return [(f"P{self._turn}", _append("scratch/log.md"))], ""
        return [("E", Step("publish", {"summary": "done {mark}"}))], ""


class _Coordinator(_Speaker):
    def __init__(self, parts: Parts, agent: str, request: Request) -> None:
        super().__init__(parts, agent, "coordinator", request)
        briefs = [
            index
            for index, line in enumerate(request.lines)
            if isinstance(line, UserLine) and line.kind is Kind.BRIEF
        ]
        self._run = len(briefs)
        self._lines = request.lines[briefs[-1] :] if briefs else ()
        self._done = _spoken(self._lines)

    def next(self) -> tuple[Sequence[tuple[str, Step]], str]:
        if not self._run or (self._is_over() and not self._is_nudged()):
            return (), f"Noted: {_digest(self._request)}."
        if self._is_over() or self._count("finish", error=False):
            return self._to_the_end()
        heard = any(
            isinstance(line, UserLine) and line.sender == HUMAN
            for line in _since_answer(self._lines)
        )
        if heard and self._draw.random() < 0.4:
            return (), f"I have read it: {_digest(self._request)}."
        plan = self._from_plan(self._parts.lead(self._agent, self._run))
        if plan:
            return plan, ""
        return self._to_the_end()

    def _is_over(self) -> bool:
        """Whether the last call that could end the run did."""
        ends = [s for s in self._done if s.name == "finish"]
        return bool(ends) and not ends[-1].error

    def _is_nudged(self) -> bool:
        """Whether people's own nodes need a hand, in a run that had ended."""
        return any(
            isinstance(line, UserLine)
            and line.kind is Kind.NOTICE
            and "can go on" in line.content
            for line in _since_answer(self._lines)
        )

    def _to_the_end(self) -> tuple[Sequence[tuple[str, Step]], str]:
        again = self._again()
        if again:
            return again, ""
        last = self._done[-1] if self._done else None
        if last is None or last.name != "finish" or not last.error:
            return [("E", Step("finish", {"summary": "done {mark}"}))], ""
        refused = self._count("finish", error=True)
        stuck = [n for n, state in _OPEN.findall(last.content) if state == "pending"]
        if refused >= 6 and stuck:
            node = {"node_id": stuck[0], "reason": "it cannot start"}
            return [(f"X{self._turn}", Step("cancel_node", dict(node)))], ""
        if self._draw.random() < 0.3:
            return (), "I wait for what is open."
        return self._wait(), ""

    def _again(self) -> list[tuple[str, Step]]:
        """Nodes that failed or were checkpointed are given out once more."""
        tried = {s.step for s in self._done if s.name == "assign_worker"}
        for line in self._lines:
            for node, _ in _ENDED.findall(line.content):
                step = "A" + re.sub(r"\W", "_", node)
                if step not in tried and not isinstance(line, AssistantLine):
                    worker = self._draw.choice(WORKERS)
                    given: dict[str, Json] = {"node_id": node, "worker_id": worker}
                    return [(step, Step("assign_worker", given))]
        return []


def digest_of(request: Request) -> str:
    """A short name for a request: the same for the same prefix and lines."""
    return _digest(request)


def _digest(request: Request) -> str:
    shown = [_session(request), *map(shown_of, request.lines)]
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:12]


def shown_of(line: Spoken) -> tuple[object, ...]:
    """What of a line goes to the model."""
    if isinstance(line, AssistantLine):
        calls = tuple(
            (call.id, call.name, str(call.arguments)) for call in line.tool_calls
        )
        return ("assistant", line.content, calls)
    if isinstance(line, ToolLine):
        return ("tool", line.call_id, line.content, line.error)
    return ("user", line.content)


def _as_answer(request: Request, said: Sequence[tuple[str, Step]], text: str) -> Answer:
    session = request.prefix.session
    turn = sum(isinstance(line, AssistantLine) for line in request.lines) + 1
    agent, who, _ = request.key.split("/")
    calls = []
    for index, (step, what) in enumerate(said):
        mark = f"m.{agent}.{who}.{_session(request)}.{turn}.{index}.m"
        arguments = {
            key: value.replace("{mark}", mark) if isinstance(value, str) else value
            for key, value in what.arguments.items()
        }
        ident = f"c{session}_{turn}_{index}_s{step}"
        calls.append(ToolCall(ident, what.tool, arguments))
    full = f"{text} ({_digest(request)})".strip()
    size = sum(len(line.content) for line in request.lines)
    usage = Usage(input=size // 3, output=10)
    stop = Stop.TOOLS if calls else Stop.END
    return Answer(full, tuple(calls), stop, usage, own={})
