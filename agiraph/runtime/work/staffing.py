"""Workers: made, brought along from an earlier run, retired, and what they remember."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from agiraph.core.codec import read_identity, write_identity
from agiraph.core.codec.report import Good
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import NotThere
from agiraph.model.event import EventType
from agiraph.model.names import folded
from agiraph.model.worker import Deed, Identity, WorkerState
from agiraph.runtime.desk import Staff
from agiraph.runtime.material import Material
from agiraph.runtime.people.intake import keep_copy

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.layout import WorkerFolder
    from agiraph.runtime.desk import Desk


async def hire(desk: Desk, identity: Identity, *, memory: str = "") -> Staff:
    """Make a worker, once; a name from an earlier run brings its memory along."""
    known = desk.find_staff(identity.name)
    if known is not None:
        return known
    folder = desk.worker_folder(identity.name)
    earlier = _earlier(desk, identity.name)
    material = Material(desk.world.reader, desk.home)
    if earlier is not None:
        identity = _brought(material, earlier, identity)
        memory = memory or material.text(earlier.memory)
        await _keep(desk, folder.notebook, material.text(earlier.notebook))
        await _keep(desk, folder.history, material.text(earlier.history))
    await _keep(desk, folder.memory, memory)
    text = write_identity(identity)
    await desk.world.durably(lambda: _make(desk, folder, text))
    await keep_copy(desk, folder.identity, text)
    return await take_on(desk, identity, text)


async def _keep(desk: Desk, path: PurePosixPath, text: str) -> None:
    if text.strip():
        await desk.world.pen.create(path, text.encode())


async def _make(desk: Desk, folder: WorkerFolder, text: str) -> None:
    await desk.world.pen.create(folder.identity, text.encode())


async def take_on(desk: Desk, identity: Identity, text: str) -> Staff:
    """Put a worker whose identity.md is there on the desk."""
    known = desk.find_staff(identity.name)
    if known is not None:
        known.identity, known.text = identity, text
        if identity.retired and known.node is None:
            if known.state is not WorkerState.STOPPED:
                await _stopped(desk, known)
            await desk.set_staff(known, WorkerState.STOPPED, None)
        desk.bell.ring()
        return known
    staff = Staff(identity, text=text, deeds=deeds_of(desk, identity.name))
    state = WorkerState.STOPPED if identity.retired else WorkerState.IDLE
    await desk.set_staff(staff, state, None)
    await desk.records.event(
        EventType.WORKER_SPAWNED, desk.where(worker=staff.name), role=identity.role
    )
    return staff


def _earlier(desk: Desk, name: str) -> WorkerFolder | None:
    """The folder of that worker in the newest earlier run; of those put away, too."""
    reader = desk.world.reader
    try:
        runs = sorted((e.name for e in reader.entries(desk.home.runs)), reverse=True)
    except NotThere:
        return None
    for run in runs:
        if desk.run is not None and run >= desk.run.name:
            continue
        try:
            found = reader.entries(desk.home.run(run).workers)
        except NotThere:
            continue
        for entry in found:
            if folded(entry.name) == folded(name):
                return desk.home.run(run).worker(entry.name)
    kept = desk.home.kept_worker(folded(name))
    return kept if reader.entry(kept.path) is not None else None


def _brought(material: Material, earlier: WorkerFolder, identity: Identity) -> Identity:
    """The earlier identity, with what is said anew over it."""
    found = read_identity(material.text(earlier.identity), identity.name)
    if not isinstance(found, Good):
        return identity
    old = found.value
    return replace(
        identity,
        role=identity.role or old.role,
        model=identity.model or old.model,
        tools=identity.tools if identity.tools is not None else old.tools,
        text=identity.text or old.text,
    )


async def retire(desk: Desk, staff: Staff) -> None:
    """Give a worker no new work: its identity.md says so."""
    identity = replace(staff.identity, retired=True)
    text = write_identity(identity)
    path = desk.worker_folder(staff.name).identity
    await desk.world.write(path, text.encode())
    staff.identity, staff.text = identity, text
    await desk.set_staff(
        staff, WorkerState.BUSY if staff.node else WorkerState.STOPPED, staff.node
    )
    if staff.node is None:
        await _stopped(desk, staff)


async def _stopped(desk: Desk, staff: Staff) -> None:
    await desk.records.event(EventType.WORKER_STOPPED, desk.where(worker=staff.name))


async def remember(desk: Desk, staff: Staff, node: str) -> None:
    """Add a finished node to a worker's history, once."""
    folder, status = desk.worker_folder(staff.name), desk.nodes[node].status
    deed = Deed(node, desk.nodes[node].title, status.summary)
    if deed not in staff.deeds:
        staff.deeds.append(deed)
        text = json.dumps(
            [asdict(each) for each in staff.deeds], ensure_ascii=False, indent=2
        )
        await desk.world.write(folder.history, text.encode() + b"\n")


async def learn(desk: Desk, staff: Staff, node: str, learned: str) -> None:
    """Add what a worker learned to its memory."""
    folder = desk.worker_folder(staff.name)
    old = Material(desk.world.reader, desk.home).text(folder.memory)
    new = f"{old.rstrip()}\n\n## After {node}\n\n{learned.strip()}\n".lstrip()
    await desk.world.write(folder.memory, new.encode())
    await desk.records.event(
        EventType.MEMORY_WRITTEN, desk.where(node, staff.name), path="memory.md"
    )


def deeds_of(desk: Desk, worker: str) -> list[Deed]:
    """What a worker's history says that it has done."""
    path = desk.worker_folder(worker).history
    try:
        entries = json.loads(desk.world.reader.read(path, limit=GOAL_BYTES))
        return [Deed(e["node"], e["task"], e["summary"]) for e in entries]
    except (NotThere, ValueError, KeyError, TypeError):
        return []
