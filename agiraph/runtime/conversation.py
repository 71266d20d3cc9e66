"""One conversation on disk: the lines of its session, appended, never edited."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.brief import same_prefix
from agiraph.core.codec import line_from_json, line_to_json
from agiraph.core.compaction import asked_by, turns
from agiraph.core.limits import BYTES_PER_TOKEN, LOG_BYTES
from agiraph.core.loglines import BadLine, record_of, records
from agiraph.errors import Damaged, NotThere, YourError
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePosixPath

    from agiraph.core.compaction import Asked
    from agiraph.model.conversation import Answer, Line, Spoken
    from agiraph.model.tool import ToolCall
    from agiraph.runtime.world import World


_TAIL = 256 * 1024
ENDINGS = frozenset({"publish", "finish", "checkpoint"})


class Conversation:
    """What one loop's model sees, and which messages were thereby delivered."""

    def __init__(self, world: World, path: PurePosixPath) -> None:
        """The conversation kept at `path`; `load` reads it."""
        self._world = world
        self._path = path
        self.prefix: SystemLine | None = None
        self.lines: list[Spoken] = []
        self.delivered: dict[str, None] = {}  # in order
        self.bytes = self.prefix_bytes = 0
        self.asked: Asked | None = None  # on the way to a new session
        self._reported = 0
        self._since = 0
        self._from_people: tuple[str, ...] | None = ()
        self._past: dict[str, _Past] = {}

    def load(self) -> None:
        """Read the file once.

        Raises:
            Damaged: a line is no line of a conversation.
        """
        try:
            data = self._world.reader.read(self._path, limit=LOG_BYTES)
        except NotThere:
            return
        number = 0
        try:
            for record in records(data):
                number = record.number
                self._take(line_from_json(record.found), record.size)
        except BadLine as bad:
            raise Damaged(self._path, bad.number, bad.why) from None
        except YourError as wrong:
            raise Damaged(self._path, number, str(wrong)) from None

    async def append(self, line: Line, *, flush: bool) -> None:
        """Add a line to the file, then to what is in memory, then flush.

        In this order: a flush that fails or is cancelled leaves the line in the file.
        """
        data = _encoded(line)
        await self._world.append(self._path, data, flush=False)
        self._take(line, len(data))
        if flush:
            await self.flush()

    async def flush(self) -> None:
        """Bring every line onto the disk."""
        await self._world.durably(lambda: self._world.pen.flush(self._path))

    def _take(self, line: Line, size: int) -> None:
        if isinstance(line, SystemLine):
            self._open(line, size)
            return
        self.lines.append(line)
        if self._from_people is not None:
            self._from_people += _from_people(line)
        self.bytes += size
        if isinstance(line, AssistantLine):
            self._answered(line, size)
            return
        self._since += size
        self.delivered.update(dict.fromkeys(line.ids))
        self.asked = asked_by(line, self.session) or self.asked

    def _answered(self, line: AssistantLine, size: int) -> None:
        """Note what the service says of the size; where it is silent, bytes count."""
        self._reported = line.usage.context or self._reported
        self._since = 0 if line.usage.context else self._since + size
        if self.asked is not None and self.asked.answer is None:
            self.asked = replace(self.asked, answer=line)

    @property
    def size(self) -> int:
        """The conversation in tokens: as last reported, and what came since."""
        return self._reported + self._since // BYTES_PER_TOKEN

    def _open(self, line: SystemLine, size: int) -> None:
        """A session begins, with nothing or with what it carries on."""
        here = _Past(self.prefix, self.lines, self.bytes)
        if self.prefix is not None and self.prefix.node is not None:
            self._past[self.prefix.node] = here
        on = _Past(None, [], 0)
        if line.carries:
            on = here
        elif line.resumes and line.node is not None:
            on = self._past.pop(line.node, on)
        as_it_was = not line.carries and on.prefix and same_prefix(on.prefix, line)
        self.lines = on.lines if as_it_was else [_canonical(old) for old in on.lines]
        self._from_people = None
        self.prefix, self.bytes, self.prefix_bytes = line, size + on.bytes, size
        self._reported, self._since, self.asked = 0, self.bytes, None

    def has_past(self, node: str) -> bool:
        """Whether a node has an earlier session here, which may be resumed."""
        return node in self._past

    def forget_past(self) -> None:
        """Let go of earlier sessions: none of them will be resumed now."""
        self._past.clear()

    @property
    def session(self) -> int:
        """The number of the session; 0 before the first."""
        return self.prefix.session if self.prefix else 0

    @property
    def turn(self) -> int:
        """The number of the last model call in this session's lines."""
        for line in reversed(self.lines):
            if isinstance(line, AssistantLine):
                return line.turn
        return 0

    def open_calls(self) -> tuple[tuple[ToolCall, ...], int]:
        """The last answer's calls, and how many of them have results."""
        done = 0
        for line in reversed(self.lines):
            if isinstance(line, ToolLine):
                done += 1
            elif isinstance(line, AssistantLine):
                return line.tool_calls, done
            else:
                break
        return (), 0

    def from_people(self) -> tuple[str, ...]:
        """What people wrote to whoever talks here, as far as the session has it."""
        if self._from_people is None:
            said = (text for line in self.lines for text in _from_people(line))
            self._from_people = tuple(said)
        return self._from_people

    async def close_calls(self, words: str) -> None:
        """Give the last answer's open calls these words as their results."""
        calls, done = self.open_calls()
        for index, call in enumerate(calls[done:], done):
            line = ToolLine(
                self._world.stamp(),
                self.turn,
                index,
                call.id,
                call.name,
                words,
                error=True,
            )
            await self.append(line, flush=False)

    def is_cut_off(self) -> bool:
        """Whether the file ends in an answer with a call that has no result.

        Only its end is read: this is asked of every agent at each start.
        """
        try:
            entry = self._world.reader.entry(self._path)
            start = max(0, (entry.size if entry else 0) - _TAIL)
            tail = self._world.reader.part(self._path, offset=start, limit=_TAIL)
        except NotThere:
            return False
        results = 0
        for text in reversed(tail.split(b"\n")[1 if start else 0 :]):
            line = record_of(text) or {}
            if line.get("role") == "assistant":
                calls = line.get("tool_calls")
                return isinstance(calls, list) and len(calls) > results
            results += line.get("role") == "tool"
            if line.get("role") in ("user", "system"):
                return False
        return False

    def has_ended(self, done: int) -> bool:
        """Whether one of the last results ended the work that its calls were for."""
        results = self.lines[len(self.lines) - done :]
        return any(
            isinstance(line, ToolLine) and line.name in ENDINGS and not line.error
            for line in results
        )

    def turns_since(self, mark: str) -> int:
        """How many turns followed the user line that carries an id."""
        since = 0
        for at, line in enumerate(self.lines):
            if isinstance(line, UserLine) and mark in line.ids:
                since = at
        before = 0
        if since == 0 and self.prefix and mark in self.delivered:
            before = self.prefix.turns
        return before + turns(self.lines[since:])

    # --- putting away

    async def archive(self) -> str:
        """Keep this node's sessions, or all, in `conversations/`; the file's name.

        The same again finds it there already.
        """
        gone = b"".join(raw for raw, away in self._raw() if away)
        folder, stem = self._path.parent / "conversations", f"{self.session:04d}"
        name, number = f"{stem}.jsonl", 1
        while not await self._kept(folder / name, gone):
            number += 1
            name = f"{stem}-{number}.jsonl"
        return name

    async def _kept(self, path: PurePosixPath, data: bytes) -> bool:
        world = self._world
        if await world.durably(lambda: world.pen.create(path, data)):
            return True
        return world.reader.read(path, limit=LOG_BYTES) == data

    def _raw(self) -> list[tuple[bytes, bool]]:
        """Each line as it stands, and whether it is of what is put away now."""
        data = self._world.reader.read(self._path, limit=LOG_BYTES)
        node = self.prefix.node if self.prefix else None
        found, away = [], True
        for raw in data.split(b"\n"):
            if raw.strip():
                said = record_of(raw) or {}
                if said.get("role") == "system":
                    away = said.get("node") == node
                found.append((raw + b"\n", away))
        return found

    async def begin_anew(self, opening: Sequence[Line]) -> None:
        """Put these lines in the place of what was archived, in one step.

        Sessions of other nodes stay, since they may be resumed.
        """
        kept = b"".join(raw for raw, away in self._raw() if not away)
        data = [_encoded(line) for line in opening]
        whole = kept + b"".join(data)
        await self._world.write(self._path, whole)
        node = self.prefix.node if self.prefix else None
        for line, raw in zip(opening, data, strict=True):
            self._take(line, len(raw))
        if node is not None:
            self._past.pop(node, None)


@dataclass(frozen=True, slots=True)
class _Past:
    """A session that another one has followed."""

    prefix: SystemLine | None
    lines: list[Spoken]
    bytes: int


def as_line(talk: Conversation, answer: Answer, stamp: str) -> AssistantLine:
    """An answer as the next line of a conversation."""
    return AssistantLine(
        ts=stamp,
        turn=talk.turn + 1,
        model=talk.prefix.model if talk.prefix else "",
        content=answer.text,
        tool_calls=answer.calls,
        stop=answer.stop,
        usage=answer.usage,
        own=answer.own,
    )


def _encoded(line: Line) -> bytes:
    text = json.dumps(line_to_json(line), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _from_people(line: Spoken) -> tuple[str, ...]:
    """What a line holds of a person's words: the line's text, or nothing."""
    if not isinstance(line, UserLine) or line.sender != HUMAN:
        return ()
    return (line.content,) if line.kind in (Kind.MAIL, Kind.OPENING) else ()


def _canonical(line: Spoken) -> Spoken:
    if isinstance(line, AssistantLine):
        return replace(line, own={})
    return line
