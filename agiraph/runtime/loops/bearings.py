"""Where a loop stands, read from the tree: what its rebuilt conversation opens with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.brief import shortened
from agiraph.core.excerpt import ends
from agiraph.core.limits import MEMORY_SHOWN
from agiraph.errors import AgiraphError
from agiraph.ports import EntryKind
from agiraph.runtime.loops.briefs import brief_of_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePosixPath

    from agiraph.core.compaction import Shares
    from agiraph.model.node import Node
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.material import Material

_MOST_FILES = 60
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class Bearings:
    """What the tree says.

    Attributes:
        brief: what opens a run or a node, as it would open now.
        now: what is open, at work and waited for.
    """

    brief: str
    now: str


def of_coordinator(desk: Desk, material: Material, shares: Shares) -> Bearings:
    """What the coordinator must know again."""
    brief = brief_of_run(desk, material, most=min(shares.brief // 4, MEMORY_SHOWN))
    parts = [_of_the_run(desk), _questions(desk), _triggers(desk, material)]
    if desk.run is not None:
        run = desk.run_folder()
        files = [
            *_listed(desk, run.scratch, "scratch"),
            *_listed(desk, run.published, "published"),
            *_listed(desk, desk.home.memories, "memory"),
            *(["_plan.md"] if material.is_there(run.plan) else []),
        ]
        parts.append(_headed("Your files", files))
    return Bearings(ends(brief, shares.brief), _fitted(parts, shares.standing))


def of_worker(desk: Desk, node: Node, brief: str, shares: Shares) -> Bearings:
    """What a worker must know again.

    Args:
        brief: what opens its node now.
    """
    folder = desk.node_folder(node.id)
    files = _listed(desk, folder.scratch, "scratch")
    below = board.descendants(node.id, desk.recorded)
    parts = [
        _headed("Your child nodes", (_node_line(desk, each) for each in below)),
        _questions(desk, node.id),
        _headed("Your files", files) or "You have no file in `scratch/` yet.",
    ]
    return Bearings(ends(brief, shares.brief), _fitted(parts, shares.standing))


def _fitted(parts: Iterable[str], most: int) -> str:
    return ends("\n\n".join(part for part in parts if part), max(most, 1_000))


def _headed(title: str, lines: Iterable[str]) -> str:
    text = "\n".join(f"- {line}" for line in lines)
    return f"{title}:\n{text}" if text else ""


def _of_the_run(desk: Desk) -> str:
    run = desk.run
    if run is None:
        return "No run has been opened yet."
    if not run.state.open:
        return f"No run is open; {run.name} has ended as {run.state.value}."
    stages = [
        f"Stage {s.number} is open: {s.title}" for s in run.stages if not s.closed
    ]
    nodes = list(desk.recorded.values())
    open_ones = board.open_nodes(desk.recorded)
    waiting = [_node_line(desk, node) for node in open_ones]
    ended = [_node_line(desk, node) for node in nodes if node not in open_ones]
    workers = [
        f"{s.name}{f' ({s.identity.role})' if s.identity.role else ''}: "
        f"{f'at work on {s.node}' if s.node else s.state.value}"
        for s in desk.staff.values()
        if not s.identity.retired
    ]
    parts = [
        f"Run {run.name} is {run.state.value}.",
        *stages,
        _headed("Open nodes", waiting) or "No node is open.",
        _headed("Nodes that have ended", ended),
        _headed("Workers", workers),
    ]
    return "\n\n".join(part for part in parts if part)


def _node_line(desk: Desk, node: Node) -> str:
    """One node: how it stands, who has it, and why it waits or what it brought."""
    stands = board.state(node, desk.recorded)
    who = f", {node.status.worker}" if node.status.worker else ""
    words = node.status.error or node.status.summary
    if not stands.ended:
        words = board.why_not(node, desk.recorded, desk.hands())
    title = f" ({node.title})" if node.title != node.id else ""
    said = f": {shortened(' '.join(words.split()), 160)}" if words else ""
    return f"{node.id}{title} is {stands.value}{who}{said}"


def _questions(desk: Desk, node: str | None = None) -> str:
    """The questions that wait for an answer, of all or of one node."""
    return _headed(
        "Questions that wait for the person's answer (do not ask again)",
        (
            f"{each.id} from {each.sender}: "
            f"{shortened(' '.join(each.text.split()), 200)}"
            for each in desk.questions.values()
            if node is None or each.node == node
        ),
    )


def _triggers(desk: Desk, material: Material) -> str:
    text = material.text(desk.home.triggers, limit=2_000).strip()
    return f"Triggers (triggers.yaml):\n\n{text}" if text else ""


def _listed(desk: Desk, folder: PurePosixPath, shown: str) -> list[str]:
    """Names and sizes of the files below a folder, to a bound."""
    found: list[str] = []
    for line in _below(desk, folder, shown, _DEEPEST):
        if len(found) >= _MOST_FILES:
            return [*found, f"and more in `{shown}/`; list_files shows them"]
        found.append(line)
    return found


def _below(desk: Desk, folder: PurePosixPath, shown: str, deep: int) -> Iterator[str]:
    try:
        entries = desk.world.reader.entries(folder)
    except AgiraphError:
        return
    for entry in entries:
        name = f"{shown}/{entry.name}"
        if entry.kind is EntryKind.FILE:
            yield f"`{name}` ({entry.size:,} bytes)"
        elif entry.kind is EntryKind.FOLDER and deep > 1:
            yield from _below(desk, folder / entry.name, name, deep - 1)
