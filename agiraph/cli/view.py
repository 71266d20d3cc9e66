"""The tree as people ask about it: agents, nodes, workers, questions, bad files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from agiraph.cli.absence import away_words
from agiraph.cli.badfiles import BadFile, of_agent, of_tree
from agiraph.cli.names import found
from agiraph.cli.owner import elsewhere
from agiraph.cli.read import Files, number, whole, words
from agiraph.cli.shell import quoted
from agiraph.model import layout
from agiraph.model.layout import Home, NodeFolder, RunFolder, WorkerFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import PurePosixPath

QUESTION = re.compile(r"q-[0-9]{1,9}\.md")
PERMISSIONS = {
    "sandbox": "commands run in a process group of their own, without the daemon's "
    "keys in their environment, and no more than that yet",
    "ask": "you are asked first",
}
AT_REST = frozenset({"completed", "idle", "stopped"})


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node, as its `_status.md` says it; unknown cost is None."""

    id: str
    status: str
    worker: str
    since: str
    turns: int
    tokens: int | None
    cost_usd: float | None
    waiting_for: str
    error: str


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker, as its `_status.md` says it."""

    name: str
    status: str
    node: str


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One open question: its file waits for a person."""

    id: str
    agent: str
    path: str
    text: str
    sender: str = ""
    node: str = ""
    kind: str = "question"
    asked: str = ""
    options: tuple[str, ...] = ()

    @property
    def choices(self) -> tuple[str, ...]:
        """The options to show; the command that answers an approval names its own."""
        return () if self.kind == "approval" else self.options

    @property
    def command(self) -> str:
        """The command that answers it."""
        told = "--yes, --no or --always" if self.kind == "approval" else '"..."'
        return f"agiraph answer {quoted(self.agent)} {self.id} {told}"


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent at a glance; unknown cost is None.

    Attributes:
        node_counts: state -> how many, as its status page says.
        nodes, workers: of its newest run; empty where it was not looked at in depth.
        told_run: the run that its status page is about.
        fallback: which model is asked instead of which, and why.
        remarks: what is odd in its files, such as a key that nobody knows.
    """

    name: str
    status: str
    since: str
    run: str
    run_status: str
    stage: str
    turns: int
    tokens: int | None
    cost_usd: float | None
    waiting_for: str
    error: str
    paused: bool
    stopping: bool
    node_counts: dict[str, int]
    nodes: tuple[NodeView, ...]
    workers: tuple[WorkerView, ...]
    questions: tuple[QuestionView, ...]
    errors: tuple[BadFile, ...]
    told_run: str = ""
    fallback: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes are in which state: looked at, or as its status page says."""
        if not self.nodes:
            return dict(self.node_counts)
        found: dict[str, int] = {}
        for each in self.nodes:
            found[each.status] = found.get(each.status, 0) + 1
        return found

    @property
    def behind(self) -> bool:
        """Whether its page still tells of the run before the newest one."""
        return bool(self.told_run) and self.told_run != self.run

    @property
    def ended(self) -> bool:
        """Whether its work went as far as it can without a person."""
        if self.status in ("new", "working") or self.behind:
            return False
        if self.status == "held" and self.waiting_for.startswith("queued"):
            return False
        return self.status != "idle" or self.run_status not in ("open", "reopened")


@dataclass(frozen=True, slots=True)
class TreeView:
    """The whole tree; `errors` are those at its root.

    Attributes:
        away: for how long the person is away, in their words; empty when they are not.
    """

    paused: bool
    agents: tuple[AgentView, ...]
    errors: tuple[BadFile, ...]
    away: str = ""

    @property
    def questions(self) -> tuple[QuestionView, ...]:
        """All that waits for a person, of all agents."""
        return tuple(one for agent in self.agents for one in agent.questions)


def agent_names(files: Files) -> tuple[str, ...]:
    """The agents of a tree: folders with a GOAL.md, or with an agent's records."""
    return tuple(
        name
        for name in files.folders(layout.ROOT)
        if name[0] not in "._" and _is_home(files, Home(name))
    )


def one_agent(files: Files, typed: str) -> str:
    """The agent that was meant; raises NotFound with the nearest names."""
    return found(typed, agent_names(files), kind="agent", where=files.root)


def tree(files: Files, *, deep: bool) -> TreeView:
    """The whole tree.

    Args:
        files: of the tree.
        deep: whether to open the runs of agents at rest too; there may be thousands.
    """
    names = agent_names(files)
    return TreeView(
        paused=files.there(layout.PAUSE),
        agents=tuple(agent(files, name, deep=deep) for name in names),
        errors=tuple(of_tree(files)),
        away=away_words(files),
    )


def agent(files: Files, name: str, *, deep: bool = True) -> AgentView:
    """One agent of the tree; for `deep` see `tree`."""
    home = Home(name)
    facts = files.facts(home.status)
    away = elsewhere(files, name)
    at_rest = words(facts, "status") in AT_REST
    run = newest_run(files, home) if deep or not at_rest else None
    return AgentView(
        name=name,
        status="elsewhere" if away else words(facts, "status") or "new",
        since=words(facts, "since"),
        run=run.name if run else words(facts, "run"),
        run_status=_run_status(files, run),
        stage=words(facts, "stage"),
        turns=whole(facts, "turns") or 0,
        tokens=whole(facts, "tokens"),
        cost_usd=number(facts, "cost_usd"),
        waiting_for=away or words(facts, "waiting_for") or _no_goal(files, home, facts),
        error=words(facts, "error"),
        paused=files.there(home.pause),
        stopping=files.there(home.stop),
        node_counts=_counts(facts.get("nodes")),
        nodes=tuple(nodes(files, run)) if run else (),
        workers=tuple(workers(files, run)) if run else (),
        questions=tuple(open_questions(files, home)),
        errors=tuple(of_agent(files, home, run)),
        told_run=words(facts, "run"),
        fallback=words(facts, "fallback"),
        remarks=_texts(facts.get("remarks")),
    )


def _no_goal(files: Files, home: Home, facts: Mapping[str, object]) -> str:
    """What one that never began waits for, where its GOAL.md says nothing."""
    begun = facts or files.text(home.goal).strip()
    return "" if begun else "its goal: GOAL.md is empty"


def newest_run(files: Files, home: Home) -> RunFolder | None:
    """The run that was opened last: names sort by date and number."""
    names = files.folders(home.runs)
    return home.run(max(names, key=_run_order)) if names else None


def nodes(files: Files, run: RunFolder) -> Iterator[NodeView]:
    """The nodes of a run."""
    for name in files.folders(run.nodes):
        yield node(files, run.node(name))


def node(files: Files, folder: NodeFolder) -> NodeView:
    """One node; one whose status is not written yet is pending."""
    facts = files.facts(folder.status)
    return NodeView(
        id=folder.id,
        status=words(facts, "status") or "pending",
        worker=words(facts, "worker"),
        since=words(facts, "since"),
        turns=whole(facts, "turns") or 0,
        tokens=whole(facts, "tokens"),
        cost_usd=number(facts, "cost_usd"),
        waiting_for=words(facts, "waiting_for"),
        error=words(facts, "error"),
    )


def workers(files: Files, run: RunFolder) -> Iterator[WorkerView]:
    """The workers of a run."""
    for name in files.folders(run.workers):
        folder = WorkerFolder(run.workers / name)
        facts = files.facts(folder.status)
        yield WorkerView(name, words(facts, "status") or "idle", words(facts, "node"))


def open_questions(files: Files, home: Home) -> Iterator[QuestionView]:
    """The questions of an agent that have no answer yet.

    An answer may have come by another way than the file, and what stands there may be
    none: the agent's own page says so, where it is newer than the file.
    """
    names = [name for name in files.files(home.questions) if QUESTION.fullmatch(name)]
    if not names:
        return
    from agiraph.core.codec import Good
    from agiraph.core.codec.question import read_question

    told, told_at = _told_open(files, home)
    for name in names:
        path = home.questions / name
        if told_at > _changed(files, path) and name.removesuffix(".md") not in told:
            continue
        found = read_question(files.text(path), name)
        if not isinstance(found, Good):
            # Two answers that differ count as none; its error page says more.
            yield QuestionView(name[:-3], home.agent, str(path), text="see the file")
        elif not found.value.answer:
            asked = found.value
            yield QuestionView(
                id=asked.id,
                agent=home.agent,
                path=str(path),
                sender=asked.sender,
                node=asked.node or "",
                kind=asked.kind.value,
                asked=asked.asked,
                text=asked.text,
                options=asked.options,
            )


def _told_open(files: Files, home: Home) -> tuple[frozenset[str], float]:
    """The questions that an agent's page lists as open, and when it was written."""
    facts = files.facts(home.status)
    names = [each.partition(":")[0] for each in _texts(facts.get("questions"))]
    waits = words(facts, "status") == "waiting_for_human"
    knows = bool(names) or not waits  # who waits for a person has asked something
    return frozenset(names), _changed(files, home.status) if knows else 0.0


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if _is_list(value) else ()


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _changed(files: Files, path: PurePosixPath) -> float:
    entry = files.entry(path)
    return entry.changed if entry is not None else 0.0


def _is_home(files: Files, home: Home) -> bool:
    return any(files.there(path) for path in (home.goal, home.status, home.events))


def _run_order(name: str) -> tuple[str, int]:
    day, _, count = name.rpartition("-")
    return (day, int(count)) if count.isdigit() else (name, 0)


def _counts(value: object) -> dict[str, int]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key): each for key, each in value.items() if isinstance(each, int)}


def _run_status(files: Files, run: RunFolder | None) -> str:
    return words(files.settings(run.record), "status") if run else ""
