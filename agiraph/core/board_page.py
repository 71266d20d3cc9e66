"""The page `_board.md`: the graph as a Mermaid picture, and a table."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from agiraph.core.board import dependencies, found, state, why_not, why_stale
from agiraph.core.brief import shortened
from agiraph.model.node import Node, NodeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.run import Run

_LOOKS = {
    NodeState.PENDING: "fill:#f4f4f5,stroke:#a1a1aa,color:#3f3f46",
    NodeState.ASSIGNED: "fill:#e0f2fe,stroke:#38bdf8,color:#075985",
    NodeState.RUNNING: "fill:#dbeafe,stroke:#3b82f6,color:#1e40af",
    NodeState.WAITING: "fill:#ede9fe,stroke:#8b5cf6,color:#5b21b6",
    NodeState.WAITING_FOR_HUMAN: "fill:#fef9c3,stroke:#eab308,color:#854d0e",
    NodeState.CHECKPOINTED: "fill:#ccfbf1,stroke:#14b8a6,color:#115e59",
    NodeState.HELD: "fill:#ffedd5,stroke:#f97316,color:#9a3412",
    NodeState.COMPLETED: "fill:#dcfce7,stroke:#22c55e,color:#166534",
    NodeState.FAILED: "fill:#fee2e2,stroke:#ef4444,color:#991b1b",
    NodeState.CANCELLED: "fill:#e5e7eb,stroke:#6b7280,color:#374151",
    NodeState.STALE: "fill:#fae8ff,stroke:#d946ef,color:#86198f",
}

_PLAIN = " ,.:/'()!?=-…"
_LIST = re.compile(r"^(\d*)([-.)])(?= )")  # a label that begins so is read as a list


def board_page(
    run: Run, nodes: Mapping[str, Node], *, picture: bool = True, counters: bool = True
) -> str:
    """The whole page; it changes only when what it says changes."""
    nodes = _in_order(nodes)
    parts = [f"# Board of run {run.name}", _headline(run, nodes)]
    if nodes:
        parts += [mermaid(nodes) if picture else "", _table(nodes, counters=counters)]
    else:
        parts.append("No nodes yet.")
    parts.append(_stages(run))
    return "\n\n".join(part for part in parts if part) + "\n"


def _in_order(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """What is needed before what needs it, then by name: the same after a restart."""
    left = {}
    for node in nodes.values():
        parent = found(node.spec.parent or "", nodes)
        left[node.id] = {*dependencies(node, nodes), parent} & nodes.keys()
    ordered: dict[str, Node] = {}
    while left:
        free = [name for name, needs in left.items() if needs <= ordered.keys()]
        for name in sorted(free or left, key=_by_number):  # a circle comes as it is
            ordered[name] = nodes[name]
            del left[name]
    return ordered


def _by_number(name: str) -> list[tuple[int, str]]:
    """A name's place among others: `part-10` comes behind `part-9`."""
    parts = re.findall(r"\d+|\D+", name.casefold())
    return [(int(each), "") if each.isdecimal() else (-1, each) for each in parts]


def _headline(run: Run, nodes: Mapping[str, Node]) -> str:
    counts: dict[str, int] = {}
    for node in nodes.values():
        stands = state(node, nodes).value
        counts[stands] = counts.get(stands, 0) + 1
    told = ", ".join(f"{count} {stands}" for stands, count in counts.items())
    return f"Run: {run.state.value}" + (f" · nodes: {told}" if told else "")


def mermaid(nodes: Mapping[str, Node]) -> str:
    """The graph as a fenced Mermaid flowchart; ids are n0, n1 … so any name is safe."""
    keys = {node: f"n{index}" for index, node in enumerate(nodes)}
    lines = ["```mermaid", "flowchart LR"]
    used: dict[NodeState, list[str]] = {}
    for node in nodes.values():
        stands = state(node, nodes)
        used.setdefault(stands, []).append(keys[node.id])
        lines.append(f'  {keys[node.id]}["{_label(node, stands)}"]')
    for node in nodes.values():
        lines.extend(
            f"  {keys[needed]} --> {keys[node.id]}"
            for needed in dependencies(node, nodes)
            if needed in keys
        )
        parent = found(node.spec.parent or "", nodes)
        if parent in keys:
            lines.append(f"  {keys[parent]} -.-> {keys[node.id]}")
    for stands, ids in used.items():
        lines.append(f"  classDef {stands.value} {_LOOKS[stands]}")
        lines.append(f"  class {','.join(ids)} {stands.value}")
    lines.append("```")
    return "\n".join(lines)


def _label(node: Node, stands: NodeState) -> str:
    who = f"<br/>{_safe(node.status.worker)}" if node.status.worker else ""
    return f"{_safe(shortened(node.title, 40))}<br/>{stands.value}{who}"


def _safe(text: str) -> str:
    """Words that Mermaid takes as they are: what it would read as syntax is coded."""
    flat = " ".join("".join(map(_coded, text)).split())
    return _LIST.sub(lambda mark: f"{mark[1]}#{ord(mark[2])};", flat)


def _coded(character: str) -> str:
    if character in _PLAIN or unicodedata.category(character)[0] in "LMN":
        return character
    if unicodedata.category(character)[0] in "CZ":
        return " "
    return f"#{ord(character)};"


def _table(nodes: Mapping[str, Node], *, counters: bool) -> str:
    rows = [
        "| node | status | worker | turns | cost | notes |",
        "|---|---|---|---|---|---|",
    ]
    for node in nodes.values():
        stands = state(node, nodes)
        spend = node.status.spend
        cost = "unknown" if spend.cost_usd is None else f"${spend.cost_usd:.2f}"
        cells = (
            f"[{_cell(node.id)}](nodes/{node.id.replace(' ', '%20')}/_spec.md)",
            stands.value + (" (partial)" if node.status.partial else ""),
            node.status.worker or "",
            str(node.status.turns or "") if counters else "",
            cost if spend.turns and counters else "",
            _cell(shortened(_notes(node, nodes, stands), 160)),
        )
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _notes(node: Node, nodes: Mapping[str, Node], stands: NodeState) -> str:
    if not stands.ended:
        return why_not(node, nodes)
    words = node.status.error or node.status.summary
    return ". ".join(filter(None, (why_stale(node, nodes), words)))


def _cell(text: str) -> str:
    for mark, written in (("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;")):
        text = text.replace(mark, written)
    return " ".join(text.split())


def _stages(run: Run) -> str:
    if not run.stages:
        return ""
    lines = ["## Stages", ""]
    for stage in run.stages:
        title = f"{stage.number}. {_cell(stage.title) or 'stage'}"
        contract = stage.contract.policy.value
        end = f" · closed: {_cell(stage.assessment)}" if stage.closed else " · open"
        lines.append(f"- {title} ({contract}){end}")
    return "\n".join(lines)
