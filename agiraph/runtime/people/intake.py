"""What people wrote: looked at, accepted or rejected in words, and put in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agiraph.core.codec import error_page, log_words
from agiraph.core.codec.report import Good, Problem, Rejected
from agiraph.model.event import EventType
from agiraph.model.layout import error_file
from agiraph.ports import Seen
from agiraph.runtime.together import together

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePosixPath

    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk

T = TypeVar("T")


class Intake:
    """One agent's desk for incoming files: each version is judged once."""

    def __init__(self, desk: Desk) -> None:
        """Nothing has been judged yet."""
        self._desk = desk
        self._judged: dict[PurePosixPath, str] = {}
        self._bad: set[PurePosixPath] = set()

    def is_new(self, path: PurePosixPath, sight: Sight) -> bool:
        """Whether this version of a file has not been judged."""
        mark = f"{sight.seen.value}:{sight.sha or sight.problem}"
        return self._judged.get(path) != mark

    @property
    def any_bad(self) -> bool:
        """Whether the last version of some file was rejected."""
        return bool(self._bad)

    def is_bad(self, path: PurePosixPath) -> bool:
        """Whether the last version of a file was rejected."""
        return path in self._bad

    def note(self, path: PurePosixPath, sight: Sight) -> None:
        """Remember that this version was judged."""
        self._judged[path] = f"{sight.seen.value}:{sight.sha or sight.problem}"

    def accepted(self, path: PurePosixPath) -> str | None:
        """The last good copy of a file, if there is one."""
        copy = self._desk.home.accepted(path)
        reader = self._desk.world.reader
        if reader.entry(copy) is None:
            return None
        return reader.read(copy, limit=1 << 24).decode()

    async def judge(
        self,
        path: PurePosixPath,
        sight: Sight,
        read: Callable[[str], Good[T] | Rejected],
        in_force: str,
    ) -> T | None:
        """The value of a new good version; None where it is old or rejected.

        Args:
            in_force: what holds while the file is bad, for its error page.
        """
        if sight.seen is Seen.LATER or not self.is_new(path, sight):
            return None
        if sight.seen is Seen.ABSENT:
            await self.clear(path, sight)
            return None
        if sight.seen is Seen.BAD:
            problem = Problem(sight.line or 0, 1, "", sight.problem, "")
            await self.reject(path, sight, (problem,), in_force)
            return None
        found = read(sight.text)
        if isinstance(found, Rejected):
            await self.reject(path, sight, found.problems, in_force)
            return None
        await self.mended(path)
        self._remark(path, found)
        return found.value

    def _remark(self, path: PurePosixPath, found: Good[T]) -> None:
        """Tell what is odd in a good file: in the log; of the home, on the page too."""
        desk = self._desk
        said = [f"line {each.line}: {each.text}" for each in found.remarks]
        for words in said:
            desk.world.remark(f"{path}, {words}")
        if said and path.parent == desk.home.path:
            desk.remarks[path] = tuple(f"{path.name}, {words}" for words in said)

    async def clear(self, path: PurePosixPath, sight: Sight) -> None:
        """Nothing is wrong with a file any more: it is gone, or says what is in force.

        One that was gone is judged anew when it returns.
        """
        if self.is_new(path, sight):
            await self.mended(path)
            self.note(path, sight)

    async def keep(self, path: PurePosixPath, sight: Sight) -> None:
        """Keep the good copy, on the disk before anything acts on it."""
        desk = self._desk
        if self.accepted(path) == sight.text:
            self.note(path, sight)  # as before the last restart
            return
        # The journal's line is for people to read: it need not come after the copy.
        await together(
            keep_copy(desk, path, sight.text),
            desk.journal.accept(str(path), sight.sha),
        )
        self.note(path, sight)
        await desk.records.event(EventType.FILE_CHANGED, desk.where(), path=str(path))

    async def reject(
        self,
        path: PurePosixPath,
        sight: Sight,
        problems: tuple[Problem, ...],
        in_force: str,
    ) -> None:
        """Say beside the file what is wrong; what was in force stays."""
        self.note(path, sight)
        await self.complain(path, problems, in_force)

    async def complain(
        self, path: PurePosixPath, problems: tuple[Problem, ...], in_force: str
    ) -> None:
        """Say beside a file what is wrong with it, or with what was said of it."""
        desk = self._desk
        self._bad.add(path)
        page = error_page(path, problems, in_force).encode()
        await desk.world.write(error_file(path), page)
        words = log_words(path, problems)
        await desk.records.event(
            EventType.FILE_ERROR, desk.where(), path=str(path), words=words
        )

    async def mended(self, path: PurePosixPath) -> None:
        """Take the error page away once the file is good."""
        desk = self._desk
        page = error_file(path)
        desk.remarks.pop(path, None)
        if path not in self._bad and desk.world.reader.entry(page) is None:
            return
        self._bad.discard(path)
        await desk.world.durably(lambda: desk.world.pen.remove(page))
        await desk.records.event(EventType.FILE_MENDED, desk.where(), path=str(path))


async def keep_copy(desk: Desk, path: PurePosixPath, text: str) -> None:
    """Keep the last good copy of a file that a person may change."""
    await desk.world.write(desk.home.accepted(path), text.encode())
