"""What an agent's files and a command look like: enough to see that they changed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agiraph.core.schedule.heard import glob
from agiraph.errors import AgiraphError
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePosixPath

    from agiraph.ports import Entry, Reader

MOST_FILES: Final = 2000
MOST_FOLDERS: Final = 500
READ_WHOLE: Final = 1024 * 1024
SETTLED: Final = 2.0  # seconds; a file that changed since is still being written
_WILD: Final = frozenset("*?")


@dataclass(slots=True)
class Eye:
    """Looks at files below one home; remembers those that have not changed.

    Attributes:
        full: whether the last look met more files than it looks at.
    """

    reader: Reader
    home: PurePosixPath
    full: bool = False
    _known: dict[str, tuple[int, float, str]] = field(default_factory=dict)

    def files(self, globs: Iterable[str], *, before: float = 0.0) -> dict[str, str]:
        """What the files that globs mean hold: path in the home -> hash.

        Goes to the disk, and to a bound; for a thread.

        Args:
            before: what has changed later, in seconds since 1970, is left out; 0 for
                none.
        """
        found: dict[str, tuple[int, float, str]] = {}
        self.full = False
        for pattern in globs:
            wanted = glob(pattern)
            for path, entry in self._below(pattern):
                shown = str(path.relative_to(self.home))
                if wanted.fullmatch(shown) and not 0 < before < entry.changed:
                    content = self._hash(path, shown, entry)
                    found[shown] = (entry.size, entry.changed, content)
        self._known = found
        return {shown: content for shown, (_, _, content) in found.items()}

    def _below(self, pattern: str) -> Iterator[tuple[PurePosixPath, Entry]]:
        """The files that a glob may mean: no deeper, and no others, than it says."""
        *above, last = pattern.split("/")
        fixed = next((n for n, part in enumerate(above) if _is_wild(part)), len(above))
        folders, count = [self.home.joinpath(*above[:fixed])], 0
        deepest = len(self.home.parts) + len(above)
        for folder in folders:
            deeper = "**" in pattern or len(folder.parts) < deepest
            for entry in self._entries(folder):
                if folder == self.home and _is_ours(entry.name):
                    continue
                if entry.kind is EntryKind.FOLDER:
                    folders += [folder / entry.name] if deeper else []
                elif not _is_wild(last) and entry.name != last:
                    continue
                elif entry.kind is EntryKind.FILE:
                    count += 1
                    yield folder / entry.name, entry
                if count >= MOST_FILES or len(folders) > MOST_FOLDERS:
                    self.full = True
                    return

    def _entries(self, folder: PurePosixPath) -> tuple[Entry, ...]:
        try:
            return self.reader.entries(folder, within=self.home)
        except AgiraphError:
            return ()

    def _hash(self, path: PurePosixPath, shown: str, entry: Entry) -> str:
        size, changed, known = self._known.get(shown, (-1, 0.0, ""))
        if (size, changed) == (entry.size, entry.changed) and changed:
            return known
        if entry.size > READ_WHOLE:
            return f"{entry.size}:{entry.changed}"
        try:
            data = self.reader.read(path, limit=READ_WHOLE, within=self.home)
        except AgiraphError:
            return "unreadable"
        return hashlib.sha256(data).hexdigest()[:24]


def _is_wild(part: str) -> bool:
    return not _WILD.isdisjoint(part)


def _is_ours(name: str) -> bool:
    """Whether the daemon writes it: it would see itself."""
    return name[0] in "._" or name.endswith(".jsonl")
