"""One agent's folder as people left it: one look at every file that is theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agiraph.core import copies
from agiraph.core.inbox import HELD_OPEN
from agiraph.core.limits import GOAL_BYTES, INBOX_BYTES
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.layout import ERROR_SUFFIX
from agiraph.model.names import name_problem, question_id
from agiraph.ports import EntryKind, Seen, Sight

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from agiraph.model.layout import Home
    from agiraph.ports import Entry, Reader

_FILES = (EntryKind.FILE, EntryKind.LINK, EntryKind.OTHER)
EDITOR_LOCKS = (".{}.swp", ".{}.swo", ".#{}", ".{}.swpx", ".~lock.{}#")


@dataclass(slots=True)
class Folder:
    """What people wrote, at one look.

    Attributes:
        run: the newest run's name.
        goal_changed: when GOAL.md last changed, in seconds since 1970.
        drops: files in `_inbox/`, by name.
        questions: files in `_questions/`, by number; strays: the others there, such as
            copies that a sync tool made, by name.
        specs, stops, reruns: by node; identities, notes: by worker.
        odd: names that cannot be used, and why.
        held_open: what was changed just now, and has an editor's lock file beside it.
    """

    there: bool = True
    owner: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    goal: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    soul: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    memory: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    triggers: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    servers: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    inbox: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    approvals: Sight = field(default_factory=lambda: Sight(Seen.ABSENT))
    held_open: set[PurePosixPath] = field(default_factory=set)
    pause: bool = False
    stop: bool = False
    run: str | None = None
    goal_changed: float | None = None
    drops: dict[str, Sight] = field(default_factory=dict)
    questions: dict[int, Sight] = field(default_factory=dict)
    strays: dict[str, Sight] = field(default_factory=dict)
    specs: dict[str, Sight] = field(default_factory=dict)
    stops: set[str] = field(default_factory=set)
    reruns: set[str] = field(default_factory=set)
    identities: dict[str, Sight] = field(default_factory=dict)
    notes: dict[str, Sight] = field(default_factory=dict)
    odd: dict[PurePosixPath, str] = field(default_factory=dict)
    again: float | None = None


class Look:
    """Looks at one agent's folder. Never writes; safe to run in a thread."""

    def __init__(self, reader: Reader, home: Home, questions: Iterable[int]) -> None:
        """`questions`: the numbers of those that are open."""
        self._reader = reader
        self._home = home
        self._questions = tuple(questions)
        self._found = Folder()

    def take(self) -> Folder:
        """One look at everything."""
        home, found = self._home, self._found
        names = {entry.name: entry for entry in self._entries(home.path)}
        if not names and self._reader.entry(home.path) is None:
            found.there = False
            return found
        found.owner = self._look(home.owner, GOAL_BYTES)
        found.goal = self._look(home.goal, GOAL_BYTES)
        found.soul = self._look(home.soul, GOAL_BYTES)
        found.memory = self._look(home.memory, GOAL_BYTES)
        found.triggers = self._look(home.triggers, GOAL_BYTES)
        found.servers = self._look(home.servers, GOAL_BYTES)
        found.inbox = self._typed(home.inbox, INBOX_BYTES)
        found.approvals = self._look(home.approvals, GOAL_BYTES)
        found.goal_changed = names["GOAL.md"].changed if "GOAL.md" in names else None
        self._copies(names)
        found.pause = "PAUSE" in names
        found.stop = "STOP" in names
        self._drops()
        self._asked()
        self._run()
        return found

    def _copies(self, names: Iterable[str]) -> None:
        home = self._home
        texts = (home.goal, home.soul, home.memory, home.inbox)
        others = (home.triggers, home.owner, home.approvals)
        known = [path.name for path in (*texts, *others)]
        for name in names:
            if original := copies.copied(name, known):
                self._found.odd[home.path / name] = copies.told(original)

    def _look(self, path: PurePosixPath, limit: int, *, at_once: bool = False) -> Sight:
        sight = self._reader.look(path, limit=limit, at_once=at_once)
        if sight.seen is Seen.LATER:
            self.again_in(sight.again)
        return sight

    def _typed(self, path: PurePosixPath, limit: int) -> Sight:
        """One look at a file that people type into."""
        sight = self._look(path, limit)
        if sight.seen is Seen.GOOD and sight.quiet < HELD_OPEN:
            locks = (path.with_name(lock.format(path.name)) for lock in EDITOR_LOCKS)
            if any(map(self._is_there, locks)):
                self._found.held_open.add(path)
        return sight

    def again_in(self, seconds: float) -> None:
        """Ask for another look soon."""
        again = self._found.again
        self._found.again = seconds if again is None else min(again, seconds)

    def _entries(self, path: PurePosixPath) -> tuple[Entry, ...]:
        try:
            return self._reader.entries(path)
        except AgiraphError:
            return ()

    def _drops(self) -> None:
        for entry in self._entries(self._home.dropbox):
            if entry.name.startswith(".") or entry.name.endswith((".tmp", ".error.md")):
                continue
            if entry.kind is EntryKind.FOLDER:
                continue
            path = self._home.dropbox / entry.name
            sight = self._look(path, GOAL_BYTES, at_once=True)
            self._found.drops[entry.name] = sight

    def _asked(self) -> None:
        """The question files, those of the open ones first; and what lies beside."""
        home, found = self._home, self._found
        names = [e.name for e in self._entries(home.questions) if e.kind in _FILES]
        known = [number for name in names if (number := number_of(name)) is not None]
        for number in dict.fromkeys([*self._questions, *known]):
            found.questions[number] = self._typed(home.question(number), GOAL_BYTES)
        for name in names:
            if number_of(name) is None and _is_stray(name):
                found.strays[name] = self._look(home.questions / name, GOAL_BYTES)

    def _run(self) -> None:
        runs = [
            entry.name
            for entry in self._entries(self._home.runs)
            if entry.kind is EntryKind.FOLDER and not entry.name.startswith(".")
        ]
        if not runs:
            return
        self._found.run = max(runs)
        folder = self._home.run(self._found.run)
        for node in self._folders(folder.nodes):
            self._node(node)
        for worker in self._folders(folder.workers):
            places = folder.worker(worker)
            self._found.identities[worker] = self._look(places.identity, GOAL_BYTES)
            self._found.notes[worker] = self._typed(places.inbox, INBOX_BYTES)

    def _node(self, node: str) -> None:
        places = self._home.run(str(self._found.run)).node(node)
        self._found.specs[node] = self._look(places.spec, GOAL_BYTES)
        if self._is_there(places.stop):
            self._found.stops.add(node)
        if self._is_there(places.rerun):
            self._found.reruns.add(node)

    def _is_there(self, path: PurePosixPath) -> bool:
        try:
            return self._reader.entry(path) is not None
        except AgiraphError:
            return False

    def _folders(self, path: PurePosixPath) -> list[str]:
        good = []
        for entry in self._entries(path):
            if entry.kind is not EntryKind.FOLDER or entry.name.startswith("."):
                continue
            problem = name_problem(entry.name)
            if problem:
                self._found.odd[path / entry.name] = problem
            else:
                good.append(entry.name)
        return good


def number_of(name: str) -> int | None:
    """The number in `q-007.md`, or None for any other name."""
    stem = name.removesuffix(".md")
    if not name.endswith(".md") or not stem.startswith("q-"):
        return None
    digits = stem.removeprefix("q-")
    good = digits.isascii() and digits.isdigit() and len(digits) < 10
    return int(digits) if good and stem == question_id(int(digits)) else None


def _is_stray(name: str) -> bool:
    ours = name.startswith(".") or name.endswith((ERROR_SUFFIX, ".tmp", "~"))
    return name.startswith("q-") and name.endswith(".md") and not ours


def newest_run(reader: Reader, home: Home) -> str | None:
    """The name of the agent's newest run; a folder without a record is none."""
    try:
        names = [e.name for e in reader.entries(home.runs) if e.name[0] != "."]
    except NotThere:
        return None
    names.sort(reverse=True)
    recorded = (n for n in names if reader.entry(home.run(n).record) is not None)
    return next(recorded, None)
