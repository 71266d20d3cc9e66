"""What stands for a conversation that was put away: its summary, its last turns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.excerpt import ends
from agiraph.core.narration import about
from agiraph.model.conversation import AssistantLine, Kind, Stop, ToolLine, UserLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.model.conversation import Spoken
    from agiraph.model.tool import ToolCall

HEADINGS: Final = (
    "Goal",
    "Decisions",
    "Done",
    "Open",
    "Constraints",
    "Exact identifiers",
)
_PART: Final = 3_000  # characters of one text among the last turns
_NAMED: Final = ("path", "url", "ref_name", "node_id", "id", "worker_id", "query")


def wrong(summary: str, stop: Stop, replaced: int) -> str:
    """Why a summary cannot stand for what it sums up; empty when it can.

    Args:
        replaced: bytes of what it stands for.
    """
    size = len(summary.encode("utf-8", "replace"))
    if not summary.strip():
        return "it was empty"
    if stop in (Stop.LENGTH, Stop.CONTEXT):
        return "it was cut off at the longest answer; write less"
    if size >= replaced:
        return f"it was longer ({size:,} bytes) than what it sums up ({replaced:,})"
    return ""


def weight(lines: Sequence[Spoken]) -> int:
    """Bytes of what was said, told and called."""
    texts = [line.content for line in lines]
    texts += [_given(call) for call, _ in _calls(lines)]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def by_rule(lines: Sequence[Spoken], earlier: str, most: int) -> str:
    """A summary made without a model: what was called, and what was said last.

    Args:
        lines: what it stands for.
        earlier: the summary that these lines went on from; empty where there is none.
        most: bytes at most.
    """
    said = [line.content for line in lines if isinstance(line, AssistantLine)]
    last = next((text for text in reversed(said) if text.strip()), "")
    parts = {
        "Goal": "As it stands above.",
        "Decisions": "Not summed up; see the earlier summary and the notes in files.",
        "Done": "\n".join(_deeds(lines)) or "No tool was called.",
        "Open": f"Last said: {ends(last.strip(), 1_000)}" if last else "Not summed up.",
        "Constraints": "As the goal and the rules say.",
        "Exact identifiers": ", ".join(_identifiers(lines)) or "None.",
    }
    if earlier.strip():
        parts["Decisions"] = f"The summary before this one:\n\n{earlier.strip()}"
    room = max(most // len(parts), 500)
    texts = [f"## {title}\n\n{ends(text, room)}" for title, text in parts.items()]
    return "\n\n".join(texts)


def _deeds(lines: Sequence[Spoken]) -> list[str]:
    """Each call with its outcome; the same again is said once, where it came last."""
    deeds: dict[str, None] = {}
    for call, result in _calls(lines):
        words = f"- {call.name} {about(call.arguments or {})}".rstrip()
        outcome = "failed" if result is None or result.error else "done"
        deeds.pop(f"{words}: {outcome}", None)
        deeds[f"{words}: {outcome}"] = None
    return list(deeds)


def _identifiers(lines: Sequence[Spoken]) -> list[str]:
    found: dict[str, None] = {}
    for call, _ in _calls(lines):
        for key in _NAMED:
            value = (call.arguments or {}).get(key)
            if isinstance(value, str) and value.strip():
                found[f"`{value.strip()[:200]}`"] = None
    return list(found)


def _calls(lines: Sequence[Spoken]) -> Iterable[tuple[ToolCall, ToolLine | None]]:
    results = {
        (line.turn, line.index): line for line in lines if isinstance(line, ToolLine)
    }
    for line in lines:
        if isinstance(line, AssistantLine):
            for index, call in enumerate(line.tool_calls):
                yield call, results.get((line.turn, index))


def as_text(lines: Sequence[Spoken], most: int) -> str:
    """The last lines as text, oldest first, as many as fit.

    Args:
        lines: of a session; what opened it is left out.
        most: bytes at most.
    """
    parts: list[str] = []
    left = most
    for line in reversed(lines):
        if isinstance(line, UserLine) and line.kind in (Kind.BRIEF, Kind.OPENING):
            continue
        text = _said(line)
        size = len(text.encode("utf-8", "replace")) + 2
        if size > left:
            if not parts and left > 0:
                parts.append(ends(text, left // 2))
            break
        left -= size
        parts.append(text)
    return "\n\n".join(reversed(parts))


def _said(line: Spoken) -> str:
    match line:
        case UserLine():
            return f"[told] {ends(line.content, _PART)}"
        case ToolLine():
            failed = ", failed" if line.error else ""
            return f"[result of {line.name}{failed}] {ends(line.content, _PART)}"
        case AssistantLine():
            calls = [f"[you called {_shown(call)}]" for call in line.tool_calls]
            text = ends(line.content.strip(), _PART)
            return "\n".join([*([f"[you] {text}"] if text else []), *calls])


def _shown(call: ToolCall) -> str:
    return f"{call.name} {ends(_given(call), 600)}"


def _given(call: ToolCall) -> str:
    return json.dumps(call.arguments or {}, ensure_ascii=False)


# --- the text that a rebuilt conversation opens with

_SUMMED_UP: Final = "# What came before, summed up"
_NOW: Final = "# How things stand now"
_LAST: Final = "# The last turns"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a rebuilt conversation opens with.

    Attributes:
        words: what has happened to the conversation, and where it is kept.
        brief: what opens a run or a node.
        now: what the tree knows, read when the session opened.
        last: the last turns, as text.
    """

    words: str
    brief: str
    summary: str
    now: str
    last: str


def opening_text(opening: Opening) -> str:
    """The user text that a session goes on from."""
    parts = [
        opening.words,
        opening.brief,
        f"{_SUMMED_UP}\n\n{opening.summary}" if opening.summary.strip() else "",
        f"{_NOW}\n\n{opening.now}" if opening.now.strip() else "",
        f"{_LAST}\n\n{opening.last}" if opening.last.strip() else "",
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip())


def earlier_summary(lines: Sequence[Spoken]) -> str:
    """The summary that these lines went on from; empty where there is none."""
    for line in lines:
        if isinstance(line, UserLine) and line.kind is Kind.OPENING:
            _, found, rest = line.content.partition(f"{_SUMMED_UP}\n")
            for end in (f"\n{_LAST}\n", f"\n{_NOW}\n"):
                rest = rest.rpartition(end)[0] or rest
            return rest.strip() if found else ""
    return ""
