"""Publishing: `scratch/` becomes `published/` in one step, and the node is complete."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.errors import NotThere, ToolRefused
from agiraph.model.node import NodeState
from agiraph.runtime.material import Material
from agiraph.runtime.work import nodes

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.runtime.desk import Desk


@dataclass(frozen=True, slots=True)
class Deliverable:
    """What a worker hands in."""

    node: str
    summary: str
    partial: bool


async def publish(desk: Desk, deliverable: Deliverable) -> None:
    """Move the work over and record it; repeated after a crash it ends the same.

    Raises:
        ToolRefused: there is nothing in `scratch/`.
    """
    folder = desk.node_folder(deliverable.node)
    before = desk.nodes[deliverable.node].status
    if before.state is NodeState.COMPLETED and not has_content(desk, folder.scratch):
        return  # a crash came after the record
    await swap(desk, folder.scratch, folder.published)
    material = Material(desk.world.reader, desk.home)
    status = desk.nodes[deliverable.node].status
    desk.nodes[deliverable.node] = replace(
        desk.nodes[deliverable.node],
        status=replace(
            status,
            partial=deliverable.partial,
            published=material.fingerprint(folder.published),
            released=False,
        ),
    )
    await nodes.end(
        desk, deliverable.node, NodeState.COMPLETED, summary=deliverable.summary
    )


async def swap(desk: Desk, scratch: PurePosixPath, published: PurePosixPath) -> None:
    """Rename `scratch/` to `published/`; an older one moves to `published.N/` first.

    When `scratch/` is gone and `published/` is there, a crash came after the rename,
    and nothing is left to do.

    Raises:
        ToolRefused: there is nothing to publish.
    """
    if not has_content(desk, scratch):
        if has_content(desk, published):
            return
        raise ToolRefused(
            "scratch/ is empty: write the deliverable there, then publish"
        )
    if desk.world.reader.entry(published) is not None:
        await _put_aside(desk, published)
    await desk.world.durably(lambda: desk.world.pen.move(scratch, published))


async def _put_aside(desk: Desk, published: PurePosixPath) -> None:
    number = 1
    while desk.world.reader.entry(_numbered(published, number)) is not None:
        number += 1
    aside = _numbered(published, number)
    await desk.world.durably(lambda: desk.world.pen.move(published, aside))


def _numbered(published: PurePosixPath, number: int) -> PurePosixPath:
    return published.with_name(f"{published.name}.{number}")


def has_content(desk: Desk, folder: PurePosixPath) -> bool:
    """Whether a folder is there and holds something."""
    try:
        return bool(desk.world.reader.entries(folder))
    except NotThere:
        return False
