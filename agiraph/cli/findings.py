"""What is wrong in a tree: each person's file, read by the daemon's own rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from agiraph.cli.view import QUESTION
from agiraph.core import board, limits
from agiraph.core.codec import (
    Good,
    Rejected,
    read_goal,
    read_identity,
    read_mcp,
    read_owner,
    read_skill,
    read_spec,
    read_tree_settings,
    spec_hash,
)
from agiraph.core.codec.approvals import read_approvals
from agiraph.core.codec.mail import read_dropped
from agiraph.core.codec.question import read_question
from agiraph.core.codec.triggers import read_triggers
from agiraph.core.loglines import bad_lines
from agiraph.core.packed import lines, unpacked
from agiraph.core.retention import is_archive
from agiraph.errors import AgiraphError
from agiraph.model.agent import TreeSettings
from agiraph.model.layout import ERROR_SUFFIX, ROOT, SETTINGS, Home, put_away
from agiraph.model.names import folded, name_problem
from agiraph.model.node import Node, NodeStatus
from agiraph.ports import EntryKind, Seen
from agiraph.runtime.parts import archives, head_at, pieces
from agiraph.runtime.spent import wrong_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import PurePosixPath

    from agiraph.cli.read import Files
    from agiraph.core.codec import Problem
    from agiraph.model.json import JsonObject
    from agiraph.model.layout import RunFolder
    from agiraph.model.node import NodeSpec

T = TypeVar("T")
_NAMED: Final = 10  # bad lines of one log


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in one file; line and column from 1, None for the whole file."""

    path: str
    line: int | None
    column: int | None
    words: str
    remark: bool


class Checker:
    """Reads a tree once, or what matters of it.

    Attributes:
        count: how many of the files that matter it has read.
    """

    def __init__(self, files: Files, inner: str = "") -> None:
        """All files matter, or those at and below the path `inner` of the tree."""
        self._files = files
        self._inner = inner
        self.count = 0

    def tree(self) -> Iterator[Finding]:
        """Everything that is wrong with what matters, agent by agent."""
        return (each for each in self._all() if self._matters(each.path))

    def _matters(self, path: str) -> bool:
        inner = self._inner
        return not inner or path == inner or path.startswith(f"{inner}/")

    def _all(self) -> Iterator[Finding]:
        wanted = self._inner.split("/", 1)[0]
        settings = TreeSettings()
        if self._files.there(SETTINGS):
            found, good = self._read(SETTINGS, read_tree_settings)
            yield from found
            settings = good or settings
        entries = [
            each
            for each in self._files.entries(ROOT)
            if each.kind is EntryKind.FOLDER and each.name[0] not in "._"
        ]
        yield from _alike([each.name for each in entries], ROOT)
        for each in entries:
            if wanted in ("", each.name):
                yield from self._agent(Home(each.name), settings)

    def _agent(self, home: Home, settings: TreeSettings) -> Iterator[Finding]:
        if not self._files.there(home.goal) and not self._files.there(home.runs):
            return
        yield from _bad_name(home.path)
        if self._files.there(home.goal):
            given = settings.defaults
            found, _ = self._read(home.goal, lambda text: read_goal(text, given))
            yield from found
        if self._files.there(home.triggers):
            yield from self._read(home.triggers, read_triggers)[0]
        yield from self._means(home)
        if self._files.there(home.owner):
            yield from self._read(home.owner, read_owner)[0]
        if self._files.there(home.approvals):
            yield from self._read(home.approvals, read_approvals)[0]
        yield from self._plain(home)
        yield from self._people(home)
        for name in self._files.folders(home.runs):
            yield from self._run(home.run(name))
        yield from self._logs(home)
        yield from self._put_away(home)

    def _people(self, home: Home) -> Iterator[Finding]:
        """What people and programs put into folders: messages, answers."""
        for name in self._files.files(home.dropbox):
            # A program is still writing what has such a name.
            if not name.startswith(".") and not name.endswith((".tmp", ERROR_SUFFIX)):
                path = home.dropbox / name
                yield from self._read(path, read_dropped, limits.INBOX_BYTES)[0]
        for name in self._files.files(home.questions):
            if QUESTION.fullmatch(name):
                read = partial(read_question, name=name)
                yield from self._read(home.questions / name, read)[0]

    def _means(self, home: Home) -> Iterator[Finding]:
        """Tool servers and skills."""
        if self._files.there(home.servers):
            yield from self._read(home.servers, read_mcp)[0]
        for name in self._files.folders(home.skills):
            read, path = partial(read_skill, folder=name), home.skills / name
            yield from self._read(path / "SKILL.md", read)[0]

    def _plain(self, home: Home) -> Iterator[Finding]:
        """Files without a format of their own: they only have to be text."""
        for path, most in (
            (home.soul, limits.GOAL_BYTES),
            (home.memory, limits.GOAL_BYTES),
            (home.inbox, limits.INBOX_BYTES),
        ):
            if self._files.there(path):
                yield from self._read(path, _any_text, most)[0]

    def _logs(self, home: Home) -> Iterator[Finding]:
        """Logs that the daemon adds to; half a line at the end is no fault."""
        for path in (home.usage, home.events, home.fired):
            if self._matters(str(path)) and self._files.there(path):
                self.count += 1
                wrong = wrong_with if path == home.usage else _nothing
                yield from _damaged(self._files, path, wrong)

    def _put_away(self, home: Home) -> Iterator[Finding]:
        """The archives, each unpacked once: a damaged one tells of nothing."""
        logs, sizes = (home.events, home.usage, home.fired), {}
        for shelf in (home.archive, home.talks_away, *map(put_away, logs)):
            for name in filter(is_archive, self._files.files(shelf)):
                path = shelf / name
                if not self._matters(str(path)):
                    continue
                self.count += 1
                try:
                    whole = unpacked(pieces(self._files.reader, path), path)
                    sizes[path] = sum(map(len, whole))
                except AgiraphError as fault:
                    words = f"{fault}; what it held is not counted or shown"
                    yield Finding(str(path), None, None, words, remark=False)
        yield from self._all_there(home.usage, sizes)

    def _all_there(
        self, log: PurePosixPath, sizes: Mapping[PurePosixPath, int]
    ) -> Iterator[Finding]:
        """Whether the archives of a log hold as much as its first line tells of.

        Args:
            log: which.
            sizes: what each good archive holds, in bytes.
        """
        try:
            head = head_at(self._files.reader, log)
            there = archives(self._files.reader, log, head)
        except AgiraphError:
            return  # it is told of the log
        held = sum(sizes.get(each, 0) for each in there)
        if sizes.keys() >= set(there) and held != head.bytes:
            words = (
                f"{head.bytes:,} bytes of it were put away, and {put_away(log)}/ holds "
                f"{held:,}; costs and budgets count what is there"
            )
            yield Finding(str(log), 1, None, words, remark=True)

    def _run(self, run: RunFolder) -> Iterator[Finding]:
        nodes: dict[str, Node] = {}
        for name in self._files.folders(run.nodes):
            folder = run.node(name)
            yield from _bad_name(folder.path)
            if self._files.there(folder.spec):
                found, spec = self._read(folder.spec, read_spec)
                yield from found
                if spec is not None:
                    nodes[name] = _node(name, spec)
        yield from _alike(list(self._files.folders(run.nodes)), run.nodes)
        for node in nodes.values():
            wrong = board.fault(node, nodes)
            if wrong:
                where = str(run.node(node.id).spec)
                yield Finding(where, None, None, wrong, remark=False)
        for name in self._files.folders(run.workers):
            path = run.worker(name).identity
            if self._files.there(path):
                found, _ = self._read(path, partial(read_identity, name=name))
                yield from found

    def _read(
        self,
        path: PurePosixPath,
        read: Callable[[str], Good[T] | Rejected],
        limit: int = limits.GOAL_BYTES,
    ) -> tuple[list[Finding], T | None]:
        """What one file comes to, and its value when it is good."""
        self.count += self._matters(str(path))
        sight = self._files.settled(path, limit=limit)
        if sight.seen is Seen.GOOD:
            return _judged(path, read(sight.text))
        if sight.seen is Seen.ABSENT:
            return [], None
        words = sight.problem or "it keeps changing; it is read once it is quiet"
        still = sight.seen is Seen.LATER
        return [Finding(str(path), sight.line, None, words, remark=still)], None


def _damaged(
    files: Files, path: PurePosixPath, wrong: Callable[[JsonObject], str]
) -> Iterator[Finding]:
    """Lines of a log that no crash explains, the first few of them by name."""
    try:
        bad = list(bad_lines(lines(pieces(files.reader, path)), wrong))
    except AgiraphError as fault:
        yield Finding(str(path), None, None, str(fault), remark=False)
        return
    for each in bad[:_NAMED]:
        words = f"it cannot be read: {each.why}; what it said is not counted or shown"
        yield Finding(str(path), each.number, 1, words, remark=False)
    if len(bad) > _NAMED:
        words = f"{len(bad) - _NAMED} more lines cannot be read"
        yield Finding(str(path), None, None, words, remark=False)


def _nothing(_: JsonObject) -> str:
    return ""


def _judged(
    path: PurePosixPath, outcome: Good[T] | Rejected
) -> tuple[list[Finding], T | None]:
    where = str(path)
    if isinstance(outcome, Rejected):
        return [
            Finding(where, each.line, each.column, _words(each), remark=False)
            for each in outcome.problems
        ], None
    remarks = [
        Finding(where, each.line, None, each.text, remark=True)
        for each in outcome.remarks
    ]
    return remarks, outcome.value


def _words(problem: Problem) -> str:
    key = f"`{problem.key}`: " if problem.key else ""
    return f"{key}found {problem.found}; allowed is {problem.allowed}"


def _any_text(text: str) -> Good[str] | Rejected:
    return Good(text)


def _node(name: str, spec: NodeSpec) -> Node:
    return Node(name, spec, spec_hash(spec), NodeStatus())


def _bad_name(path: PurePosixPath) -> Iterator[Finding]:
    problem = name_problem(path.name)
    if problem is not None:
        words = f"the folder's name cannot stand: {problem}"
        yield Finding(str(path), None, None, words, remark=False)


def _alike(names: list[str], folder: PurePosixPath) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(folded(name), name)
        if other != name:
            words = (
                f"the name differs from {other!r} only in case or spelling; rename one"
            )
            yield Finding(str(folder / name), None, None, words, remark=False)
