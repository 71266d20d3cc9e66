"""Briefs: what opens a run for the coordinator, and a node for its worker."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.excerpt import ends
from agiraph.core.limits import INLINED_REFS, MEMORY_SHOWN, SUMMARY_SHOWN
from agiraph.core.untrusted import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.model.conversation import SystemLine
    from agiraph.model.node import Node, NodeState


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that a brief names; size in bytes; text where it is shown whole."""

    path: str
    size: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RunBrief:
    """What the coordinator learns when a run opens."""

    date: str
    run: str
    goal: str
    memory: str
    memory_index: str
    daily: Sequence[tuple[str, str]]
    inputs: Sequence[Listed]
    models: str
    skills: Sequence[str] = ()
    instructions: Sequence[Listed] = ()
    most: int = MEMORY_SHOWN


@dataclass(frozen=True, slots=True)
class NodeBrief:
    """What a worker learns when it takes a node."""

    date: str
    node: str
    spec: str
    goal: str
    stage: str
    memory: str
    notebook: str
    refs: Sequence[tuple[str, Sequence[Listed]]]
    how_to_end: str
    earlier: str = ""
    others: Sequence[str] = ()
    inputs: bool = False
    inlined: int = INLINED_REFS
    skills: Sequence[str] = ()
    instructions: Sequence[Listed] = ()


def run_brief(brief: RunBrief) -> str:
    """The user text that opens a run."""
    parts = [
        f"# Run {brief.run}",
        f"Date: {brief.date}",
        f"## Goal\n\n{brief.goal.strip()}",
        _headed("Your memory (MEMORY.md)", _capped(brief.memory, brief.most)),
        _headed("Index of memory/", _capped(brief.memory_index, brief.most)),
        *(
            _headed(f"Daily log {day}", _capped(text, brief.most))
            for day, text in brief.daily
        ),
        _headed("Inputs", _listing(brief.inputs)),
        *_guides(brief.skills, brief.instructions),
        _headed("Models that nodes may use", brief.models),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def node_brief(brief: NodeBrief) -> str:
    """The user text that opens a node."""
    parts = [
        f"# Your node: {brief.node}",
        f"Date: {brief.date}",
        f"## Task (_spec.md)\n\n{brief.spec.strip()}",
        brief.earlier,
        _headed("What you have from others", _refs(brief.refs, brief.inlined)),
        _headed("Your memory (memory.md)", _capped(brief.memory)),
        _headed("Your notebook (notebook.md)", _capped(brief.notebook)),
        _headed("The goal behind it, in short", shortened(brief.goal, 1200)),
        _headed("Where it belongs", brief.stage),
        _headed("Who else works", "\n".join(f"- {line}" for line in brief.others)),
        "There is material from people in `inputs/`." if brief.inputs else "",
        *_guides(brief.skills, brief.instructions),
        brief.how_to_end,
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _guides(skills: Sequence[str], instructions: Sequence[Listed]) -> list[str]:
    """What people wrote on how to work: skills by name, instructions as they are."""
    listed = "\n".join(f"- {line}" for line in skills)
    parts = [f"{_SKILLS}\n\n{listed}" if listed else ""]
    for each in instructions:
        folder = each.path.rpartition("/")[0]
        words = each.text or f"Read it with `read_file` (path `{each.path}`)."
        parts.append(_headed(f"For work on `{folder}/` ({each.path})", words))
    return parts


_SKILLS = (
    "## Skills\n\nWhat people wrote on how to do some kinds of work. When one fits "
    "your task, read its file with `read_file` before you begin; it may name further "
    "files of its folder."
)


def small_brief(brief: NodeBrief, task: str) -> str:
    """The same for a small model: its task, behind what it is about, and no more.

    Such a model takes whatever stands around its task for the text to work on.
    """
    parts = [_refs(brief.refs, brief.inlined), brief.earlier, task]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _headed(title: str, text: str) -> str:
    return f"## {title}\n\n{text.strip()}" if text.strip() else ""


def _capped(text: str, most: int = MEMORY_SHOWN) -> str:
    """A text with its middle cut out where it is long: what is new stands last."""
    if len(text.encode("utf-8", "replace")) <= most:
        return text
    size = most * len(text) // len(text.encode("utf-8", "replace"))
    return ends(text, size) + "\n[cut in the middle; read the file for the rest]"


def _listing(files: Sequence[Listed]) -> str:
    return "\n".join(f"- `{file.path}` ({file.size:,} bytes)" for file in files)


def _refs(refs: Sequence[tuple[str, Sequence[Listed]]], left: int) -> str:
    parts: list[str] = []
    for name, files in refs:
        if not files:
            parts.append(f"### {name}\n\n(nothing was found there)")
        for file in files:
            whole = file.text is not None and file.size <= left
            title = f"### {name}: `{file.path}` ({file.size:,} bytes)"
            if whole and file.text is not None:
                left -= file.size
                parts.append(f"{title}\n\n{file.text.strip()}")
            else:
                parts.append(
                    f"{title}\n\nNot shown here (too large, or not text): look at it "
                    f"with `read_file` (path `{file.path}`) or `read_ref` (`{name}`)."
                )
    return "\n\n".join(parts)


def shortened(text: str, size: int) -> str:
    """A text, cut with a sign where it is longer than `size` characters."""
    text = text.strip()
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


# What stands under this heading in a system prompt is one agent's or worker's own;
# all before it is the same for everyone of its kind.
OWN_PART = "## Who you are"


def system_text(*parts: str) -> str:
    """The frozen system prompt: its parts, one after another."""
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def same_prefix(old: SystemLine, new: SystemLine) -> bool:
    """Whether a session can go on: nothing that was frozen has changed."""
    return (old.model, old.content, old.tools) == (new.model, new.content, new.tools)


def notice(*lines: str) -> str:
    """Words of the daemon, marked as such; what it quotes cannot end the mark."""
    return f"<agiraph>{quoted(chr(10).join(lines))}</agiraph>"


def ended_line(node: Node, stands: NodeState, worker: str | None) -> str:
    """One line on a node's end, for whoever waits for it."""
    spend = node.status.spend
    cost = "cost unknown" if spend.cost_usd is None else f"${spend.cost_usd:.2f}"
    who = f", worker {worker}" if worker else ""
    partial = " (partial)" if node.status.partial else ""
    turns = "1 turn" if node.status.turns == 1 else f"{node.status.turns} turns"
    facts = f"[node {node.id} {stands.value}{partial}{who}, {turns}, {cost}]"
    words = " ".join((node.status.error or node.status.summary).split())
    return f"{facts} {shortened(words, SUMMARY_SHOWN)}".rstrip()


def mail_text(sender: str, text: str, *, urgent: bool = False) -> str:
    """A message as its reader sees it."""
    mark = "urgent message" if urgent else "message"
    return f"[{mark} from {sender}]\n{quoted(text.strip())}"


def diff_text(name: str, old: str, new: str) -> str:
    """A unified diff of a file that a person changed."""
    lines = difflib.unified_diff(
        old.splitlines(),
        new.splitlines(),
        f"{name} (before)",
        f"{name} (now)",
        lineterm="",
    )
    return "\n".join(lines)
