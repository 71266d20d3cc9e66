"""Reading the tree for people: what cannot be read is shown as not there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from agiraph.errors import AgiraphError
from agiraph.ports import EntryKind, Seen

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.json import Json
    from agiraph.ports import Entry, Reader, Sight

Facts: TypeAlias = "Mapping[str, Json]"
_PATIENCE = 6.0  # an empty file is believed after five seconds
_PAGE = 2 * 1024 * 1024


class Files:
    """The files of one tree; it never writes and never raises for a bad file."""

    def __init__(self, root: str) -> None:
        from agiraph.clock import SystemClock
        from agiraph.tree.reader import DiskReader

        self.root = root
        self.reader: Reader = DiskReader(root, SystemClock())

    def entries(self, path: PurePosixPath) -> tuple[Entry, ...]:
        """What is in a folder; nothing where it is none."""
        try:
            return self.reader.entries(path)
        except AgiraphError:
            return ()

    def folders(self, path: PurePosixPath) -> tuple[str, ...]:
        """The names of the folders in a folder."""
        kind = EntryKind.FOLDER
        return tuple(each.name for each in self.entries(path) if each.kind is kind)

    def files(self, path: PurePosixPath) -> tuple[str, ...]:
        """The names of the regular files in a folder."""
        kind = EntryKind.FILE
        return tuple(each.name for each in self.entries(path) if each.kind is kind)

    def there(self, path: PurePosixPath) -> bool:
        """Whether anything has this name."""
        try:
            return self.reader.entry(path) is not None
        except AgiraphError:
            return False

    def entry(self, path: PurePosixPath) -> Entry | None:
        """How a file stands; None where there is none."""
        try:
            return self.reader.entry(path)
        except AgiraphError:
            return None

    def part(self, path: PurePosixPath, offset: int, limit: int) -> bytes:
        """Some of a file; empty where it cannot be read."""
        try:
            return self.reader.part(path, offset=offset, limit=limit)
        except AgiraphError:
            return b""

    def text(self, path: PurePosixPath, limit: int = _PAGE) -> str:
        """A file's text; empty where it cannot be read."""
        try:
            return self.reader.read(path, limit=limit).decode("utf-8", "replace")
        except AgiraphError:
            return ""

    def settled(self, path: PurePosixPath, *, limit: int) -> Sight:
        """A person's file as the daemon would take it, once it is quiet."""
        sight = self.reader.look(path, limit=limit)
        end = time.monotonic() + _PATIENCE
        while sight.seen is Seen.LATER and time.monotonic() < end:
            time.sleep(min(max(sight.again, 0.05), 1.0))
            sight = self.reader.look(path, limit=limit)
        return sight

    def facts(self, path: PurePosixPath) -> Facts:
        """The keys of a status page; empty where there is none."""
        from agiraph.core.codec import read_status

        text = self.text(path)
        return read_status(text) if text else {}

    def page(self, path: PurePosixPath) -> tuple[Facts, str]:
        """The frontmatter of a file and its body."""
        text = self.text(path)
        if not text:
            return {}, ""
        from agiraph.core.codec.page import read_page
        from agiraph.core.codec.report import Findings

        page = read_page(text, Findings.none_yet())
        return _plain(page.settings.group), page.body

    def settings(self, path: PurePosixPath) -> Facts:
        """A whole YAML file as its keys; empty where it is none."""
        return self.sound_settings(path)[0]

    def sound_settings(self, path: PurePosixPath) -> tuple[Facts, str]:
        """The keys of a YAML file, and what is wrong in it; empty where nothing is."""
        text = self.text(path)
        if not text:
            bad = self.entry(path)
            return {}, "it cannot be read" if bad is not None and bad.size else ""
        from agiraph.core.codec.page import read_section
        from agiraph.core.codec.report import Findings

        findings = Findings.none_yet()
        facts = _plain(read_section(text, findings).group)
        wrong = [f"line {each.line}: {each.found}" for each in findings.problems]
        return facts, "; ".join(wrong[:1])


def words(facts: Facts, key: str) -> str:
    """The value of a key as text; empty where it is missing."""
    value = facts.get(key)
    return value if isinstance(value, str) else "" if value is None else str(value)


def whole(facts: Facts, key: str) -> int | None:
    """The value of a key as a count; None where it is none."""
    value = facts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(facts: Facts, key: str) -> float | None:
    """The value of a key as a number; None where it is none, so unknown stays so."""
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _plain(group: object) -> Facts:
    from agiraph.core.codec.kinds import plain_json
    from agiraph.core.codec.marked import Group

    if not isinstance(group, Group):
        return {}
    plain = plain_json(group)
    return plain if isinstance(plain, Mapping) else {}
