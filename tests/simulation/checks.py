"""What must be true of a tree at every moment, and at its end."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from agiraph.model.layout import MACHINE, Home
from agiraph.model.names import HUMAN
from agiraph.model.tool import Effect
from tests.simulation.outside import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolResult
    from agiraph.ports import Intent, Seat, Tool
    from tests.simulation.outside import Notes
    from tests.simulation.person import Letter, Person
    from tests.simulation.run import Simulation
    from tests.support.memory_tree import MemoryTree

_PEOPLES = frozenset({"GOAL.md", "_inbox.md", "PAUSE", "STOP", "agiraph.yaml"})
_ENDED = frozenset({"completed", "stopped", "failed"})
_RESTS = frozenset({"completed", "stopped", "failed", "idle"})


class Observer:
    """Looks over the daemon's shoulder; it changes nothing."""

    def __init__(self, tree: MemoryTree, notes: Notes, person: Person) -> None:
        self._tree = tree
        self._notes = notes
        self._person = person

    def before(self, name: str, path: PurePosixPath) -> None:
        """People's files are never written; their last good copies are ours."""
        if "_state" in path.parts or MACHINE.name in path.parts:
            return
        if "_messages" in path.parts and name == "write" and self._tree.find(path):
            self._notes.wrong(f"{path} is written over")
        if path.name in _PEOPLES and name in ("write", "append", "remove", "move"):
            self._notes.wrong(f"{name} on {path}, which is a person's")

    def crashed(self) -> None:
        """Answers that did not reach the disk may be asked for again."""
        kept = "".join(
            line["content"]
            for data in self.conversations().values()
            for line in records(data)
            if line["role"] == "assistant"
        )
        self._notes.answered = {each for each in self._notes.answered if each in kept}

    def conversations(self) -> dict[PurePosixPath, bytes]:
        """Every conversation in the tree."""
        return {
            path: file.data
            for path, file in self._tree.files()
            if path.name == "conversation.jsonl"
        }

    def watched(self, tool: Tool) -> Tool:
        """The tool itself, with a look at the records before it acts."""
        return _Watched(tool, self)

    def acts(self, seat: Seat) -> None:
        """A step acts now: its intent is on the disk, and it has no result."""
        home = Home(seat.agent)
        journal = self._tree.find(home.journal)
        durable = b""
        if journal is not None:
            durable = journal.data[: journal.durable]  # type: ignore[union-attr]
        if f'"step": "{seat.step}"'.encode() not in durable:
            self._notes.wrong(f"{seat.step} acts before its intent is on the disk")
        path = home.conversation
        if seat.worker is not None:
            path = home.run(str(seat.run)).worker(seat.worker).conversation
        wanted = tuple(map(int, seat.step.rpartition("/")[2].split(".")))
        for session, line in sessions(self._tree.data(path) or b""):
            if line["role"] != "tool":
                continue
            if (session, line["turn"], line["index"]) == wanted:
                self._notes.wrong(f"{seat.step} acts again, and has its result")


class _Watched:
    """A tool under observation."""

    def __init__(self, tool: Tool, observer: Observer) -> None:
        self._tool = tool
        self._observer = observer
        self.spec, self.effect, self.who = tool.spec, tool.effect, tool.who

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        return await self._tool.prepare(arguments, seat)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        if self.effect is not Effect.READS:
            self._observer.acts(seat)
        return await self._tool.perform(intent, seat)


def records(data: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a log; what a crash tore at the end is left out."""
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip(b"\0 "):
            continue
        try:
            yield json.loads(line)
        except ValueError:
            if number < len(lines) - 1:
                raise


def sessions(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a conversation, each with the number of its session."""
    session = 0
    for line in records(data):
        if line["role"] == "system":
            session = line["session"]
        yield session, line


# --- at rest


def _status(sim: Simulation, path: PurePosixPath) -> str:
    text = (sim.tree.data(path) or b"").decode()
    found = re.search(r"(?m)^status: *(\S+)", text)
    return found.group(1) if found else ""


def broken_agents(sim: Simulation) -> list[str]:
    """Who was put aside after crashes in one step, until the person says otherwise."""
    homes = [Home(agent) for agent in sim.agents]
    return [h.agent for h in homes if _status(sim, h.status) == "broken"]


def is_at_rest(sim: Simulation) -> bool:
    """Whether nothing is left to do."""
    return not why_not_at_rest(sim, thorough=False)


def why_not_at_rest(sim: Simulation, *, thorough: bool = True) -> str:
    """What is left to do; empty when nothing is."""
    why: list[str] = []
    for agent in sim.agents:
        home = Home(agent)
        runs = _opened(sim, home)
        if not runs and sim.tree.find(home.stop) is not None:
            continue
        if not runs:
            why.append(f"{agent} has no run")
            continue
        run = _status(sim, home.run(runs[-1]).record)
        if run not in _ENDED:
            why.append(
                f"run {runs[-1]} is {run}; {agent} is {_status(sim, home.status)}"
            )
        elif _status(sim, home.status) not in _RESTS:
            why.append(f"{agent} is {_status(sim, home.status)}")
        stops = sim.tree.find(home.stop) is not None  # mail waits
        if not stops and (not why or thorough):  # it takes time
            why += _not_delivered(sim, agent)
        asked = getattr(sim.tree.find(home.questions), "inner", {})
        why += [
            f"{name} is not answered"
            for name in asked
            if re.fullmatch(r"q-\d+\.md", name)
            if home.questions / name not in sim.person.answered
        ]
        dropped = getattr(sim.tree.find(home.dropbox), "inner", {})
        why += [f"_inbox/{n} is not taken" for n in dropped if not n.startswith(".")]
    return "; ".join(why)


def _opened(sim: Simulation, home: Home) -> list[str]:
    """The runs on record; what a power cut left of one that was begun is none."""
    names = sorted(getattr(sim.tree.find(home.runs), "inner", {}))
    return [name for name in names if sim.tree.find(home.run(name).record) is not None]


def _not_delivered(sim: Simulation, agent: str) -> list[str]:
    heard = Heard(sim, agent)
    return [
        f"{letter.mark} is not delivered"
        for letter in sim.person.letters
        if letter.agent == agent and not heard.total(letter.mark)
        if not letter.answer and letter.mark not in heard.answers
    ]


def _is_heard(line: dict[str, Any]) -> bool:
    """Whether a line can deliver what somebody said."""
    if line["role"] == "user":
        return line.get("kind") != "brief"
    return line["role"] == "tool" and line["name"] in ("check_messages", "ask_human")


class Heard:
    """Who of one agent has heard what."""

    def __init__(self, sim: Simulation, agent: str) -> None:
        self.by: dict[PurePosixPath, Counter[str]] = {}
        self.answers = "".join(f"{what}\n" for what in sim.notes.left_out)
        home = Home(agent)
        for path, data in sim.observer.conversations().items():
            if path.parts[0] != agent:
                continue
            count: Counter[str] = Counter()
            for line in records(data):
                if _is_heard(line):
                    marks = set(re.findall(r"h\d+h", line["content"]))
                    count.update(marks | set(MARK.findall(line["content"])))
            self.by[path] = count
        for line in records(sim.tree.data(home.journal) or b""):
            self.answers += str(line.get("what", "")) + "\n"
        self.lead = self.by.get(home.conversation, Counter())

    def total(self, mark: str) -> int:
        """How often a mark was heard by anybody."""
        return sum(count[mark] for count in self.by.values())

    def most(self, mark: str) -> int:
        """How often whoever heard it most often did."""
        return max((count[mark] for count in self.by.values()), default=0)


# --- at the end


def check_end(sim: Simulation) -> None:
    """Everything that can only be said at the end."""
    why = why_not_at_rest(sim)
    if why:
        sim.notes.wrong(f"at the end: {why}")
    for mark, times in sim.notes.ran.items():
        if times > 1:
            sim.notes.wrong(f"the command {mark} ran {times} times")
    _check_logs(sim)
    _check_people(sim)
    for agent in sim.agents:
        _Agent(sim, agent).check()


def _check_logs(sim: Simulation) -> None:
    for path, file in sim.tree.files():
        if path.suffix == ".jsonl":
            try:
                list(records(file.data))
            except ValueError as error:
                sim.notes.wrong(f"{path} cannot be read: {error}")


def _check_people(sim: Simulation) -> None:
    for path, data in sim.person.mine.items():
        if sim.tree.data(path) != data:
            sim.notes.wrong(f"{path} is not as the person left it")
    for path, mark in sim.person.edits:
        if (sim.tree.data(path) or b"").count(mark.encode()) != 1:
            sim.notes.wrong(f"the edit {mark} of {path} is lost")


class _Agent:
    """The checks on one agent."""

    def __init__(self, sim: Simulation, agent: str) -> None:
        self._sim = sim
        self._home = Home(agent)
        self._agent = agent
        self._heard = Heard(sim, agent)
        self._files = list(sim.tree.files(self._home.path))

    def check(self) -> None:
        """All of them."""
        stops = self._sim.tree.find(self._home.stop) is not None
        for letter in self._sim.person.letters:
            if letter.agent == self._agent and not stops:
                self._letter(letter)
        self._journal()
        self._outbox()
        for path, data in self._sim.observer.conversations().items():
            if path.parts[0] == self._agent:
                self._conversation(path, data)

    def _wrong(self, words: str) -> None:
        self._sim.notes.wrong(f"{self._agent}: {words}")

    def _letter(self, letter: Letter) -> None:
        heard, mark = self._heard, letter.mark
        if heard.most(mark) > 1:
            self._wrong(f"{mark} was delivered more than once to one reader")
        taken = f"{mark}\n" in heard.answers
        if letter.answer or taken:
            if heard.total(mark) > 1:
                self._wrong(f"the answer {mark} was delivered more than once")
            return
        if heard.total(mark) < 1:
            self._wrong(f"{mark} was not delivered")
        if letter.to in ("", "all") and heard.lead[mark] != 1:
            self._wrong(f"the coordinator heard {mark} {heard.lead[mark]} times")
        if letter.to == "" and heard.total(mark) != 1:
            self._wrong(f"{mark} was heard by others too")

    def _files_with(self, mark: str, where: str) -> list[PurePosixPath]:
        """The files under some names that hold a mark, once for each time."""
        return [
            path
            for path, file in self._files
            if re.search(where, str(path)) and "_state" not in path.parts
            for _ in range(file.data.count(mark.encode()))
        ]

    def _journal(self) -> None:
        intents = Counter(
            line["step"]
            for line in records(self._sim.tree.data(self._home.journal) or b"")
            if line.get("kind") == "intent"
        )
        for step, times in intents.items():
            if times > 1:
                self._wrong(f"the intent of {step} was recorded {times} times")

    def _outbox(self) -> None:
        text = (self._sim.tree.data(self._home.outbox) or b"").decode(
            "utf-8", "replace"
        )
        for mark, times in Counter(re.findall(r"<!-- (.*?) -->", text)).items():
            if times > 1:
                self._wrong(f"the outbox says {mark} {times} times")

    def _conversation(self, path: PurePosixPath, data: bytes) -> None:
        results: Counter[tuple[int, int, int]] = Counter()
        calls: dict[tuple[int, int, int], dict[str, Any]] = {}
        for session, line in sessions(data):
            if line["role"] == "assistant":
                for index, call in enumerate(line.get("tool_calls", [])):
                    calls[session, line["turn"], index] = call
            elif line["role"] == "tool":
                key = (session, line["turn"], line["index"])
                results[key] += 1
                if not line.get("error") and key in calls:
                    self._effect(path, calls[key])
        for key, times in results.items():
            if times > 1:
                self._wrong(f"{path}: the call {key} has {times} results")

    def _effect(self, path: PurePosixPath, call: dict[str, Any]) -> None:
        arguments = call.get("arguments", {})
        marks = MARK.findall(json.dumps(arguments))
        if not marks:
            return
        match call["name"]:
            case "write_file":
                self._once(marks[0], r"(scratch|published[.\d]*)/|/_plan\.md$")
            case "memory_write":
                name = str(arguments["path"])
                below = (
                    r"^\w+/MEMORY\.md$"
                    if name == "MEMORY.md"
                    else r"/workers/.*/memory\.md$"
                )
                self._once(marks[0], below, runs=name != "MEMORY.md")
            case "create_work_node":
                self._once(marks[0], r"/nodes/[^/]+/_spec\.md$")
            case "bash":
                if self._sim.notes.ran.get(marks[0]) != 1:
                    self._wrong(f"the command {marks[0]} has a result and did not run")
            case "ask_human":
                self._once(marks[0], r"/_questions/")
            case "send_message" | "suggest_next":
                self._sent(path, marks[0], str(arguments.get("to", "coordinator")))
            case _:
                return

    def _once(self, mark: str, where: str, *, runs: bool = False) -> None:
        found = self._files_with(mark, where)
        if runs:  # a worker's memory goes with it from run to run
            most = Counter(found).most_common(1)
            if not most or most[0][1] != 1:
                self._wrong(f"{mark} stands in {[str(p) for p in found]}")
        elif len(found) != 1:
            self._wrong(f"{mark} stands {len(found)} times: {[str(p) for p in found]}")

    def _sent(self, path: PurePosixPath, mark: str, to: str) -> None:
        self._once(mark, r"/_messages/")
        if to in (HUMAN, "*"):
            outbox = self._sim.tree.data(self._home.outbox) or b""
            if outbox.count(mark.encode()) != 1:
                self._wrong(
                    f"{mark} stands {outbox.count(mark.encode())} times in the outbox"
                )
        if to != HUMAN:
            heard = Counter({p: count[mark] for p, count in self._heard.by.items()})
            heard[path] = 0
            if max(heard.values()) > 1:
                self._wrong(f"{mark} was delivered more than once to one reader")
            lead = path == self._home.conversation  # it is kept for a brief to come
            stopped = self._sim.tree.find(self._home.stop) is not None
            if not sum(heard.values()) and not lead and not stopped:
                self._wrong(f"{mark} (to {to}) was not delivered")
