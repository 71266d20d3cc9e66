"""The thread between people and one agent, put together from its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.loglines import record_of, time_of
from agiraph.model.layout import Home
from agiraph.model.names import HUMAN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.read import Files
    from agiraph.core.codec.outbox import Said
    from agiraph.model.json import JsonObject

YOU = "you"
_TAIL = 4 * 1024 * 1024
_OUTBOX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was said.

    Attributes:
        at: seconds since 1970.
        id: of a message to the person, as `_read.yaml` has it; else empty.
    """

    at: float
    who: str
    text: str
    id: str = ""


def line_of(said: Said, at: float) -> Line:
    """An entry of the outbox, said at some moment."""
    return Line(at, said.sender, said.text, "" if said.is_question else said.id)


class Outbox:
    """What an agent has said to people; each entry is told once."""

    def __init__(self, files: Files, agent: str) -> None:
        """Nothing has been told yet."""
        self._files = files
        self._path = Home(agent).outbox
        self._stamp: tuple[int, float] | None = None
        self._told: set[str] = set()

    def more(self) -> list[Said]:
        """The entries that were not told before, oldest first.

        By their marks, not by their place: old parts of the file are moved away.
        """
        entry = self._files.entry(self._path)
        stamp = (entry.size, entry.changed) if entry is not None else None
        if entry is None or stamp == self._stamp:
            return []
        from agiraph.core.codec.outbox import read_outbox

        start = max(0, entry.size - _OUTBOX)
        text = self._files.part(self._path, start, _OUTBOX).decode("utf-8", "replace")
        if not text.endswith("\n"):
            return []  # an entry is being written
        self._stamp = stamp
        found = [each for each in read_outbox(text) if each.mark not in self._told]
        self._told.update(each.mark for each in found)
        return found


def so_far(files: Files, agent: str, said: list[Said], *, exchanges: int) -> list[Line]:
    """The last exchanges: what people wrote to the coordinator, what they were told.

    Args:
        files: of the tree.
        agent: whose thread.
        said: its outbox.
        exchanges: how many times, counted from the end, a person wrote.
    """
    home = Home(agent)
    talk = list(log_lines(files, home.conversation))
    moments = dict(_moments(talk, list(log_lines(files, home.events))))
    lines, last = [], 0.0
    for each in said:
        last = max(moments.get(each.mark, _minute(each.when)), last)
        lines.append(line_of(each, last))
    written = list(_written(talk))
    whole = sorted([*written, *lines], key=lambda line: line.at)
    starts = [at for at, line in enumerate(whole) if line.who == YOU]
    if not exchanges:
        return []
    return whole[starts[-exchanges] if len(starts) >= exchanges else 0 :][-200:]


def log_lines(files: Files, path: PurePosixPath) -> Iterator[JsonObject]:
    """The last lines of a log, as objects."""
    entry = files.entry(path)
    if entry is None:
        return
    start = max(0, entry.size - _TAIL)
    whole = files.part(path, start, _TAIL).split(b"\n")
    for raw in whole[1 if start else 0 : -1]:
        found = record_of(raw)
        if found is not None:
            yield found


def _written(talk: list[JsonObject]) -> Iterator[Line]:
    for line in talk:
        if line.get("role") == "user" and line.get("from") == HUMAN:
            _, _, text = str(line.get("content", "")).partition("\n")
            yield Line(time_of(line.get("ts")), YOU, text.strip())


def _moments(
    talk: list[JsonObject], events: list[JsonObject]
) -> Iterator[tuple[str, float]]:
    """When what has a mark in the outbox was said."""
    session: object = None
    for line in talk:
        if line.get("role") == "system":
            session = line.get("session")
        elif line.get("role") == "assistant":
            yield f"reply:{session}.{line.get('turn')}", time_of(line.get("ts"))
    for event in events:
        data = event.get("data")
        if event.get("type") in ("message.sent", "human.question"):
            ident = data.get("id") if isinstance(data, dict) else None
            yield str(ident), time_of(event.get("ts"))


def _minute(when: str) -> float:
    return time_of(when.replace(" ", "T"))
