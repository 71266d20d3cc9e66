"""Answers from a recorded run, as `replay/<run>`: no key, no network, no bill.

`<run>` is the path of a run's folder, absolute or relative to the folder that the
daemon was started in. Who asks gets the answers that it was given then, in order: as
many have been given as there are answers in the conversation. So nothing is remembered
here, and a restart repeats nothing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.core.codec import line_from_json
from agiraph.errors import Fault, ProviderFault, YourError
from agiraph.model.conversation import (
    Answer,
    AssistantLine,
    SystemLine,
    UserLine,
)
from agiraph.model.names import COORDINATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.conversation import Line, Request


class ReplayProvider:
    """Says what was said in one run; the records are read when it is first asked."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._said: dict[str, list[AssistantLine]] | None = None

    async def ask(self, request: Request) -> Answer:
        """The answer that was given at this point of the run."""
        if self._said is None:
            self._said = recorded(self._run)
        who = request.prefix.node or COORDINATOR
        given = sum(isinstance(line, AssistantLine) for line in request.lines)
        answers = self._said.get(who, [])
        if given >= len(answers):
            raise ProviderFault(
                Fault.REQUEST,
                f"The recorded run {Path(self._run).name} has no answer {given + 1} "
                f"for {who!r}: here the replay departs from it.",
            )
        line = answers[given]
        return Answer(
            line.content, line.tool_calls, line.stop, line.usage, line.own, cost_usd=0.0
        )

    async def close(self) -> None:
        """Nothing is open."""


def recorded(run: str) -> dict[str, list[AssistantLine]]:
    """The answers of a run by who was asked: the coordinator, or a node.

    Raises:
        ProviderFault: there is no such run.
    """
    return {
        who: [line for line in lines if isinstance(line, AssistantLine)]
        for who, lines in said(run).items()
    }


def said(run: str) -> dict[str, list[Line]]:
    """All that was said in a run, by the coordinator's and by each node's conversation.

    Raises:
        ProviderFault: there is no such run.
    """
    folder = Path(run)
    home = folder.parent.parent
    if not (folder / "_run.yaml").exists():
        raise ProviderFault(
            Fault.MODEL,
            f"There is no recorded run at {run}. Write `replay/` and the path of a "
            "run's folder, such as agents/news/runs/2026-11-21-01.",
        )
    found: dict[str, list[Line]] = defaultdict(list)
    own = [*sorted((home / "conversations").glob("*")), home / "conversation.jsonl"]
    found[COORDINATOR] = list(_of_run(own, folder.name))
    for log in sorted((folder / "workers").glob("*/conversation.jsonl")):
        node = ""
        older = sorted((log.parent / "conversations").glob("*"))
        for line in _lines([*older, log]):
            node = (line.node or "") if isinstance(line, SystemLine) else node
            found[node].append(line)
    return dict(found)


def _of_run(files: list[Path], run: str) -> Iterator[Line]:
    """The coordinator's lines from the brief of a run to the next one's."""
    inside = False
    for line in _lines(files):
        if isinstance(line, UserLine):
            briefs = [each for each in line.ids if each.startswith("brief:")]
            inside = f"brief:{run}" in briefs if briefs else inside
        if inside:
            yield line


def _lines(files: list[Path]) -> Iterator[Line]:
    for file in files:
        try:
            data = file.read_bytes()
        except OSError:
            continue
        for raw in data.splitlines():
            try:
                yield line_from_json(json.loads(raw))
            except (ValueError, YourError):
                continue  # half a line that a crash left
