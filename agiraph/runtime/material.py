"""What briefs are made of: memory, inputs and refs, read from the tree."""

from __future__ import annotations

import fnmatch
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.brief import Listed
from agiraph.core.limits import GOAL_BYTES, INLINED_REFS, MEMORY_SHOWN
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.names import folded
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.layout import Home, RunFolder
    from agiraph.model.node import NodeSpec
    from agiraph.ports import Reader

DEEPEST = 8
MOST_PROJECTS = 20
MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class Found:
    """One file that a ref leads to.

    Attributes:
        path: as a model names it, e.g. `nodes/a/published/x.md`.
        place: relative to the tree's root.
    """

    path: str
    place: PurePosixPath
    size: int
    sha: str


class Material:
    """Reads what a brief shows. Never writes."""

    def __init__(self, reader: Reader, home: Home) -> None:
        """For the agent at `home`."""
        self._reader = reader
        self._home = home

    def text(self, path: PurePosixPath, *, limit: int = GOAL_BYTES) -> str:
        """A text file, or nothing where there is none."""
        try:
            data = self._reader.part(path, offset=0, limit=limit)
        except AgiraphError:
            return ""
        return data.decode("utf-8", "replace").removeprefix("\ufeff")

    def data(self, path: PurePosixPath) -> bytes | None:
        """A file's bytes; None where there is none that can be read."""
        try:
            return self._reader.read(path, limit=GOAL_BYTES)
        except AgiraphError:
            return None

    def memory(self) -> str:
        """MEMORY.md, as far as a brief shows it."""
        return self.text(self._home.memory)

    def memory_index(self) -> str:
        """memory/index.md, as far as a brief shows it."""
        return self.text(self._home.memories / "index.md")

    def memory_files(self) -> list[PurePosixPath]:
        """The files of the memory that a run brief shows."""
        logs = [self._home.memories / f"{day}.md" for day, _ in self.daily_logs()]
        return [self._home.memory, self._home.memories / "index.md", *logs]

    def daily_logs(self) -> list[tuple[str, str]]:
        """The last two daily logs, older first."""
        try:
            names = [e.name for e in self._reader.entries(self._home.memories)]
        except AgiraphError:
            return []
        days = [n for n in names if fnmatch.fnmatch(n, "[0-9]*-[0-9]*-[0-9]*.md")]
        return [
            (name.removesuffix(".md"), self.text(self._home.memories / name))
            for name in sorted(days)[-2:]
        ]

    def inputs(self) -> list[Listed]:
        """The files below inputs/, by name."""
        return [
            Listed(f.path, f.size) for f in self._below(self._home.inputs, "inputs")
        ]

    def instructions(self) -> list[Listed]:
        """AGENTS.md of `inputs/` and of each folder in it, else CLAUDE.md."""
        top = self._home.inputs
        try:
            entries = self._reader.entries(top)
        except AgiraphError:
            return []
        folders = [e.name for e in entries if e.kind is EntryKind.FOLDER]
        places = ["inputs", *(f"inputs/{n}" for n in folders if n[0] != ".")]
        found = (self._instructed(place) for place in places[:MOST_PROJECTS])
        return [each for each in found if each is not None]

    def _instructed(self, place: str) -> Listed | None:
        for name in ("AGENTS.md", "CLAUDE.md"):
            shown = f"{place}/{name}"
            found = self._below(self._home.path / shown, shown)
            if found:
                return self._listed(found[0], MEMORY_SHOWN)
        return None

    def refs(self, spec: NodeSpec, run: RunFolder) -> list[tuple[str, list[Found]]]:
        """The spec's refs, resolved to files."""
        return [
            (name, [f for path in paths for f in self._resolve(path, run)])
            for name, paths in spec.refs
        ]

    def listed(
        self, refs: list[tuple[str, list[Found]]], *, most: int = INLINED_REFS
    ) -> list[tuple[str, list[Listed]]]:
        """Resolved refs as a brief shows them: with their text where they are small.

        Args:
            refs: what was found for each of them.
            most: bytes of a file that may be shown whole.
        """
        return [
            (name, [self._listed(file, most) for file in files]) for name, files in refs
        ]

    def _listed(self, file: Found, most: int) -> Listed:
        if file.size > most:
            return Listed(file.path, file.size)
        try:
            data = self._reader.read(file.place, limit=most, within=file.place.parent)
            return Listed(file.path, file.size, data.decode())
        except (AgiraphError, UnicodeDecodeError):
            return Listed(file.path, file.size)

    def _resolve(self, path: str, run: RunFolder) -> list[Found]:
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if not parts or ".." in parts:
            return []
        if parts[0] == "inputs":
            return self._match(self._home.inputs, "inputs", parts[1:])
        if parts[0] == "nodes":
            parts = parts[1:]
        if not parts:
            return []
        node = self._node(parts[0], run)
        base, shown = run.nodes / node, f"nodes/{node}"
        rest = parts[1:] or ["published"]
        if rest[0] not in ("published", "_spec.md", "_status.md", "_refs.json"):
            return []
        return self._match(base, shown, rest)

    def _node(self, name: str, run: RunFolder) -> str:
        """A node's folder as it is written; names differ in more than case."""
        try:
            there = [entry.name for entry in self._reader.entries(run.nodes)]
        except NotThere:
            return name
        if name in there:
            return name
        return next((each for each in there if folded(each) == folded(name)), name)

    def _match(self, base: PurePosixPath, shown: str, rest: list[str]) -> list[Found]:
        if any(mark in part for part in rest for mark in "*?["):
            pattern = "/".join([shown, *rest])
            fixed = rest[: next(i for i, p in enumerate(rest) if set(p) & set("*?["))]
            files = self._below(base.joinpath(*fixed), "/".join([shown, *fixed]))
            return [f for f in files if fnmatch.fnmatchcase(f.path, pattern)]
        return self._below(base.joinpath(*rest), "/".join([shown, *rest]))

    def _below(self, place: PurePosixPath, shown: str) -> list[Found]:
        """A file, or all files below a folder, by name, to a bound."""
        try:
            entry = self._reader.entry(place, within=place.parent)
        except AgiraphError:
            return []
        if entry is None:
            return []
        if entry.kind is EntryKind.FILE:
            return [Found(shown, place, entry.size, self._sha(place, entry.size))]
        found: list[Found] = []
        self._walk(place, place, shown, found)
        return found

    def _walk(
        self, top: PurePosixPath, place: PurePosixPath, shown: str, found: list[Found]
    ) -> None:
        if len(place.parts) - len(top.parts) > DEEPEST:
            return
        try:
            entries = self._reader.entries(place, within=top)
        except AgiraphError:
            return
        for entry in entries:
            if len(found) >= MOST_FILES or entry.name.startswith("."):
                continue
            inner = place / entry.name
            if entry.kind is EntryKind.FOLDER:
                self._walk(top, inner, f"{shown}/{entry.name}", found)
            elif entry.kind is EntryKind.FILE:
                sha = self._sha(inner, entry.size)
                found.append(Found(f"{shown}/{entry.name}", inner, entry.size, sha))

    def _sha(self, place: PurePosixPath, size: int) -> str:
        if size > 4 * GOAL_BYTES:
            return f"size:{size}"
        try:
            data = self._reader.read(place, limit=4 * GOAL_BYTES, within=place.parent)
        except AgiraphError:
            return ""
        return hashlib.sha256(data).hexdigest()

    def fingerprint(self, folder: PurePosixPath) -> str:
        """One hash over the names and contents of everything below a folder."""
        lines = [f"{f.path} {f.sha}" for f in self._below(folder, "")]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def is_there(self, path: PurePosixPath) -> bool:
        """Whether something stands at a path."""
        try:
            return self._reader.entry(path) is not None
        except (NotThere, AgiraphError):
            return False
