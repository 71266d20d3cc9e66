"""A run of `offline/digest` on tools that are a few lines over a dict of files."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agiraph.core.paging import page
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    Request,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.tool import ToolCall, ToolSpec
from agiraph.providers.offline import OfflineProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.conversation import Answer, Spoken

TS = "2026-11-21T12:00:00+00:00"
COORDINATOR = (
    "list_files", "read_file", "write_file", "create_work_node", "cancel_node",
    "assign_worker", "send_message", "finish", "checkpoint",
)  # fmt: skip
WORKER = ("list_files", "read_file", "write_file", "publish", "send_message")


class Refused(Exception):
    """What a tool says when it does not do it."""


class Speaker:
    """One loop: it asks, plays the calls on the files, and asks again."""

    def __init__(
        self,
        tools: tuple[str, ...],
        play: Callable[[str, dict[str, Any]], str],
        *,
        node: str | None = None,
        system: str = "You work.",
    ) -> None:
        specs = tuple(ToolSpec(name, name, {"type": "object"}) for name in tools)
        self.prefix = SystemLine(TS, 1, "offline/digest", system, specs, node)
        self.lines: tuple[Spoken, ...] = ()
        self.ended = ""
        self._play = play

    def hear(self, text: str, kind: Kind, sender: str = "agiraph") -> None:
        self.lines += (UserLine(TS, text, kind, sender),)

    def request(self) -> Request:
        return Request(self.prefix, self.lines, 8192, {}, "key")

    def ask(self) -> Answer:
        answer = asyncio.run(OfflineProvider().ask(self.request()))
        turn = 1 + sum(isinstance(line, AssistantLine) for line in self.lines)
        self.lines += (
            AssistantLine(
                TS, turn, "offline/digest", answer.text, answer.calls, answer.stop,
                answer.usage, answer.own,
            ),
        )  # fmt: skip
        for index, call in enumerate(answer.calls):
            self.lines += (self._result(turn, index, call),)
        return answer

    def speak(self, most: int = 40) -> str:
        """Until it says something without a call, or its loop ends."""
        for _ in range(most):
            answer = self.ask()
            if not answer.calls or self.ended:
                return answer.text
        raise AssertionError(f"no end after {most} turns")

    def _result(self, turn: int, index: int, call: ToolCall) -> ToolLine:
        text, error = "", False
        try:
            text = self._play(call.name, dict(call.arguments or {}))
        except Refused as no:
            text, error = str(no), True
        if call.name in ("finish", "publish", "checkpoint") and not error:
            self.ended = call.name
        return ToolLine(TS, turn, index, call.id, call.name, text, error)


class World:
    """An agent's files, its nodes, and everyone who speaks."""

    def __init__(self, inputs: dict[str, str | bytes], goal: str = "Digest.\n") -> None:
        self.inputs = {f"inputs/{name}": data for name, data in inputs.items()}
        self.goal = goal
        self.run: dict[str, str] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.published: dict[str, dict[str, str]] = {}
        self.states: dict[str, str] = {}
        self.finished: dict[str, Any] = {}
        self.told: list[str] = []
        self.refuse: dict[str, str] = {}
        self.coordinator = Speaker(COORDINATOR, self.coordinate)
        self.workers: dict[str, Speaker] = {}

    def brief(self) -> None:
        self.coordinator.ended = ""
        self.coordinator.hear(f"# Run 1\n\n## Goal\n\n{self.goal}", Kind.BRIEF)

    def whole_run(self, rounds: int = 6) -> None:
        self.brief()
        self.coordinator.speak()
        for _ in range(rounds):
            if self.coordinator.ended:
                return
            self.work()
            self.coordinator.speak()
        raise AssertionError("the run did not end")

    def work(self) -> None:
        """Every node that can start, to its end; its end is told."""
        lines: list[str] = []
        for node in list(self.nodes):
            if node in self.states:
                continue
            needed = [self.states.get(one) for one in self.nodes[node]["depends_on"]]
            if all(state == "completed" for state in needed):
                lines.append(self.work_on(node))
        if lines:
            text = "\n".join(lines)
            self.coordinator.hear(f"<agiraph>{text}</agiraph>", Kind.NOTICE)

    def work_on(self, node: str) -> str:
        scratch: dict[str, str] = {}
        worker = Speaker(
            WORKER, lambda name, args: self.labour(node, scratch, name, args), node=node
        )
        self.workers[node] = worker
        worker.hear(f"# Your node: {node}", Kind.BRIEF)
        worker.speak()
        ok = worker.ended == "publish"
        if ok:
            self.published[node] = scratch
        self.states[node] = "completed" if ok else "failed"
        said = self.nodes[node].get("summary", "no_publish")
        return f"[node {node} {self.states[node]}, worker W, 3 turns, $0.00] {said}"

    # --- tools

    def coordinate(self, name: str, args: dict[str, Any]) -> str:
        if name == "create_work_node":
            return self.create(args)
        if name == "cancel_node":
            self.states[args["node_id"]] = "cancelled"
            return "cancelled"
        if name == "send_message":
            self.told.append(args["content"])
            return "sent"
        if name in ("finish", "checkpoint"):
            if name in self.refuse:
                raise Refused(self.refuse[name])
            self.finished = args
            return "done"
        return self.files(name, args, self.run)

    def create(self, args: dict[str, Any]) -> str:
        if args["id"] in self.nodes:
            raise Refused(f"the id {args['id']!r} is taken; choose another")
        refs = args.get("refs", {})
        implied = [p.split("/")[1] for p in refs.values() if p.startswith("nodes/")]
        needed = list(dict.fromkeys([*args.get("depends_on", []), *implied]))
        self.nodes[args["id"]] = {**args, "depends_on": needed}
        return f"{args['id']} is on the board"

    def labour(
        self, node: str, scratch: dict[str, str], name: str, args: dict[str, Any]
    ) -> str:
        if name == "publish":
            self.nodes[node]["summary"] = args["summary"]
            return "published"
        if name == "read_file" and args["path"] == "_spec.md":
            return self.spec(node)
        if f"{node}:{name}" in self.refuse:
            raise Refused(self.refuse[f"{node}:{name}"])
        return self.files(name, args, scratch)

    def spec(self, node: str) -> str:
        lines = [
            f"  {name}: {path}"
            for name, path in self.nodes[node].get("refs", {}).items()
        ]
        refs = "\n".join(["refs:", *lines]) if lines else "title: x"
        return f"---\n{refs}\n---\n{self.nodes[node]['task']}\n"

    def files(self, name: str, args: dict[str, Any], own: dict[str, str]) -> str:
        path = args["path"]
        if name == "write_file":
            own[path.removeprefix("scratch/")] = args["content"]
            return f"Wrote {path}"
        if name == "list_files":
            return self.listed(path)
        return self.shown(path, args)

    def listed(self, folder: str) -> str:
        lines: dict[str, str] = {}
        for path, data in sorted(self.inputs.items()):
            if path.startswith(f"{folder}/"):
                head, _, rest = path.removeprefix(f"{folder}/").partition("/")
                size = len(data.encode() if isinstance(data, str) else data)
                lines[head] = f"  {head}/" if rest else f"  {head}  {size:,} bytes"
        if not lines:
            return f"{folder}/ is empty."
        return "\n".join([f"{folder}/", *lines.values()])

    def shown(self, path: str, args: dict[str, Any]) -> str:
        data = self.data(path)
        if isinstance(data, bytes):
            return f"[{path} is no text: binary data, {len(data):,} bytes]"
        found = page(
            [data.encode()], offset=args.get("offset", 1), limit=args.get("limit")
        )
        notes = list(found.remarks)
        if found.more:
            span = f"lines {found.first}-{found.last} of {found.total}"
            notes.append(f"{span}; read on with offset={found.last + 1}")
        elif found.first > 1:
            notes.append(f"lines {found.first}-{found.last} of {found.total}, the end")
        gap = "" if found.text.endswith("\n") or not notes else "\n"
        return found.text + gap + "\n".join(f"[{note}]" for note in notes)

    def data(self, path: str) -> str | bytes:
        parts = path.split("/")
        if parts[-1] == "_status.md":
            data: str | bytes | None = (
                f"---\nstatus: {self.states.get(parts[1], 'pending')}\n---\n"
            )
        elif parts[0] == "nodes":
            data = self.published.get(parts[1], {}).get(parts[3])
        elif path == "GOAL.md":
            data = self.goal
        elif path.startswith("run/scratch/"):
            data = self.run.get(parts[2])
        else:
            data = self.inputs.get(path)
        if data is None:
            raise Refused(f"{path} is not there.")
        return data


def again(speaker: Speaker) -> Request:
    """The same request as other objects, as after a restart."""
    lines = tuple(replace(line) for line in speaker.lines)
    return replace(speaker.request(), lines=lines, prefix=replace(speaker.prefix))
