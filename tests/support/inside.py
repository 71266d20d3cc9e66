"""One agent inside the test's own process: a real tree, and a model that tests lead.

```python
async with inside(tmp_path) as a:
    a.model.says(COORDINATOR, node("n"), say("I wait."))
    a.model.says("n", publish("done"))
    await a.begin("The goal.")
    await a.until(lambda: a.state("n") == "completed")
```

A model without a next answer keeps its loop waiting until the test gives one, so a test
may look at what was asked, change the tree, and only then let it go on.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import yaml

from agiraph.clock import SystemClock
from agiraph.core import board
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Answer, Stop, ToolLine, UserLine
from agiraph.model.layout import Home
from agiraph.model.names import COORDINATOR
from agiraph.model.tool import ToolCall
from agiraph.model.usage import FREE, Usage
from agiraph.ports import ModelFacts
from agiraph.runtime.agent import Agent
from agiraph.runtime.bell import Bell
from agiraph.runtime.ledger import Ledger
from agiraph.runtime.places import Places
from agiraph.runtime.supervisor import Supervisor
from agiraph.runtime.world import World
from agiraph.tools.execution import LocalShell
from agiraph.tools.kit import shell_tools, tree_tools
from agiraph.tree.attic import DiskAttic
from agiraph.tree.beneath import Beneath
from agiraph.tree.pen import DiskPen
from agiraph.tree.reader import DiskReader
from agiraph.tree.room import RealDisk
from agiraph.tree.shelf import SqliteShelf
from agiraph.tree.whereabouts import DiskWhereabouts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime
    from pathlib import Path

    from agiraph.model.agent import AgentState
    from agiraph.model.conversation import Request
    from agiraph.model.event import Event
    from agiraph.model.usage import Price
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.hosting import Host

AGENT = "a"
PROGRAMS = "/opt/agiraph/bin"  # where commands of people would find `agiraph`
PATIENCE = 60.0  # seconds; where all wait for the disk a second may be ten


@dataclass(frozen=True)
class Said:
    """An answer to come: its text and its calls."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    stop: Stop | None = None


def call(name: str, /, **arguments: Any) -> Said:
    return Said(calls=((name, arguments),))


def calls(*each: Said) -> Said:
    return Said(calls=tuple(one for answer in each for one in answer.calls))


def say(text: str) -> Said:
    return Said(text)


def publish(summary: str = "done") -> Said:
    write = call("write_file", path="scratch/a.md", content=f"{summary}\n")
    return calls(write, call("publish", summary=summary))


def node(name: str, /, **more: Any) -> Said:
    return call("create_work_node", id=name, **{"task": f"Do {name}.", **more})


def size_of(request: Request) -> int:
    """A request in tokens, as a service may count them."""
    tools = json.dumps([spec.parameters for spec in request.prefix.tools])
    texts = [request.prefix.content, tools, *(line.content for line in request.lines)]
    return sum(len(text.encode()) for text in texts) // 4


class LedModel:
    """The ports `Models` and `Provider`: says what the test has given it to say."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Request]] = defaultdict(list)
        self._given: dict[str, list[Said]] = defaultdict(list)
        self._wake = asyncio.Event()
        self.window = 128_000
        self.waits: set[str] = set()  # who is asked and has not been given an answer
        self.measures = False  # whether usage says how large a request was
        self.too_large: int | None = None  # a request of more tokens is refused
        self.price: Price | None = FREE
        self.usage = Usage(input=10, output=5)
        self.faults: dict[str, ProviderFault] = {}

    def says(self, who: str, *answers: Said) -> None:
        """What a coordinator or a node says next."""
        self._given[who].extend(answers)
        self.waits.discard(who)
        self._wake.set()

    def asked(self, who: str) -> int:
        return len(self.requests[who])

    def heard(self, who: str) -> str:
        """Everything but its own answers that a model was ever sent, once."""
        if not self.requests[who]:
            return ""
        lines = self.requests[who][-1].lines
        return "\n".join(
            line.content for line in lines if isinstance(line, UserLine | ToolLine)
        )

    async def ask(self, request: Request) -> Answer:
        who = request.prefix.node or COORDINATOR
        if request.lines and "Look back for a moment" in request.lines[-1].content:
            who = f"{who} looks back"
        self.requests[who].append(request)
        if request.model in self.faults:
            raise self.faults[request.model]
        if self.too_large is not None and size_of(request) > self.too_large:
            raise ProviderFault(Fault.CONTEXT, "It does not fit.")
        self.waits.add(who)
        while not self._given[who]:
            self._wake.clear()
            await self._wake.wait()
        self.waits.discard(who)
        said = self._given[who].pop(0)
        count = self.asked(who)
        made = tuple(
            ToolCall(f"{who}-{count}-{at}", name, arguments)
            for at, (name, arguments) in enumerate(said.calls)
        )
        stop = said.stop or (Stop.TOOLS if made else Stop.END)
        usage = Usage(input=size_of(request)) if self.measures else self.usage
        return Answer(said.text, made, stop, usage, own={})

    async def close(self) -> None:
        pass

    def default(self) -> str:
        return "led/model"

    def provider(self, model: str) -> LedModel:
        return self

    def facts(self, model: str) -> ModelFacts:
        return ModelFacts(window=self.window, longest=None, price=self.price)

    def table(self) -> str:
        return ""


class LeapingClock(SystemClock):
    """The machine's clock, which a test may set forward; `wall` moves only the wall's.

    It never goes back but there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ahead = 0.0
        self.wall = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self.ahead + self.wall)

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class Inside:
    """One agent, its desk and its supervisor; `restart` is a daemon's death."""

    def __init__(self, root: Path, host: Host | None = None) -> None:
        self.root = root
        self.host = host
        self.home = root / AGENT
        self.model = LedModel()
        self.clock = LeapingClock()
        self.said: list[Event] = []
        self.remarks: list[str] = []
        self.bugs: list[BaseException] = []
        self.states: list[AgentState] = []
        self.supervising: asyncio.Task[None] | None = None
        self._open()

    def _open(self) -> None:
        root = str(self.root)
        self.pen = DiskPen(root)
        bell = Bell(self.clock)
        self.world = world = World(
            clock=self.clock,
            pen=self.pen,
            reader=DiskReader(root, self.clock),
            disk=RealDisk(root),
            whereabouts=DiskWhereabouts.of(root, {}),
            shell=LocalShell(
                Beneath(root), self.pen, {"PATH": "/usr/bin:/bin"}, programs=PROGRAMS
            ),
            models=self.model,
            ledger=Ledger(),
            runs=Places(bell, lambda: world.settings.max_agents),
            bell=bell,
            say=self.said.append,
            remark=self.remarks.append,
            trace=self.bugs.append,
            root=root,
            stands=lambda _, state: self.states.append(state),
            tool_servers=self.host,
            attic=DiskAttic(Beneath(root)),
        )
        self.agent = Agent(world, Home(AGENT), lambda: {"SOUL.md": b"I am calm.\n"})
        seen = self.agent.desk.seen
        files = tree_tools(world.reader, self.pen, SqliteShelf(root), seen)
        tools = (*files, *shell_tools(world.shell, root))
        edges = {tool.spec.name: tool for tool in tools}
        self.supervisor = Supervisor(self.agent, edges)

    @property
    def desk(self) -> Desk:
        return self.agent.desk

    @property
    def run(self) -> Path:
        return sorted((self.home / "runs").iterdir())[-1]

    # --- what the test does

    def write(self, path: str, text: str) -> None:
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")

    def goal(self, text: str, **settings: Any) -> None:
        keys = {"reflection": False, **settings}
        self.write("GOAL.md", f"---\n{yaml.safe_dump(keys)}---\n{text}\n")

    async def begin(self, text: str = "The goal.", **settings: Any) -> None:
        """Drop the goal and let the loops run."""
        self.goal(text, **settings)
        await self.look()
        self.go()

    def go(self) -> None:
        """Let the loops run, as the daemon does after each look."""
        if self.supervising is None or self.supervising.done():
            if self.supervising is not None:
                self.supervising.result()
            if self.supervisor.wants():
                self.supervising = asyncio.create_task(self.supervisor.run())

    async def look(self) -> None:
        """What people wrote is taken in, once it has settled."""
        for _ in range(4):
            await self.agent.look()
            self.clock.ahead += 6.0
        await self.agent.look()
        if self.supervising is not None:
            self.go()

    def in_step(self) -> None:
        """The wall clock is the disk's again: what is written now is just written."""
        self.clock.wall = -self.clock.ahead

    async def leap(self, seconds: float) -> None:
        """Time passes at once; whoever waits for a time looks at the clock."""
        self.clock.ahead += seconds
        self.desk.bell.ring()
        await asyncio.sleep(0.05)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds; fails after a while."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    if self.supervising is not None and self.supervising.done():
                        self.supervising.result()
                        self.go()
                    await asyncio.sleep(0.01)
        except TimeoutError:
            stands = {n.id: n.status.state.value for n in self.desk.nodes.values()}
            heard = self.model.heard(COORDINATOR)[-800:]
            raise AssertionError(
                f"it never came to be; nodes: {stands}; bugs: {self.bugs}; the "
                f"coordinator last heard: {heard}"
            ) from None

    async def stays(self, holds: Callable[[], object], seconds: float = 0.4) -> None:
        """It holds, and goes on to hold for a while."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end:
            assert holds()
            await asyncio.sleep(0.01)

    async def asked(self, who: str, times: int = 1) -> None:
        """Wait until a model was asked so many times."""
        await self.until(lambda: self.model.asked(who) >= times)

    async def end(self) -> None:
        """The loops end, as at a shutdown."""
        task, self.supervising = self.supervising, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self.pen.close()

    async def restart(self) -> None:
        """The daemon ends and another one begins on the same tree."""
        await self.end()
        self._open()
        await self.look()
        self.go()

    # --- what is there

    def state(self, name: str) -> str:
        found = self.desk.nodes.get(name)
        return board.state(found, self.desk.nodes).value if found else ""

    def text(self, path: str) -> str:
        """A file of the newest run."""
        return (self.run / path).read_text("utf-8")

    def outbox(self) -> str:
        """What people were told; empty while there is nothing."""
        path = self.home / "_outbox.md"
        return path.read_text("utf-8") if path.exists() else ""

    def lines(self, path: str = "") -> list[dict[str, Any]]:
        """The conversation of the coordinator, or of a worker of the newest run."""
        at = self.run / "workers" / path if path else self.home
        text = (at / "conversation.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def results(self, tool: str, who: str = "") -> list[str]:
        """The results of a tool, as a loop was told them."""
        tools = [line for line in self.lines(who) if line["role"] == "tool"]
        return [line["content"] for line in tools if line["name"] == tool]

    def told(self, who: str = "") -> str:
        """Everything that a loop was told, its own answers left out."""
        told = [x["content"] for x in self.lines(who) if x["role"] in ("user", "tool")]
        return "\n".join(told)

    def events(self, *kinds: str, **where: str) -> list[str]:
        """The types of the events in order, those of one node or worker."""
        return [
            event.type.value
            for event in self.said
            if event.type.value.startswith(kinds or ("",))
            and all(getattr(event, key) == value for key, value in where.items())
        ]


@asynccontextmanager
async def inside(root: Path, host: Host | None = None) -> AsyncIterator[Inside]:
    """An agent whose loops end with the test; a bug of ours fails it."""
    found = Inside(root, host)
    try:
        yield found
    finally:
        await found.end()
    assert found.bugs == []
