"""Answers from a recorded run, as `replay/<run>`: no key, no network, no bill.

`<run>` is the path of a run's folder, absolute or relative to the folder that the
daemon was started in. Who asks gets the answers that it was given then, in order; each
names its place in the record, so nothing is remembered here, and a restart repeats
nothing.

Side by side, nodes end in another order than they did then. So an answer waits for the
ends of nodes that were told before it: who is woken earlier rests again. And where the
end that a rest waited for is told already, the answer behind that rest is given.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.core.codec import line_from_json
from agiraph.errors import Fault, ProviderFault, YourError
from agiraph.model.conversation import (
    Answer,
    AssistantLine,
    Stop,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.names import COORDINATOR
from agiraph.model.usage import Usage
from agiraph.providers import replay_files, replay_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agiraph.model.conversation import Line, Request
    from agiraph.model.json import JsonObject
    from agiraph.providers.replay_words import Word

_END = re.compile(r"(?:^|>)\[node ([^,\]]+),", re.M)
_PLACE = "replayed"
_RESTS = "(Here the recorded run had heard more.)"


class ReplayProvider:
    """Says what was said in one run; the records are read when it is first asked."""

    def __init__(self, run: str, *, waits: bool = False) -> None:
        """`waits`: nothing is answered before what people said then is said again."""
        self._run = run
        self._waits = waits
        self._words: tuple[Word, ...] = ()
        self._said: dict[str, list[Line]] | None = None

    async def ask(self, request: Request) -> Answer:
        """The answer that was given at this point of the run."""
        if self._said is None:
            self._said = said(self._run)
            if self._waits:
                self._words = replay_words.words(self._run, self._said)
        who = request.prefix.node or COORDINATOR
        answers = list(_answers(self._said.get(who, [])))
        given = place(request.lines)
        heard = _ends(request.lines)
        while _is_over(answers[given : given + 2], heard):
            given += 1
        self._wait_for_people(request, who, given)
        if given >= len(answers):
            raise ProviderFault(
                Fault.REQUEST,
                f"The recorded run {Path(self._run).name} has no answer {given + 1} "
                f"for {who!r}: here the replay departs from it.",
            )
        line, before = answers[given]
        if before - heard and not _rested_in_vain(request.lines):
            own: JsonObject = {_PLACE: given}
            return Answer(_RESTS, (), Stop.END, Usage(), own, cost_usd=0.0)
        own = {**line.own, _PLACE: given + 1}
        return Answer(
            line.content, line.tool_calls, line.stop, line.usage, own, cost_usd=0.0
        )

    async def close(self) -> None:
        """Nothing is open."""

    def _wait_for_people(self, request: Request, who: str, given: int) -> None:
        """Held where a person spoke in the recorded run and has not spoken here.

        Raises:
            ProviderFault: so it is.
        """
        mine = [word for word in self._words if word.who == who and word.after <= given]
        now = sum(word.after == given for word in mine)
        here = replay_words.heard(request.lines)
        if now > len(replay_words.heard(_newest(request))) and len(mine) > len(here):
            raise ProviderFault(
                Fault.KEY,
                f"In the recorded run a person spoke to {who!r} before its answer "
                f"{given + 1}: it waits for that.",
            )


def _newest(request: Request) -> list[Line]:
    """What was told since the last answer."""
    found: list[Line] = []
    for line in request.lines:
        found = [] if isinstance(line, AssistantLine) else [*found, line]
    return found


def _answers(lines: Iterable[Line]) -> Iterator[tuple[AssistantLine, frozenset[str]]]:
    """The answers on record, each with the ends of nodes that were told before it."""
    heard: frozenset[str] = frozenset()
    for line in lines:
        heard |= _ends([line])
        if isinstance(line, AssistantLine):
            yield line, heard


def _ends(lines: Iterable[Line]) -> frozenset[str]:
    """The ends of nodes that lines tell, such as `nvidia completed`."""
    told = (
        line.content
        for line in lines
        if isinstance(line, UserLine)
        or (isinstance(line, ToolLine) and line.name == "wait")
    )
    return frozenset(end for words in told for end in _END.findall(words))


def place(lines: Iterable[Line]) -> int:
    """How many answers of the record this conversation has had."""
    given = 0
    for line in lines:
        if isinstance(line, AssistantLine):
            found = line.own.get(_PLACE)
            given = found if isinstance(found, int) else given + 1
    return given


def _is_over(
    answers: list[tuple[AssistantLine, frozenset[str]]], heard: frozenset[str]
) -> bool:
    """Whether an answer only waited for what has been told by now."""
    if len(answers) < 2:
        return False
    (line, before), (_, then) = answers
    waits = all(call.name == "wait" for call in line.tool_calls)
    return waits and before < then and then <= heard


def _rested_in_vain(lines: Sequence[Line]) -> bool:
    """Whether nothing was told since it was made to rest: then nothing will be."""
    for at in range(len(lines) - 1, -1, -1):
        if isinstance(lines[at], AssistantLine):
            rested = lines[at].content == _RESTS
            return rested and not _ends(lines[at + 1 :])
    return False


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
    own = [*replay_files.sessions(home), home / "conversation.jsonl"]
    found[COORDINATOR] = list(_of_run(own, folder.name))
    for log in sorted((folder / "workers").glob("*/conversation.jsonl")):
        node = ""
        for line in _lines([*replay_files.sessions(log.parent), log]):
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
    for raw in replay_files.lines_of(*files):
        try:
            yield line_from_json(json.loads(raw))
        except (ValueError, YourError):
            continue  # half a line that a crash left
