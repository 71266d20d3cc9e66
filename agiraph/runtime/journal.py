"""The journal of one agent: what was intended, done and accepted, before it acts."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agiraph.core.approval import APPROVAL
from agiraph.core.keeping import still_matters
from agiraph.core.limits import JOURNAL_BYTES, LOG_BYTES
from agiraph.core.loglines import BadLine, records
from agiraph.errors import Damaged, NotThere, TooManyOpen, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home
    from agiraph.runtime.world import World

_LET_END: Final = 5.0  # seconds that a replacement under way may take at our end


@dataclass(frozen=True, slots=True)
class Kept:
    """Why an agent does not work; goal_changed: when GOAL.md had last changed then."""

    words: str
    goal_changed: float | None


@dataclass(slots=True)
class _Known:
    """What the entries of a journal come to; highest: the number of a question."""

    intents: dict[str, JsonObject] = field(default_factory=dict)
    marks: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    approvals: dict[int, JsonObject] = field(default_factory=dict)
    again: Counter[str] = field(default_factory=Counter)
    crashes: Counter[str] = field(default_factory=Counter)
    highest: int = 0
    quarantined: Kept | None = None

    def take(self, entry: JsonObject) -> None:
        """One more entry.

        Raises:
            KeyError, TypeError: it is none.
        """
        match entry.get("kind"):
            case "intent":
                intent = entry["intent"]
                if not isinstance(intent, Mapping):
                    raise TypeError("an intent with its keys")
                self.intents.setdefault(str(entry["step"]), intent)
                self._note_approval(intent)
            case "mark":
                self.marks[str(entry["step"])].add(str(entry["what"]))
            case "again":
                self.again[str(entry["step"])] += 1
            case "unharmed":
                self.again[str(entry["step"])] -= 1
            case "crash":
                self.crashes[str(entry["step"])] += 1
            case "quarantined":
                changed = entry.get("goal_changed")
                at = changed if isinstance(changed, float) else None
                self.quarantined = Kept(str(entry["words"]), at)
            case "released":
                self.quarantined = None
                self.again.clear()
                self.crashes.clear()
            case "asked":
                number = entry["number"]
                self.highest = number if isinstance(number, int) else 0
            case _:
                return  # for people, or of a later version

    def _note_approval(self, intent: JsonObject) -> None:
        asked = intent.get(APPROVAL)
        number = asked.get("number") if isinstance(asked, Mapping) else None
        if isinstance(asked, Mapping) and isinstance(number, int):
            self.approvals.setdefault(number, asked)


class Journal:
    """`_state/journal.jsonl`: appended, flushed before what it announces happens.

    Where it has grown, it is replaced whole by what of it still matters.
    """

    def __init__(self, world: World, home: Home) -> None:
        """The journal of the agent at `home`; nothing is read yet."""
        self._world = world
        self._home = home
        self._path = home.journal
        self._known = _Known()
        self._read = False
        self._coming: list[JsonObject] = []  # known, and not in the file yet
        self._bytes = 0
        self._most = JOURNAL_BYTES
        self._adding = 0
        self._open = asyncio.Event()
        self._open.set()

    @property
    def quarantined(self) -> Kept | None:
        """Why the agent is not to work, as far as the journal was read."""
        return self._known.quarantined

    async def intend(self, step: str, tool: str, intent: JsonObject) -> None:
        """Record what a step is about to do; on the disk when this returns."""
        await self._add(
            {"kind": "intent", "step": step, "tool": tool, "intent": intent}
        )

    async def mark(self, step: str, what: str) -> None:
        """Record that a step has come past a point, such as its checks.

        How long a mark is kept, `core.keeping` says: as a rule, while the step's turn
        is its loop's last.
        """
        await self._add({"kind": "mark", "step": step, "what": what})

    async def accept(self, file: str, sha: str) -> None:
        """Record that a person's file was accepted."""
        await self._add({"kind": "accepted", "file": file, "sha": sha})

    # --- crashes

    async def again(self, step: str) -> int:
        """Record that a step that was cut off is done anew; how often it was before."""
        before = self._known.again[step]
        await self._add({"kind": "again", "step": step})
        return before

    async def unharmed(self, step: str) -> None:
        """Record that a step was not done anew after all: the daemon was shut down."""
        await self._add({"kind": "unharmed", "step": step})

    async def crashed(self, step: str, why: str) -> int:
        """Record that a step ended by a bug; how often it has now."""
        await self._add({"kind": "crash", "step": step, "why": why})
        return self._known.crashes[step]

    async def quarantine(
        self, step: str, words: str, goal_changed: float | None
    ) -> None:
        """Record why the agent is not to work, and as of which GOAL.md."""
        await self._add(
            {
                "kind": "quarantined",
                "step": step,
                "words": words,
                "goal_changed": goal_changed,
            }
        )

    async def release(self) -> None:
        """Record that a person lets the agent try again; nothing counts any more."""
        await self._add({"kind": "released"})

    # --- reading

    def intent(self, step: str) -> JsonObject | None:
        """What a step was about to do, if that was recorded."""
        self.load()
        return self._known.intents.get(step)

    def asked(self) -> list[int]:
        """The numbers of the questions that steps have decided to ask, and of old."""
        self.load()
        asking = [each for each in self._known.intents.values() if "asked" in each]
        numbers = [intent.get("number") for intent in asking]
        whole = [number for number in numbers if isinstance(number, int)]
        return [self._known.highest, *whole, *self._known.approvals]

    def approvals(self) -> dict[int, JsonObject]:
        """What steps wanted a person's approval for, by the question's number."""
        self.load()
        return self._known.approvals

    def marked(self, step: str, what: str) -> bool:
        """Whether a step had come past a point."""
        self.load()
        return what in self._known.marks.get(step, ())

    def mark_of(self, step: str, beginning: str) -> str | None:
        """What follows a beginning in one of a step's marks, or None."""
        self.load()
        for what in self._known.marks.get(step, ()):
            if what.startswith(beginning):
                return what.removeprefix(beginning)
        return None

    def marks(self, beginning: str) -> list[tuple[str, str]]:
        """Every step with a mark that begins so, and what follows there."""
        self.load()
        return [
            (name, what.removeprefix(beginning))
            for name, marks in self._known.marks.items()
            for what in marks
            if what.startswith(beginning)
        ]

    def load(self) -> None:
        """Read the file, once.

        Raises:
            Damaged: a line is no entry of a journal.
            Unreadable: the system refuses; it is read again the next time.
        """
        if not self._read:
            self._take(self._entries())

    def forget(self) -> None:
        """The file was mended by somebody else: it is read again when it is needed."""
        self._read = False

    def _entries(self) -> list[tuple[int, JsonObject]]:
        """All entries, with the numbers of their lines."""
        try:
            data = self._world.reader.read(self._path, limit=LOG_BYTES)
        except NotThere:
            return []
        self._bytes = len(data)
        try:
            return [(record.number, record.found) for record in records(data)]
        except BadLine as bad:
            raise Damaged(self._path, bad.number, bad.why) from None

    def _take(self, entries: Iterable[tuple[int, JsonObject]]) -> None:
        """Let these, and what is to come after them, be all that is known."""
        known = _Known()
        for number, entry in entries:
            try:
                known.take(entry)
            except (KeyError, TypeError) as error:
                raise Damaged(self._path, number, f"it lacks {error}") from None
        for entry in self._coming:
            known.take(entry)
        self._known, self._read = known, True

    # --- writing

    async def _add(self, entry: JsonObject) -> None:
        line = json.dumps({"ts": self._world.stamp(), **entry}, ensure_ascii=False)
        data = line.encode() + b"\n"
        self._known.take(entry)  # before any wait: others decide by it
        self._coming.append(entry)
        while not self._open.is_set():
            await self._open.wait()
        self._adding += 1
        try:
            await self._world.append(self._path, data, flush=True)
        finally:
            self._adding -= 1
            self._coming.remove(entry)
            if not self._adding:
                self._open.set()
        self._bytes += len(data)
        await self._keep_small()

    async def _keep_small(self) -> None:
        """Replace a file that has grown, once nobody is adding to it."""
        if self._bytes <= self._most:
            return
        self._open.clear()
        if not self._adding:  # else the last one to come out of there does it
            # Shielded: nobody may add to the old file while it is being replaced.
            try:
                await asyncio.shield(self._replace())
            except asyncio.CancelledError:
                with suppress(TimeoutError):  # a disk that refuses is not waited for
                    async with asyncio.timeout(_LET_END):
                        await self._open.wait()
                raise

    async def _replace(self) -> None:
        """Put what of the file still matters in its place: the old or the new."""
        try:
            kept, data = await asyncio.to_thread(self._mattering)
            await self._world.write(self._path, data)
            self._take(enumerate(kept, 1))
            self._bytes, self._most = len(data), max(JOURNAL_BYTES, 2 * len(data))
        except (TooManyOpen, Unreadable):
            return  # the next one who adds tries again
        finally:
            self._open.set()

    def _mattering(self) -> tuple[list[JsonObject], bytes]:
        """The entries that still matter, and the lines that say them."""
        entries = [entry for _, entry in self._entries()]
        try:
            found = self._world.reader.entries(self._home.questions)
        except NotThere:
            found = ()
        questions = {entry.name.removesuffix(".md") for entry in found}
        kept = still_matters(entries, questions)
        lines = [json.dumps(entry, ensure_ascii=False) + "\n" for entry in kept]
        return kept, "".join(lines).encode("utf-8", "surrogatepass")
