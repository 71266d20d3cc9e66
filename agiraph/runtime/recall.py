"""Recalling an agent from its folder: everything that is needed to go on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from agiraph.core.codec import (
    read_identity,
    read_node_status,
    read_run,
    read_spec,
    read_status,
    spec_hash,
)
from agiraph.core.codec.report import Good, Rejected
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import AgiraphError, Damaged, TooManyOpen, Unreadable
from agiraph.model.names import folded, name_problem
from agiraph.model.node import Node
from agiraph.model.usage import Spend
from agiraph.model.worker import WorkerState
from agiraph.ports import EntryKind
from agiraph.runtime import purses
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.desk import Staff
from agiraph.runtime.folder import newest_run
from agiraph.runtime.work.staffing import deeds_of

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.node import NodeSpec
    from agiraph.runtime.desk import Desk

T = TypeVar("T")
RECORD = "_run.yaml"


def recall_run(desk: Desk, name: str | None = None) -> None:
    """Read the newest run: its record, its nodes and its workers."""
    name = name or newest_run(desk.world.reader, desk.home)
    if name is None:
        return
    path = desk.home.run(name).record
    text = _text(desk, path)
    if text is None:
        return  # a folder that no daemon made, or that lost its record
    run = _good(path, read_run(text))
    desk.forget_run()
    desk.run = run
    for node in _folders(desk, desk.run_folder().nodes):
        _recall_node(desk, node)
    for worker in _folders(desk, desk.run_folder().workers):
        _recall_worker(desk, worker)


def _folders(desk: Desk, path: PurePosixPath) -> list[str]:
    try:
        entries = desk.world.reader.entries(path)
    except (TooManyOpen, Unreadable):
        raise
    except AgiraphError:
        return []
    return [
        entry.name
        for entry in entries
        if entry.kind is EntryKind.FOLDER and name_problem(entry.name) is None
    ]


def _text(desk: Desk, path: PurePosixPath) -> str | None:
    """What stands in a file; None where there is none that can be understood.

    Raises:
        Unreadable: it may be there; to go on without it could do its work again.
    """
    try:
        return desk.world.reader.read(path, limit=GOAL_BYTES).decode()
    except (TooManyOpen, Unreadable):
        raise
    except (AgiraphError, UnicodeDecodeError):
        return None


def _recall_node(desk: Desk, name: str) -> None:
    """A node counts once it has a status of ours; others are new to the board."""
    folder = desk.node_folder(name)
    status = _text(desk, folder.status)
    if status is None:
        return
    stands = _good(folder.status, read_node_status(status))
    spec = _spec(desk, desk.home.accepted(folder.spec)) or _spec(desk, folder.spec)
    if spec is None:
        return
    value, text = spec
    desk.place(Node(name, value, spec_hash(value), stands, text))
    desk.shown[name] = text


def check_record(desk: Desk, path: PurePosixPath) -> None:
    """See whether a run's or a node's record can be read; nothing is read of others.

    Raises:
        Damaged: it cannot.
    """
    text = _text(desk, path)
    if text is not None and path.name == RECORD:
        _good(path, read_run(text))
    elif text is not None:
        _good(path, read_node_status(text))


def _good(path: PurePosixPath, found: Good[T] | Rejected) -> T:
    """What a record of the daemon's own says.

    Raises:
        Damaged: to go on without it could do its work again.
    """
    if isinstance(found, Good):
        return found.value
    first = found.problems[0]
    mend = f"{first.allowed}; mend it, or bring the file back from a copy"
    raise Damaged(path, first.line, f"{first.key} {first.found}".strip(), mend=mend)


def _spec(desk: Desk, path: PurePosixPath) -> tuple[NodeSpec, str] | None:
    text = _text(desk, path)
    found = read_spec(text) if text is not None else None
    if text is None or not isinstance(found, Good):
        return None
    return found.value, text


def _recall_worker(desk: Desk, name: str) -> None:
    folder = desk.worker_folder(name)
    if desk.world.reader.entry(folder.status) is None:
        return
    text = _text(desk, desk.home.accepted(folder.identity)) or _text(
        desk, folder.identity
    )
    found = read_identity(text, name) if text is not None else None
    if text is None or not isinstance(found, Good):
        return
    identity = found.value
    state = WorkerState.STOPPED if identity.retired else WorkerState.IDLE
    left = read_status(_text(desk, folder.status) or "").get("node")
    desk.staff[folded(name)] = Staff(
        identity,
        state,
        left=left if isinstance(left, str) else None,
        text=text,
        deeds=deeds_of(desk, name),
    )


def recall_cut_off(desk: Desk) -> None:
    """Note whether a crash came between a run's end and the result that tells of it.

    An open run's loop goes on anyway and sees for itself.
    """
    if desk.run is None or desk.run_open:
        return
    talk = Conversation(desk.world, desk.home.conversation)
    desk.cut_off = talk.is_cut_off()


def recall_spend(desk: Desk) -> None:
    """Fill the ledger's accounts of this agent, and what its run has spent.

    The tree's day is filled by every agent once; the daemon calls this for each agent
    that spent today.
    """
    purses.recall(desk)
    run = desk.run.name if desk.run else ""
    spent = desk.tally.total(lambda spot: spot.run == run)
    desk.spend = Spend(spent.calls, spent.usage, spent.cost_usd)


async def mend_logs(desk: Desk) -> None:
    """Cut off what a crash tore at the ends of logs that nobody may add to again."""
    home = desk.home
    logs = [home.events, home.usage, home.conversation, home.journal, home.fired]
    logs += [home.notices, home.memory_book]
    if desk.run is not None:
        folder = home.run(desk.run.name)
        logs += [folder.node(name).log for name in _folders(desk, folder.nodes)]
        logs += [
            folder.worker(name).conversation for name in _folders(desk, folder.workers)
        ]
    for log in logs:
        if _is_torn(desk, log):
            await desk.world.durably(partial(desk.world.pen.mend, log))


def _is_torn(desk: Desk, log: PurePosixPath) -> bool:
    entry = desk.world.reader.entry(log)
    if entry is None or not entry.size:
        return False
    last = desk.world.reader.part(log, offset=max(0, entry.size - 2), limit=2)
    return not last.endswith(b"\n") or b"\0" in last
