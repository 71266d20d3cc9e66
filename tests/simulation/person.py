"""A person who writes into the tree at random moments, and remembers it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.model.layout import Home
from tests.simulation.parts import WORKERS

if TYPE_CHECKING:
    import random

    from tests.support.memory_tree import MemoryTree

_WORDS: Final = [
    "amber",
    "anvil",
    "basil",
    "birch",
    "cedar",
    "clove",
    "copper",
    "coral",
    "delta",
    "ember",
    "fjord",
    "flint",
    "garnet",
    "grove",
    "harbor",
    "hazel",
    "indigo",
    "ivory",
    "jasper",
    "juniper",
    "kelp",
    "lark",
    "linen",
    "maple",
    "marble",
    "nectar",
    "nickel",
    "olive",
    "onyx",
    "opal",
    "orchid",
    "pearl",
    "pepper",
    "pine",
    "quartz",
    "raven",
    "river",
    "saffron",
    "sage",
    "silver",
    "slate",
    "sorrel",
    "spruce",
    "thyme",
    "topaz",
    "umber",
    "velvet",
    "walnut",
    "willow",
    "yarrow",
    "zinc",
]


@dataclass
class Letter:
    """One message of a person.

    Attributes:
        to: whom it names; empty is the coordinator.
        answer: the question that it answers, as `q-001`.
    """

    mark: str
    agent: str
    to: str
    answer: str = ""


@dataclass
class Person:
    """One person with one tree.

    Attributes:
        letters: what was written, in order.
        mine: path -> the bytes that the person wrote last; None where it was deleted.
        done: nothing more will be written.
    """

    tree: MemoryTree
    chance: random.Random
    agents: tuple[str, ...]
    seconds: float
    letters: list[Letter] = field(default_factory=list)
    mine: dict[PurePosixPath, bytes | None] = field(default_factory=dict)
    edits: list[tuple[PurePosixPath, str]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    answered: set[PurePosixPath] = field(default_factory=set)
    rough: set[str] = field(default_factory=set)
    done: bool = False
    _count: int = 0
    _typing: set[PurePosixPath] = field(default_factory=set)
    _runs: int = 1
    _left: int = 0

    def __post_init__(self) -> None:
        self._left = len(self.agents)

    async def live(self) -> None:
        """Write what there is to write; then only answer questions."""
        async with asyncio.TaskGroup() as group:
            for agent in self.agents:
                group.create_task(self._with(agent), name=f"person of {agent}")
            group.create_task(self._answers(), name="answers")

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def note(self, words: str) -> None:
        """For whoever reads why a seed failed."""
        self.log.append(f"{self._now():9.3f} person: {words}")

    # --- one agent

    async def _with(self, agent: str) -> None:
        draw = self.chance
        await asyncio.sleep(draw.uniform(0, 5))
        self.tree.make(PurePosixPath(agent))
        await self._slowly(Home(agent).goal, self._goal())
        times = sorted(
            draw.uniform(1, self.seconds) for _ in range(draw.randint(2, 12))
        )
        for moment in times:
            await asyncio.sleep(max(0.0, moment - self._now()))
            await self._one(agent)
        await asyncio.sleep(max(0.0, self.seconds - self._now()))
        await self._tidy(agent)
        self._left -= 1
        self.done = self._left == 0

    def _goal(self) -> bytes:
        extra = ""
        if self.chance.random() < 0.3:
            extra = f"max_workers: {self.chance.randint(1, 3)}\n"
        head = f"---\nrun: {self._runs}\n{extra}---\n"
        return f"{head}Bring it to an end. {self._words()}\n".encode()

    async def _one(self, agent: str) -> None:
        draw, home = self.chance, Home(agent)
        acts = [
            (6, self._echo),
            (5, self._editor),
            (4, self._drop),
            (2, self._pause),
            (2, self._edit_goal),
            (1, self._edit_soul),
            (2, self._edit_memory),
            (2, self._edit_spec),
            (2, self._stop_node),
            (2, self._rerun),
            (2, self._own_node),
            (2, self._to_worker),
            (1, self._next_run),
            (1, self._stop_agent),
            (1, self._goal_away),
            (1, self._prune),
            (1, self._root_pause),
        ]
        weights = [weight for weight, _ in acts]
        act = draw.choices([each for _, each in acts], weights)[0]
        await act(home)

    async def _tidy(self, agent: str) -> None:
        """Take away what would keep the agent from its end."""
        for path in (Home(agent).pause, PurePosixPath("PAUSE")):
            if self.tree.find(path) is not None:
                self.tree.take(path)
        await asyncio.sleep(0)

    def mend(self, agents: list[str]) -> None:
        """Touch the goals of agents that were put aside, so that they go on."""
        for agent in agents:
            path = Home(agent).goal
            old = self.tree.data(path)
            if old is not None and self.done:
                self.note(f"touches {path}, since {agent} is broken")
                self._write(path, old + self._words().encode() + b"\n")

    # --- writing

    def _words(self) -> str:
        return " ".join(self.chance.sample(_WORDS, 5))

    def _letter(self, agent: str, to: str, answer: str = "") -> str:
        self._count += 1
        mark = f"h{self._count}h"
        self.letters.append(Letter(mark, agent, to, answer))
        return f"{self._words()} {mark}"

    def _write(self, path: PurePosixPath, data: bytes, *, busy: bool = False) -> None:
        self.mine[path] = data
        if self.tree.find(path.parent) is not None:
            self.tree.edit(path, data, busy=busy)

    async def _slowly(self, path: PurePosixPath, data: bytes) -> None:
        """As programs save: in place, in two parts, or by a rename."""
        draw = self.chance
        match draw.randrange(4):
            case 0:
                self.mine[path] = data
                self.tree.put(path, data)
            case 1:
                self._write(path, data[: len(data) // 2], busy=True)
                await asyncio.sleep(draw.choice((0.01, 0.2, 0.8)))
                self._write(path, data)
            case 2:
                self.tree.take(path)
                self.mine[path] = None
                await asyncio.sleep(draw.choice((0.0, 0.1, 0.5)))
                self.mine[path] = data
                self.tree.put(path, data)
            case _:
                self._write(path, b"", busy=True)
                await asyncio.sleep(draw.choice((0.0, 0.05)))
                self._write(path, data)

    def _head(self) -> tuple[str, str]:
        """How a message names its reader, and who that is."""
        draw = self.chance
        to = draw.choice(("", "", "", *WORKERS[:2], "all"))
        urgent = "!" if draw.random() < 0.2 else ""
        return f"{urgent}{f'@{to} ' if to else ''}", to

    async def _echo(self, home: Home) -> None:
        head, to = self._head()
        old = self.tree.data(home.inbox)
        if old is None or home.inbox in self._typing:
            return
        if not self._separated(home.agent):
            head, to = "", ""  # what is not kept apart may be read as one message
        text = head + self._letter(home.agent, to)
        self.note(f"echo to {home.inbox}: {text}")
        self._write(home.inbox, old + self._block(home.agent, old, text))

    def _separated(self, agent: str) -> bool:
        return hash_of(agent, len(self.agents)) % 2 == 0

    def _block(self, agent: str, old: bytes, text: str) -> bytes:
        rule = "\n---\n" if self._separated(agent) and old.strip() else ""
        return f"{rule}{text}\n".encode()

    async def _editor(self, home: Home) -> None:
        old = self.tree.data(home.inbox)
        if old is None or home.inbox in self._typing:
            return
        self._typing.add(home.inbox)
        try:
            await self._type(home, old)
        finally:
            self._typing.discard(home.inbox)

    async def _type(self, home: Home, old: bytes) -> None:
        head, to = self._head() if self._separated(home.agent) else ("", "")
        text = head + self._letter(home.agent, to)
        whole = old + self._block(home.agent, old, text)
        self.note(f"editor on {home.inbox}: {text}")
        if self.chance.random() < 0.4:
            self._write(home.inbox, whole[:-6])
            await asyncio.sleep(self.chance.choice((0.1, 1.0, 2.0)))
        await self._slowly(home.inbox, whole)

    async def _prune(self, home: Home) -> None:
        """Empty the inbox, once all that is in it was delivered."""
        old = self.tree.data(home.inbox)
        if not old or home.inbox in self._typing:
            return
        read = b"".join(
            file.data
            for path, file in self.tree.files(home.path)
            if path.name == "conversation.jsonl" or path.parent == home.questions
        )
        if all(mark in read for mark in re.findall(rb"h\d+h", old)):
            self.note(f"prunes {home.inbox}")
            self._write(home.inbox, b"")
            await asyncio.sleep(6)  # an empty file is believed after five seconds

    async def _drop(self, home: Home) -> None:
        if self.tree.find(home.dropbox) is None:
            return
        to = self.chance.choice(("", "", "alice"))
        urgent = "urgent: true\n" if self.chance.random() < 0.2 else ""
        text = self._letter(home.agent, to)
        keys = (f"to: {to}\n" if to else "") + urgent
        data = f"---\n{keys}---\n{text}\n" if keys else f"{text}\n"
        name = self.chance.choice((f"d{self._count}.md", "same.md"))
        path = home.dropbox / name
        if self.tree.find(path) is not None:
            path = home.dropbox / f"d{self._count}.md"
        self.note(f"drops {path}: {text}")
        hidden = path.with_name(f".{path.name}.tmp")
        self.tree.put(hidden, data.encode())
        await asyncio.sleep(0.01)
        moved = self.tree.take(hidden)
        if moved is not None:
            self.tree.place(path, moved)

    async def _to_worker(self, home: Home) -> None:
        run = self._run(home)
        if run is None:
            return
        workers = self.tree.find(run / "workers")
        names = sorted(getattr(workers, "inner", {}))
        if not names:
            return
        name = self.chance.choice(names)
        path = run / "workers" / name / "_inbox.md"
        old = self.tree.data(path) or b""
        text = self._letter(home.agent, name)
        self.note(f"writes to {path}: {text}")
        self._write(path, old + (b"\n---\n" if old else b"") + text.encode() + b"\n")

    def _run(self, home: Home) -> PurePosixPath | None:
        runs = getattr(self.tree.find(home.runs), "inner", {})
        return home.runs / max(runs) if runs else None

    def _nodes(self, home: Home) -> list[PurePosixPath]:
        run = self._run(home)
        found = self.tree.find(run / "nodes") if run else None
        return (
            [run / "nodes" / name for name in sorted(getattr(found, "inner", {}))]
            if run
            else []
        )

    # --- presence

    async def _presence(self, path: PurePosixPath, *, back: bool) -> None:
        if self.tree.find(path.parent) is None or self.tree.find(path) is not None:
            return
        self.note(f"makes {path}")
        self.tree.put(path, b"")
        if back:
            await asyncio.sleep(self.chance.uniform(0.1, 40))
            self.note(f"removes {path}")
            self.tree.take(path)

    async def _pause(self, home: Home) -> None:
        await self._presence(home.pause, back=True)

    async def _root_pause(self, home: Home) -> None:
        del home
        await self._presence(PurePosixPath("PAUSE"), back=True)

    async def _stop_node(self, home: Home) -> None:
        nodes = self._nodes(home)
        if nodes:
            self.rough.add(home.agent)
            node = self.chance.choice(nodes)
            await self._presence(node / "STOP", back=self.chance.random() < 0.5)

    async def _rerun(self, home: Home) -> None:
        nodes = self._nodes(home)
        if nodes:
            self.rough.add(home.agent)
            path = self.chance.choice(nodes) / "RERUN"
            self.note(f"makes {path}")
            self.tree.put(path, b"")

    async def _stop_agent(self, home: Home) -> None:
        self.rough.add(home.agent)
        if self.chance.random() < 0.5:
            await self._presence(home.stop, back=self.chance.random() < 0.7)

    # --- files

    async def _edit_goal(self, home: Home) -> None:
        old = self.mine.get(home.goal)
        if old and self.tree.data(home.goal) == old:
            self.note("edits the goal")
            await self._slowly(home.goal, old + self._words().encode() + b"\n")

    async def _next_run(self, home: Home) -> None:
        if self.tree.data(home.goal) is not None:
            self._runs += 1
            self.note(f"wants run {self._runs}")
            await self._slowly(home.goal, self._goal())

    async def _goal_away(self, home: Home) -> None:
        old = self.tree.data(home.goal)
        if old and old == self.mine.get(home.goal):
            self.note("takes the goal away")
            gone = self.tree.take(home.goal)
            self.mine[home.goal] = None
            await asyncio.sleep(self.chance.choice((0.5, 3.0, 20.0)))
            if gone is not None:
                self.note("puts the goal back")
                self.mine[home.goal] = old
                self.tree.place(home.goal, gone)

    async def _edit_soul(self, home: Home) -> None:
        if self.tree.find(home.soul) is not None:
            self.note("edits the soul")
            await self._slowly(home.soul, f"You are {self._words()}.\n".encode())

    async def _edit_memory(self, home: Home) -> None:
        old = self.tree.data(home.memory)
        if old is not None:
            self._count += 1
            mark = f"e{self._count}e"
            self.edits.append((home.memory, mark))
            self.note(f"edits {home.memory}: {mark}")
            self.tree.edit(home.memory, old + f"{mark}\n".encode())

    async def _edit_spec(self, home: Home) -> None:
        nodes = self._nodes(home)
        path = self.chance.choice(nodes) / "_spec.md" if nodes else None
        old = self.tree.data(path) if path else None
        if path and old:
            self.note(f"edits {path}")
            self.rough.add(home.agent)
            await self._slowly(path, old + self._words().encode() + b"\n")

    async def _own_node(self, home: Home) -> None:
        run = self._run(home)
        if run is not None:
            self._count += 1
            path = run / "nodes" / f"own{self._count}" / "_spec.md"
            self.tree.make(path.parent)
            self.note(f"writes {path}")
            await self._slowly(path, f"Do this too. {self._words()}\n".encode())

    # --- questions

    async def _answers(self) -> None:
        while True:
            await asyncio.sleep(2.0)
            for agent in self.agents:
                home = Home(agent)
                found = self.tree.find(home.questions)
                for name in sorted(getattr(found, "inner", {})):
                    path = home.questions / name
                    if re.fullmatch(r"q-\d+\.md", name) and path not in self.answered:
                        await asyncio.sleep(self.chance.choice((1.0, 5.0, 30.0)))
                        self._answer(home, path)

    def _answer(self, home: Home, path: PurePosixPath) -> None:
        old = self.tree.data(path)
        if old is None:
            return  # a crash took it back; it comes again
        self.answered.add(path)
        text = self._letter(home.agent, "", answer=path.stem)
        typing = home.inbox in self._typing or not self._separated(home.agent)
        if self.chance.random() < 0.6 or typing:
            self.note(f"answers in {path}: {text}")
            new = re.sub(rb"(?m)^answer:.*$", b"answer: " + text.encode(), old, count=1)
            self.tree.edit(path, new)
            return
        inbox = self.tree.data(home.inbox)
        if inbox is not None:
            self.note(f"answers {path.stem} in the inbox: {text}")
            block = self._block(home.agent, inbox, f"{path.stem}: {text}")
            self._write(home.inbox, inbox + block)


def hash_of(*words: object) -> int:
    """A number for words, the same in every process."""
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(repr(words)))
