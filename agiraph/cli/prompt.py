"""`agiraph check --prompt`: what the next call of a loop would send, part by part."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.codes import NotFound
from agiraph.cli.models import tree_settings
from agiraph.cli.names import found
from agiraph.cli.read import Files
from agiraph.cli.view import newest_run, one_agent
from agiraph.core.brief import OWN_PART
from agiraph.core.limits import BYTES_PER_TOKEN
from agiraph.model.conversation import AssistantLine, SystemLine, ToolLine
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.call import Call
    from agiraph.cli.rehearsal import Next
    from agiraph.model.conversation import Spoken


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a prompt.

    Attributes:
        tokens: a third of its bytes, as budgets reckon.
        source: where it came from.
    """

    part: str
    tokens: int
    source: str
    text: str


def show(call: Call, typed: str, *, json_: bool) -> None:
    """Print the parts of the next prompt: of a coordinator, or of `NAME/WORKER`."""
    from agiraph.cli.rehearsal import next_call

    files = Files(call.tree)
    agent, worker, path = _who(files, typed)
    settings = tree_settings(files.root)
    coming = next_call(files.root, settings, agent, path, worker=worker)
    if coming.prefix is None:
        raise NotFound(f"{path} has no session yet, and none would be opened now.")
    if coming.wrong:
        render.say(f"What waits is left out: {coming.wrong}")
    parts = _parts(coming, path)
    counted = next(
        (
            line.usage.context
            for line in reversed(coming.said)
            if isinstance(line, AssistantLine)
        ),
        None,
    )
    _print(call, coming.prefix.model, parts, counted, json_=json_)


def _parts(coming: Next, path: PurePosixPath) -> list[Part]:
    found = [] if coming.prefix is None else list(_frozen(coming.prefix, path))
    found += [_said(line, f"{path}, {line.ts}") for line in coming.said]
    found += [
        _part(f"result of {call.name}", "still to come: it is at work", "")
        for call in coming.open
    ]
    for line in coming.waiting:
        ids = getattr(line, "ids", ())
        found.append(_said(line, f"waits: {', '.join(ids) or 'now'}"))
    return found


def _print(
    call: Call, model: str, parts: list[Part], counted: int | None, *, json_: bool
) -> None:
    total = sum(part.tokens for part in parts)
    if json_:
        said = {"model": model, "tokens": total, "counted": counted}
        rows = [asdict(part) for part in parts]
        render.data(render.as_json(said | {"parts": rows}))
        return
    rows_ = [(str(n), p.part, str(p.tokens), p.source) for n, p in enumerate(parts, 1)]
    heads = ("", "PART", "TOKENS", "FROM")
    console = render.console(call)
    console.print(render.table(heads, rows_, right=("", "TOKENS")))
    last = (
        ""
        if counted is None
        else f"; after the last answer the service said {counted:,}"
    )
    render.data(f"\n{model}: about {total:,} tokens{last}.")
    for number, part in enumerate(parts, 1):
        render.data(f"\n--- {number}: {part.part}\n{render.clean(part.text)}")


def _who(files: Files, typed: str) -> tuple[str, str, PurePosixPath]:
    """The agent, its worker or none, and where their conversation lies."""
    name, _, worker = typed.partition("/")
    home = Home(one_agent(files, name))
    if not worker:
        return home.agent, "", home.conversation
    run = newest_run(files, home)
    if run is None:
        raise NotFound(f"{home.agent} has no run yet, so it has no workers.")
    names = files.folders(run.workers)
    found_ = found(worker, names, kind="worker", where=run.name)
    return home.agent, found_, run.worker(found_).conversation


def _frozen(prefix: SystemLine, path: PurePosixPath) -> Iterator[Part]:
    """What a session was opened with; the cache holds it from the first call on."""
    source = f"{path}, session {prefix.session} ({prefix.why})"
    common, mark, own = prefix.content.partition(f"\n{OWN_PART}")
    tools = render.as_json(
        [
            {"name": t.name, "description": t.description, "parameters": t.parameters}
            for t in prefix.tools
        ]
    )
    yield _part(f"tools ({len(prefix.tools)})", source, tools)
    yield _part("rules, shared by all of its kind", source, common)
    if own:
        yield _part("who it is", source, f"{mark}{own}".strip())


def _said(line: Spoken, source: str) -> Part:
    if isinstance(line, AssistantLine):
        calls = [f"{call.name} {call.arguments}" for call in line.tool_calls]
        words = "\n".join(each for each in (line.content, *calls) if each)
        return _part(f"answer {line.turn}", source, words)
    if isinstance(line, ToolLine):
        return _part(f"result of {line.name}", source, line.content)
    return _part(f"{line.kind.value} from {line.sender}", source, line.content)


def _part(part: str, source: str, text: str) -> Part:
    return Part(
        part, len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN, source, text
    )
