"""The mailroom of one agent: every message a file, each delivered exactly once.

A message is delivered when the receiver's conversation has recorded its id. What
people write is accepted first: the messages and the new memory of the inbox stand in
one file, so that neither can be on the disk without the other.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.codec import message_name, read_message, write_message
from agiraph.core.codec.report import Good
from agiraph.core.excerpt import excerpt
from agiraph.core.limits import INBOX_BYTES, MESSAGE_BYTES, RESULT_SHOWN
from agiraph.errors import AgiraphError, NotThere, TooManyOpen, Unreadable
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR, EVERYONE, HUMAN, folded
from agiraph.model.node import Node, NodeState
from agiraph.runtime.accepted import DROPPED, Accepted, Records
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from agiraph.model.json import Json
    from agiraph.model.message import Message
    from agiraph.ports import Reader
    from agiraph.runtime.desk import Desk


class Mailroom:
    """Who has mail, and what was delivered."""

    def __init__(self, desk: Desk) -> None:
        """An empty mailroom; `load` reads the newest run's messages."""
        self._desk = desk
        self._run = ""
        self._number = 0
        self._known: set[str] = set()
        self._waiting: dict[str, list[Message]] = {}
        self._later: dict[str, list[Message]] = {}
        self._records = Records(desk.world, desk.home)
        self._recording = asyncio.Lock()
        self._outbox = Outbox(desk.world, desk.home)

    def load(self) -> None:
        """Read the messages of the newest run; the receivers say what they have.

        Raises:
            Unreadable: the system refuses; nothing was read.
        """
        desk = self._desk
        if desk.run is None or self._run == desk.run.name:
            return
        folder = desk.run_folder().messages
        number, found = 0, []
        for name in _numbered(desk.world.reader, folder):
            number = max(number, int(name.partition("_")[0]))
            message = self._message(folder / name)
            if message is not None:
                found.append((message, name))
        # Not before: what could not be read is read again.
        self._run, self._number, self._known = desk.run.name, number, set()
        read: dict[str, frozenset[str]] = {}
        for message, name in found:
            self._lay_out(message, name, read)

    def _message(self, path: PurePosixPath) -> Message | None:
        try:
            text = self._desk.world.reader.read(path, limit=2 * INBOX_BYTES).decode()
        except (TooManyOpen, Unreadable):
            raise
        except (AgiraphError, ValueError):
            return None  # a person's or a sync tool's file; not ours to deliver
        found = read_message(text)
        return found.value if isinstance(found, Good) else None

    def _lay_out(
        self, message: Message, file: str, read: dict[str, frozenset[str]]
    ) -> None:
        """Put a message before those of its readers that have not read it."""
        self._known.add(message.id)
        for name in _addressees(message):
            if name not in read:
                read[name] = self._read_by(name)
            if message.id not in read[name]:
                self._put_before(name, _bounded(message, file))

    def _read_by(self, name: str) -> frozenset[str]:
        """What a worker has read, as its conversation says."""
        desk = self._desk
        staff = desk.find_staff(name)
        if staff is None:
            return frozenset()
        talk = Conversation(desk.world, desk.worker_folder(staff.name).conversation)
        try:
            talk.load()
        except AgiraphError:
            return frozenset()  # it is told where the worker takes up its work
        return frozenset(talk.delivered)

    async def post(self, message: Message) -> None:
        """Write a message's file, once for its id, and put it before its readers."""
        desk = self._desk
        self.load()  # a run that had ended was not read at the start
        if message.id in self._known:
            await self._to_people(message)  # a crash may have come between the two
            return
        if message.to == EVERYONE:
            message = replace(message, readers=self._everyone(message.sender))
        name = ""
        if desk.run is not None:
            self._number += 1
            name = message_name(self._number, message.sender, message.to)
            path = desk.run_folder().messages / name
            data = write_message(message).encode()
            await desk.world.write(path, data)
        self._known.add(message.id)
        await self._announce(message)
        for reader in _addressees(message):
            self._put_before(reader, _bounded(message, name))
        desk.bell.ring()
        desk.world.bell.ring()  # who waits for a place answers a person before

    def _everyone(self, sender: str) -> tuple[str, ...]:
        """Who is there to read what is said to all; the person reads the outbox."""
        staff = self._desk.staff.values()
        names = [s.name for s in staff if not s.identity.retired]
        return tuple(
            name for name in (COORDINATOR, *names) if folded(name) != folded(sender)
        )

    async def _announce(self, message: Message) -> None:
        desk = self._desk
        await desk.records.event(
            EventType.MESSAGE_SENT,
            desk.where(worker=self._worker(message.sender)),
            id=message.id,
            to=message.to,
            **{"from": message.sender},
        )
        if message.sender == HUMAN and message.urgent:
            await desk.records.event(EventType.HUMAN_NUDGE, desk.where(), id=message.id)
        await self._to_people(message)

    async def _to_people(self, message: Message) -> None:
        if message.to in (HUMAN, EVERYONE) and message.sender != HUMAN:
            await self.to_outbox(message.sender, message.text, message.id)

    def _worker(self, name: str) -> str | None:
        return name if self._desk.find_staff(name) else None

    def reader_of(self, name: str) -> str:
        """Who reads what is sent to a name: itself, or the coordinator for it."""
        if name == COORDINATOR:
            return COORDINATOR
        staff = self._desk.find_staff(name)
        if staff is None or staff.identity.retired:
            return COORDINATOR
        nodes = self._desk.nodes.values()
        mine = (node for node in nodes if node.status.worker == staff.name)
        return staff.name if any(map(_in_hand, mine)) else COORDINATOR

    def why_not(self, name: str) -> str:
        """Why somebody does not read what is sent to it."""
        staff = self._desk.find_staff(name)
        if staff is None:
            return f"there is no worker {name!r}"
        retired = staff.identity.retired
        return f"{staff.name} {'is retired' if retired else 'has no running node'}"

    def hand_over(self, worker: str) -> None:
        """A worker has ended its node: what it had not read goes to the coordinator."""
        for message in self._waiting.pop(folded(worker), []):
            self._put_before(worker, message)

    def _put_before(self, name: str, message: Message) -> None:
        """To whom it was sent; else to the coordinator, and kept for the next brief.

        What was said to everyone the coordinator has anyway, and what it said itself
        it knows.
        """
        reader = self.reader_of(name)
        if folded(reader) == folded(name):
            self._waiting.setdefault(folded(name), []).append(message)
            return
        self._later.setdefault(folded(name), []).append(message)
        if message.to != EVERYONE and message.sender != COORDINATOR:
            self._waiting.setdefault(COORDINATOR, []).append(message)

    # --- reading

    def waiting(self, reader: str, delivered: Iterable[str] = ()) -> list[Message]:
        """What has come for a reader and is not delivered, urgent ones first."""
        known = set(delivered)
        mine = self._waiting.get(folded(reader), [])
        mine[:] = [message for message in mine if message.id not in known]
        return sorted(mine, key=lambda message: not message.urgent)

    def has(self, reader: str, *, urgent: bool = False) -> bool:
        """Whether something waits for a reader."""
        mine = self._waiting.get(folded(reader), [])
        return any(message.urgent or not urgent for message in mine)

    def awaits(self, reader: str, ident: str) -> bool:
        """Whether a message waits for a reader."""
        mine = self._waiting.get(folded(reader), [])
        return any(message.id == ident for message in mine)

    def for_brief(self, worker: str, delivered: Iterable[str]) -> list[Message]:
        """What came for a worker while it had no running node."""
        known = set(delivered)
        mine = self._later.pop(folded(worker), [])
        return [message for message in mine if message.id not in known]

    async def taken(self, reader: str, ids: Iterable[str]) -> None:
        """Note that messages are recorded in the reader's conversation."""
        desk, found = self._desk, frozenset(ids)
        mine = self._waiting.get(folded(reader), [])
        for message in found & self._known:
            await desk.records.event(
                EventType.MESSAGE_RECEIVED,
                desk.where(worker=self._worker(reader)),
                id=message,
                by=reader,
            )
        mine[:] = [message for message in mine if message.id not in found]
        await self._prune(found)

    # --- what people wrote

    async def accept(
        self, source: str, drafts: list[Message], memory: Json
    ) -> list[Message]:
        """Record an inbox's new messages and its new memory in one step.

        Args:
            source: which inbox, e.g. `_inbox.md`.
            drafts: the messages; their ids are given here.
            memory: what the inbox's reading is to remember.
        """
        async with self._recording:
            state = self._records.read(source)
            before = state.count
            if source.startswith(DROPPED):
                # A name may come back when its record is long gone; the time does not.
                now = int(self._desk.world.clock.now().timestamp() * 1000)
                before = max(before, now)
            messages = [
                replace(draft, id=f"{source}#{number}")
                for number, draft in enumerate(drafts, before + 1)
            ]
            waiting = (*state.waiting, *messages)
            new = Accepted(memory, waiting, before + len(messages))
            await self._records.write(source, new)
        for message in messages:
            await self.post(message)
        return messages

    def memory_of(self, source: str) -> Json:
        """The memory of an inbox as it was last recorded; None before the first."""
        return self._records.read(source).memory

    def dropped(self) -> list[str]:
        """The files of `_inbox/` that are not done with, such as `_inbox/note.md`."""
        return self._records.dropped()

    async def take_up(self) -> None:
        """After a restart: what was accepted and not delivered is on its way again.

        A message that was delivered after all is told apart by the conversation of
        its reader, which knows its id.
        """
        for source in self._records.sources():
            for message in self._records.read(source).waiting:
                self.load()  # it may have its file already, and its reader may have it
                await self.post(message)

    def any_accepted(self) -> bool:
        """Whether something was accepted and not delivered, or waits for a reader."""
        if any(self._waiting.values()):
            return True
        return any(
            self._records.read(source).waiting for source in self._records.sources()
        )

    async def drop(self) -> None:
        """Let go of all that waits: this agent is a copy, its original delivers it."""
        self._waiting.clear()
        self._later.clear()
        for source in self._records.sources():
            state = self._records.read(source)
            if state.waiting:
                await self._records.write(source, replace(state, waiting=()))

    async def _prune(self, ids: frozenset[str]) -> None:
        for source in sorted({i.rpartition("#")[0] for i in ids if from_a_person(i)}):
            async with self._recording:
                state = self._records.read(source)
                left = tuple(m for m in state.waiting if m.id not in ids)
                if len(left) != len(state.waiting):
                    await self._records.write(source, replace(state, waiting=left))

    # --- what people read

    async def to_outbox(self, sender: str, text: str, mark: str) -> None:
        """Add to `_outbox.md`, once for its mark."""
        await self._outbox.add(sender, text, mark)


def from_a_person(ident: str) -> bool:
    """Whether an id is that of a message that came by an inbox."""
    source, _, number = ident.rpartition("#")
    return bool(source) and number.isdigit()


def _addressees(message: Message) -> tuple[str, ...]:
    """To whom it was sent, by name; the person reads the outbox instead."""
    if message.to == EVERYONE:
        return message.readers
    return () if message.to == HUMAN else (message.to,)


def _bounded(message: Message, file: str) -> Message:
    """A message as a model is shown it: the file has the whole of a longer one."""
    if len(message.text.encode()) <= MESSAGE_BYTES:
        return message
    kept = f"run/_messages/{file}" if file else "the person's own file"
    return replace(message, text=excerpt(message.text, kept=kept, most=RESULT_SHOWN))


def _in_hand(node: Node) -> bool:
    return node.status.state.at_work or node.status.state is NodeState.HELD


def _numbered(reader: Reader, folder: PurePosixPath) -> list[str]:
    """The names of message files, which begin with their number."""
    try:
        names = [entry.name for entry in reader.entries(folder)]
    except NotThere:
        return []
    return [name for name in names if name.partition("_")[0].isdigit()]
