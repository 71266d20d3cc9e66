"""Proof of reading: which model call's input contained a message.

Delivered means recorded in the receiver's conversation, from which every request is
made; so the line there, and the call that follows it, are the proof.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.codes import NotFound
from agiraph.core.loglines import record_of
from agiraph.model.names import COORDINATOR, EVERYONE, HUMAN, folded
from agiraph.runtime.parts import older

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.read import Files
    from agiraph.model.json import JsonObject
    from agiraph.model.layout import Home, RunFolder
    from agiraph.model.message import Message

_MOST = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader had of a message.

    Attributes:
        path, line: where its conversation records it; line 0 where it does not.
        session, turn, call_ts: of the model call whose input contained it; turn 0
            where none was made yet.
        usage_line, model: of that call in usage.jsonl; line 0 where it is not found
            there, or was put away.
    """

    reader: str
    path: str
    line: int = 0
    ts: str = ""
    session: int = 0
    turn: int = 0
    call_ts: str = ""
    usage_line: int = 0
    model: str = ""


def show(
    files: Files, home: Home, run: RunFolder | None, wanted: str, *, json_: bool
) -> None:
    """Print who has read a message.

    Raises:
        NotFound: there is no such message.
    """
    path, message = _message(files, home, run, wanted)
    readings = [
        _reading(files, home, run, reader, message.id)
        for reader in _readers(files, home, run, message)
    ]
    outbox, said = _in_outbox(files, home, message)
    if json_:
        shown = {"message": asdict(message), "path": path}
        told = {"readings": [asdict(each) for each in readings]}
        to_people = {"outbox": outbox, "outbox_line": said}
        render.data(render.as_json(shown | told | to_people))
        return
    render.data(f"{message.id}: from {message.sender} to {message.to}, {message.ts}")
    if path:
        render.data(f"  {path}")
    render.data(f"  {render.short(message.text, 200)}")
    for each in readings:
        render.data(_words(each))
    if message.to in (HUMAN, EVERYONE) and message.sender != HUMAN:
        where = f"{outbox}, line {said}" if said else "not there"
        render.data(f"human: {where}")


def _message(
    files: Files, home: Home, run: RunFolder | None, wanted: str
) -> tuple[str, Message]:
    """The message of a number or an id, and its file."""
    from agiraph.core.codec import Good, read_message
    from agiraph.model.message import Message

    names = files.files(run.messages) if run is not None else ()
    number = int(wanted) if wanted.isdigit() else None
    for name in sorted(names):
        digits = name.partition("_")[0]
        if number is not None and (not digits.isdigit() or int(digits) != number):
            continue
        found = read_message(files.text(run.messages / name)) if run else None
        if isinstance(found, Good) and (number is not None or found.value.id == wanted):
            return str(run.messages / name) if run else "", found.value
    for line, said in _numbered(files, home.conversation):
        if number is None and wanted in _ids(said):  # it came while no run was there
            text = str(said.get("content", "")).partition("\n")[2]
            sender, ts = str(said.get("from", "")), str(said.get("ts", ""))
            del line
            return "", Message(wanted, sender, COORDINATOR, ts, text)
    last = max((name.partition("_")[0] for name in names), default="")
    more = f" They are numbered to {int(last)}." if last.isdigit() else ""
    raise NotFound(f"{home.agent}'s newest run has no message {wanted!r}.{more}")


def _readers(
    files: Files, home: Home, run: RunFolder | None, message: Message
) -> list[str]:
    """Whom it was for; and the coordinator, where it has it in another's place."""
    if message.to == HUMAN:
        return []
    readers = list(message.readers) if message.to == EVERYONE else [message.to]
    if COORDINATOR not in readers and message.sender != COORDINATOR:
        reading = _reading(files, home, run, COORDINATOR, message.id)
        if reading.line:
            readers.append(COORDINATOR)
    return readers


def _reading(
    files: Files, home: Home, run: RunFolder | None, reader: str, ident: str
) -> Reading:
    path = home.conversation
    if reader != COORDINATOR and run is not None:
        there = {folded(name): name for name in files.folders(run.workers)}
        path = run.worker(there.get(folded(reader), reader)).conversation
    found = Reading(reader, str(path))
    session = 0
    for number, line in _numbered(files, path):
        role = line.get("role")
        if role == "system":
            session = _whole(line.get("session"))
        elif role == "assistant" and found.line:
            turn, ts = _whole(line.get("turn")), str(line.get("ts", ""))
            at, model = _usage(files, home, reader, found.ts, ts)
            return Reading(
                reader, found.path, found.line, found.ts, session, turn, ts, at, model
            )
        elif not found.line and ident in _ids(line):
            ts = str(line.get("ts", ""))
            found = Reading(reader, str(path), number, ts, session)
    return found


def _usage(
    files: Files, home: Home, reader: str, since: str, until: str
) -> tuple[int, str]:
    """The line of usage.jsonl for the call between two moments, and its model.

    Line 0 where it was put away.
    """
    worker = None if reader == COORDINATOR else folded(reader)

    def is_it(line: JsonObject) -> bool:
        whose = line.get("worker")
        mine = folded(whose) == worker if isinstance(whose, str) else worker is None
        return mine and "model" in line and since <= str(line.get("ts", "")) <= until

    for number, line in _numbered(files, home.usage):
        if is_it(line):
            return number, str(line["model"])
    for lines in older(files.reader, home.usage):
        for raw in lines:
            found = record_of(raw)
            if found is not None and is_it(found):
                return 0, str(found["model"])
    return 0, ""


def _numbered(files: Files, path: PurePosixPath) -> Iterator[tuple[int, JsonObject]]:
    for number, raw in enumerate(files.part(path, 0, _MOST).split(b"\n"), 1):
        found = record_of(raw)
        if found is not None:
            yield number, found


def _ids(line: JsonObject) -> list[object]:
    found = line.get("ids")
    return found if isinstance(found, list) else []


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _in_outbox(files: Files, home: Home, message: Message) -> tuple[str, int]:
    """The line at which it begins for people, in the outbox or what was moved away."""
    mark = f"<!-- {message.id} -->"
    names = files.files(home.conversations)
    old = [home.conversations / name for name in names if name.startswith("outbox-")]
    for path in (home.outbox, *old):
        for at, line in enumerate(files.text(path, 1 << 26).splitlines(), 1):
            if mark in line:
                return str(path), at
    return str(home.outbox), 0


def _words(each: Reading) -> str:
    if not each.line:
        return f"{each.reader}: not yet read (it is not in {each.path})"
    words = f"{each.reader}: {each.path}, line {each.line}, {render.moment(each.ts)}"
    if not each.turn:
        return f"{words}; no model call with it has been answered yet"
    usage = f", usage.jsonl line {each.usage_line}" if each.usage_line else ""
    return (
        f"{words}; first in the input of model call {each.turn} of session "
        f"{each.session} ({each.model or '?'}{usage}), answered at "
        f"{render.moment(each.call_ts)}"
    )
