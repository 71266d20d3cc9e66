"""Briefs, put together from the tree: what opens a run, and a node for its worker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.brief import NodeBrief, RunBrief, node_brief, run_brief, small_brief
from agiraph.core.limits import (
    ANSWER_TOKENS,
    BYTES_PER_TOKEN,
    INLINED_REFS,
    MEMORY_SHOWN,
    SMALL_WINDOW,
)
from agiraph.errors import YourError
from agiraph.runtime.material import Material

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.brief import Listed
    from agiraph.model.node import Node, NodeStatus
    from agiraph.runtime.desk import Desk, Staff

_AROUND_REFS = 48_000  # bytes for the rest of a brief: rules, spec, memory, notebook


def brief_of_run(desk: Desk, material: Material, *, most: int = MEMORY_SHOWN) -> str:
    """The text that opens the newest run for the coordinator.

    Args:
        most: bytes of each part of the memory that may be shown.
    """
    if desk.run is None:
        return ""
    return run_brief(
        RunBrief(
            date=_today(desk),
            run=desk.run.name,
            goal=desk.run.goal,
            memory=material.memory(),
            memory_index=material.memory_index(),
            daily=material.daily_logs(),
            inputs=material.inputs(),
            models=desk.world.models.table(),
            skills=desk.skills.lines,
            instructions=material.instructions(),
            most=most,
        )
    )


def brief_of_node(
    desk: Desk, node: Node, staff: Staff, *, inlined: int = INLINED_REFS
) -> str:
    """The text that opens a node for a worker with tools.

    Args:
        inlined: bytes of refs that are shown whole.
    """
    material = Material(desk.world.reader, desk.home)
    brief = _brief(desk, material, node, staff, refs=inlined)
    return node_brief(
        replace(
            brief,
            stage=f"{brief.stage} The coordinator's plan is in `_plan.md`.",
            others=_others(desk, staff),
            inputs=bool(material.inputs()),
            how_to_end=prompts.words("how_to_end"),
            skills=desk.skills.lines,
            instructions=material.instructions(),
        )
    )


def brief_of_single(desk: Desk, node: Node, staff: Staff, model: str) -> str:
    """The text that opens a node whose worker has one answer and no tools.

    Raises:
        YourError: the node has refs that it cannot be shown.
    """
    room = _room_for_refs(desk, model)
    material = Material(desk.world.reader, desk.home)
    brief = _brief(desk, material, node, staff, refs=room)
    _must_fit(brief.refs, room)
    if is_small(desk, model):
        return small_brief(brief, node.spec.body)
    return node_brief(brief)


def is_small(desk: Desk, model: str) -> bool:
    """Whether a model is to be told as little as possible around its task."""
    return desk.world.models.facts(model).window <= SMALL_WINDOW


def _brief(
    desk: Desk, material: Material, node: Node, staff: Staff, *, refs: int
) -> NodeBrief:
    """What every worker is told of its node, and nothing of tools."""
    folder = desk.worker_folder(staff.name)
    shown = material.refs(node.spec, desk.run_folder())
    return NodeBrief(
        date=_today(desk),
        node=node.id,
        spec=node.text,
        goal=desk.run.goal if desk.run else "",
        stage=f"Stage {node.spec.stage or 1}.",
        memory=material.text(folder.memory),
        notebook=material.text(folder.notebook),
        refs=material.listed(shown, most=refs),
        inlined=refs,
        earlier=_earlier(node.status),
        how_to_end=prompts.words("single_brief"),
    )


def _today(desk: Desk) -> str:
    return desk.world.clock.now().strftime("%A %Y-%m-%d %H:%M %z")


def _earlier(status: NodeStatus) -> str:
    if status.attempt <= 1 or not status.summary:
        return ""
    return (
        "## What was done before\n\nThis node was worked on before; `scratch/` is as "
        f"it was left.\n\n{status.summary}"
    )


def _room_for_refs(desk: Desk, model: str) -> int:
    """Bytes of refs that fit into the one call of a node without tools."""
    window = desk.settings.context or desk.world.models.facts(model).window
    answer = min(ANSWER_TOKENS, window // 4)
    return max((window - answer) * BYTES_PER_TOKEN - _AROUND_REFS, 0)


def _must_fit(refs: Sequence[tuple[str, Sequence[Listed]]], room: int) -> None:
    files = [file for _, found in refs for file in found]
    wrong = [file for file in files if file.text is None]
    if not wrong and sum(file.size for file in files) > room:
        wrong = files
    if wrong:
        named = ", ".join(f"{file.path} ({file.size:,} bytes)" for file in wrong[:5])
        raise YourError(
            f"a node without tools (max_turns: 1) cannot open files, and its refs are "
            f"too large for one call, or no text: {named}; {room:,} bytes fit. Refer "
            "to less, or give the node more turns"
        )


def _others(desk: Desk, me: Staff) -> list[str]:
    return [
        f"{s.name}{f', {s.identity.role}' if s.identity.role else ''}: "
        f"{f'node {s.node}' if s.node else s.state.value}"
        for s in desk.staff.values()
        if s is not me and not s.identity.retired
    ]
