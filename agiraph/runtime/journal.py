"""The journal of one agent: what was intended, done and accepted, before it acts."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.approval import APPROVAL
from agiraph.core.limits import LOG_BYTES
from agiraph.core.loglines import BadLine, records
from agiraph.errors import Damaged, NotThere

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home
    from agiraph.runtime.world import World


@dataclass(frozen=True, slots=True)
class Kept:
    """Why an agent does not work; goal_changed: when GOAL.md had last changed then."""

    words: str
    goal_changed: float | None


class Journal:
    """`_state/journal.jsonl`: appended, flushed before what it announces happens."""

    def __init__(self, world: World, home: Home) -> None:
        """The journal of the agent at `home`; nothing is read yet."""
        self._world = world
        self._path = home.journal
        self._intents: dict[str, JsonObject] = {}
        self._marks: defaultdict[str, set[str]] = defaultdict(set)
        self._approvals: dict[int, JsonObject] = {}
        self._again: Counter[str] = Counter()
        self._crashes: Counter[str] = Counter()
        self.quarantined: Kept | None = None
        self._read = False

    async def intend(self, step: str, tool: str, intent: JsonObject) -> None:
        """Record what a step is about to do; on the disk when this returns."""
        self._intents[step] = intent
        self._note_approval(intent)
        await self._add(
            {"kind": "intent", "step": step, "tool": tool, "intent": intent}
        )

    async def mark(self, step: str, what: str) -> None:
        """Record that a step has come past a point, such as its checks."""
        self._marks[step].add(what)
        await self._add({"kind": "mark", "step": step, "what": what})

    async def accept(self, file: str, sha: str) -> None:
        """Record that a person's file was accepted."""
        await self._add({"kind": "accepted", "file": file, "sha": sha})

    # --- crashes

    async def again(self, step: str) -> int:
        """Record that a step that was cut off is done anew; how often it was before."""
        before = self._again[step]
        self._again[step] += 1
        await self._add({"kind": "again", "step": step})
        return before

    async def unharmed(self, step: str) -> None:
        """Record that a step was not done anew after all: the daemon was shut down."""
        self._again[step] -= 1
        await self._add({"kind": "unharmed", "step": step})

    async def crashed(self, step: str, why: str) -> int:
        """Record that a step ended by a bug; how often it has now."""
        self._crashes[step] += 1
        await self._add({"kind": "crash", "step": step, "why": why})
        return self._crashes[step]

    async def quarantine(
        self, step: str, words: str, goal_changed: float | None
    ) -> None:
        """Record why the agent is not to work, and as of which GOAL.md."""
        self.quarantined = Kept(words, goal_changed)
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
        self._forgive()
        await self._add({"kind": "released"})

    def _forgive(self) -> None:
        self.quarantined = None
        self._again.clear()
        self._crashes.clear()

    # --- reading

    def intent(self, step: str) -> JsonObject | None:
        """What a step was about to do, if that was recorded."""
        self.load()
        return self._intents.get(step)

    def asked(self) -> list[int]:
        """The numbers of all questions that steps have decided to ask."""
        self.load()
        asking = [each for each in self._intents.values() if "asked" in each]
        numbers = [intent.get("number") for intent in asking]
        asked = [number for number in numbers if isinstance(number, int)]
        return [*asked, *self._approvals]

    def approvals(self) -> dict[int, JsonObject]:
        """What steps wanted a person's approval for, by the question's number."""
        self.load()
        return self._approvals

    def _note_approval(self, intent: JsonObject) -> None:
        asked = intent.get(APPROVAL)
        number = asked.get("number") if isinstance(asked, Mapping) else None
        if isinstance(asked, Mapping) and isinstance(number, int):
            self._approvals.setdefault(number, asked)

    def marked(self, step: str, what: str) -> bool:
        """Whether a step had come past a point."""
        self.load()
        return what in self._marks.get(step, ())

    def mark_of(self, step: str, beginning: str) -> str | None:
        """What follows a beginning in one of a step's marks, or None."""
        self.load()
        for what in self._marks.get(step, ()):
            if what.startswith(beginning):
                return what.removeprefix(beginning)
        return None

    def marks(self, beginning: str) -> list[tuple[str, str]]:
        """Every step with a mark that begins so, and what follows there."""
        self.load()
        return [
            (name, what.removeprefix(beginning))
            for name, marks in self._marks.items()
            for what in marks
            if what.startswith(beginning)
        ]

    async def _add(self, entry: JsonObject) -> None:
        line = json.dumps({"ts": self._world.stamp(), **entry}, ensure_ascii=False)
        data = line.encode() + b"\n"
        await self._world.append(self._path, data, flush=True)

    def load(self) -> None:
        """Read the file, once.

        Raises:
            Damaged: a line is no entry of a journal.
        """
        if self._read:
            return
        self._read = True
        try:
            data = self._world.reader.read(self._path, limit=LOG_BYTES)
        except NotThere:
            return
        number = 0
        try:
            for record in records(data):
                number = record.number
                self._take(record.found)
        except BadLine as bad:
            self._read = False
            raise Damaged(self._path, bad.number, bad.why) from None
        except (KeyError, TypeError) as error:
            self._read = False
            raise Damaged(self._path, number, f"it lacks {error}") from None

    def forget(self) -> None:
        """The file was mended by somebody else: it is read again when it is needed."""
        self._read = False

    def _take(self, entry: JsonObject) -> None:
        match entry.get("kind"):
            case "intent":
                intent = entry["intent"]
                if not isinstance(intent, Mapping):
                    raise TypeError("an intent with its keys")
                self._intents.setdefault(str(entry["step"]), intent)
                self._note_approval(intent)
            case "mark":
                self._marks[str(entry["step"])].add(str(entry["what"]))
            case "again":
                self._again[str(entry["step"])] += 1
            case "unharmed":
                self._again[str(entry["step"])] -= 1
            case "crash":
                self._crashes[str(entry["step"])] += 1
            case "quarantined":
                changed = entry.get("goal_changed")
                at = changed if isinstance(changed, float) else None
                self.quarantined = Kept(str(entry["words"]), at)
            case "released":
                self._forgive()
            case _:
                return  # for people, or of a later version
