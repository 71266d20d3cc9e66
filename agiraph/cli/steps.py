"""What a worker did, in words: the last turns of a node's `log.jsonl`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.cli import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TURNS = 8
_RESULTS = 3
_PREVIEW = 100
_TIMES = "\N{MULTIPLICATION SIGN}"


def told(steps: Iterable[dict[str, object]]) -> list[str]:
    """The last turns: what the model called and said, and what came of it."""
    turns: dict[object, list[dict[str, object]]] = {}
    for step in steps:
        turns.setdefault(step.get("turn"), []).append(step)
    lines: list[str] = []
    for number in list(turns)[-_TURNS:]:
        lines.extend(_turn(number, turns[number]))
    return lines


def _turn(number: object, steps: list[dict[str, object]]) -> Iterator[str]:
    asked = next((each for each in steps if each.get("step") == "model"), {})
    results = [each for each in steps if "result" in each]
    calls = asked.get("calls")
    names = [str(name) for name in calls] if isinstance(calls, list) else []
    names = names or [str(each.get("tool", "")) for each in results]
    when = render.moment(str(steps[0].get("ts", "")))[-8:]
    yield f"{when}  turn {number}  {_counted(names) or 'no tool'}"
    said = asked.get("text")
    if isinstance(said, str) and said:
        yield f"    says: {render.short(said, _PREVIEW)}"
    failed = [each for each in results if each.get("error") is True]
    fine = [each for each in results if each.get("error") is not True]
    for each in fine[:_RESULTS]:
        yield f"    {_result(each)}"
    if len(fine) > _RESULTS:
        yield f"    … and {len(fine) - _RESULTS} more results"
    for each in failed:
        yield f"    FAILED {_result(each)}"


def _counted(names: list[str]) -> str:
    """Names in their order, each once and with how often."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(
        name if count == 1 else f"{name} {_TIMES} {count}"
        for name, count in counts.items()
    )


def _result(step: dict[str, object]) -> str:
    what = render.short(str(step.get("result", "")), _PREVIEW)
    return f"{step.get('tool', '?')}: {what}"
