"""`agiraph digest`: what happened, who decided what and why, the cost, what is open."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import Misused
from agiraph.cli.read import Files
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import agent_names, one_agent
from agiraph.core.chronicle import Chronicle, Letter, chronicle
from agiraph.core.codec import usage_from_line
from agiraph.core.costs import Tally
from agiraph.core.durations import seconds
from agiraph.core.loghead import WHOLE, head_of
from agiraph.core.loglines import record_of, time_of
from agiraph.errors import ToolRefused, YourError
from agiraph.model.layout import Home
from agiraph.runtime.parts import older

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.view import AgentView
    from agiraph.core.chronicle import Item
    from agiraph.core.loghead import Head
    from agiraph.model.json import JsonObject
    from agiraph.model.layout import RunFolder

_FIRST_PART = 256 * 1024
_DURATION = re.compile(r"\d+(\.\d+)?\s*[a-z]*", re.IGNORECASE)
_ENDED = ("completed", "cancelled", "checkpointed")


@dataclass(frozen=True, slots=True)
class Digest:
    """One agent's."""

    agent: str
    told: Chronicle
    spent: Tally
    view: AgentView

    @property
    def is_quiet(self) -> bool:
        """Whether nothing happened and nothing is open."""
        said = self.told.happened or self.told.decided or self.spent.total().calls
        return not said and not open_things(self.view)


@click.command(short_help="What happened, who decided it and why, and its cost.")
@click.argument("name", required=False)
@click.option(
    "--since",
    default="yesterday",
    show_default=True,
    metavar="WHEN",
    help="`today`, `yesterday`, a span such as 2d or 6h, or a date: 2026-11-21.",
)
@as_json
@tree_options
@click.pass_obj
def digest(call: Call, name: str | None, since: str, json_: bool) -> None:
    """What happened, who decided what and why, what it cost, what is open.

    Of one agent, or with no NAME of all. Made from the records alone, by no model;
    everything names the file where more is said.

    Examples:
      agiraph digest
      agiraph digest news --since 2d
      agiraph digest --json | jq '.agents[].open'
    """
    files = Files(call.tree)
    start = moment_of(since, datetime.now().astimezone())
    names = agent_names(files) if name is None else (one_agent(files, name),)
    found = [digest_of(files, each, start) for each in names]
    if json_:
        told = {"since": start.isoformat(), "agents": [_object(one) for one in found]}
        render.data(render.as_json(told))
        return
    render.data(f"# Since {start:%Y-%m-%d %H:%M}")
    for one in found:
        if not one.is_quiet:
            _draw(one)
    quiet = [one.agent for one in found if one.is_quiet]
    if quiet:
        render.data(f"\nNothing new of: {', '.join(quiet)}")


def moment_of(typed: str, now: datetime) -> datetime:
    """The moment that was meant, in the time of this machine.

    Raises:
        Misused: it is none.
    """
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if typed in ("today", "yesterday"):
        return day - timedelta(days=typed == "yesterday")
    try:
        if _DURATION.fullmatch(typed):
            return now - timedelta(seconds=seconds(typed, "--since"))
        found = datetime.fromisoformat(typed)
    except (ToolRefused, ValueError):
        raise Misused(
            f"--since {typed!r} is no moment: say today, yesterday, a span such as 2d "
            "or 6h, or a date such as 2026-11-21."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=now.tzinfo)


def digest_of(files: Files, agent: str, start: datetime) -> Digest:
    """One agent's digest since a moment."""
    home = Home(agent)
    spent = Tally()
    for line in _since(files, home.usage, start):
        with suppress(YourError):  # a line that is none
            spent.add(usage_from_line(line))
    events = list(_since(files, home.events, start))
    runs = {str(event["run"]) for event in events if "run" in event}
    letters = dict(found for run in runs for found in _letters(files, home.run(run)))
    told = chronicle(events, letters)
    away = {run for run in runs if files.there(home.archive / f"{run}.tar.gz")}
    away -= set(files.folders(home.runs))
    told.happened = [_at_hand(item, away) for item in told.happened]
    told.decided = [_at_hand(item, away) for item in told.decided]
    return Digest(agent, told, spent, agent_view(files, agent))


def _at_hand(item: Item, away: Collection[str]) -> Item:
    """With the archive as its path, where its run was put away."""
    parts = item.path.split("/")
    if len(parts) < 2 or parts[0] != "runs" or parts[1] not in away:
        return item
    return replace(item, path=f"_archive/{parts[1]}.tar.gz")


def _letters(files: Files, run: RunFolder) -> Iterator[tuple[str, Letter]]:
    """What people wrote in a run, by the messages' ids."""
    from agiraph.core.codec import Good, read_message

    for name in files.files(run.messages):
        if "_human_to_" not in name:
            continue
        found = read_message(files.text(run.messages / name))
        if isinstance(found, Good):
            path = f"runs/{run.name}/_messages/{name}"
            yield found.value.id, Letter(render.short(found.value.text, 300), path)


def _since(files: Files, path: PurePosixPath, start: datetime) -> Iterator[JsonObject]:
    """The lines of a log from a moment on; of a long one its end is read.

    What was put away of it is read where the moment lies so far back.
    """
    entry = files.entry(path)
    size, part, first = entry.size if entry else 0, _FIRST_PART, start.timestamp()
    while True:
        begin = max(0, size - part)
        raw = files.part(path, begin, part).split(b"\n")[1 if begin else 0 :]
        found = [line for each in raw if (line := record_of(each)) is not None]
        if not begin or (found and time_of(found[0].get("ts")) < first):
            break
        part *= 4
    head = WHOLE if begin else head_of(raw[0] + b"\n")
    if time_of(head.ts) >= first:
        found = [*_put_away(files, path, head, first), *found]
    yield from (line for line in found if time_of(line.get("ts")) >= first)


def _put_away(
    files: Files, path: PurePosixPath, head: Head, first: float
) -> Iterator[JsonObject]:
    """The lines of the archives that reach so far."""
    kept: list[list[JsonObject]] = []
    for lines in older(files.reader, path, head):
        kept.append([line for each in lines if (line := record_of(each)) is not None])
        if kept[-1] and time_of(kept[-1][0].get("ts")) < first:
            break
    return chain.from_iterable(reversed(kept))


def open_things(view: AgentView) -> list[dict[str, str]]:
    """What waits, is at work, or is wrong: words and a path."""
    home = Home(view.name)
    found = [
        {"what": f"{each.id}: {each.text}", "path": each.path}
        for each in view.questions
    ]
    if view.status not in ("idle", "completed", "stopped", "new"):
        why = view.waiting_for or view.error
        what = f"{view.status}{f': {why}' if why else ''}"
        found.append({"what": what, "path": str(home.status)})
    for node in view.nodes:
        if view.run_status in ("open", "reopened") and node.status not in _ENDED:
            why = node.waiting_for or node.error
            what = f"node {node.id} is {node.status}{f': {why}' if why else ''}"
            folder = home.run(view.run).node(node.id)
            found.append({"what": what, "path": str(folder.status)})
    wrong = [{"what": each.words, "path": each.path} for each in view.errors]
    return found + wrong


def _object(one: Digest) -> dict[str, object]:
    return {
        "agent": one.agent,
        "happened": [asdict(item) for item in one.told.happened],
        "decided": [asdict(item) for item in one.told.decided],
        "cost": _spending(one.spent),
        "open": open_things(one.view),
    }


def _draw(one: Digest) -> None:
    render.data(f"\n## {one.agent}")
    _section("What happened", [_happened(one.agent, i) for i in one.told.happened])
    _section("Who decided what", [_decided(one.agent, i) for i in one.told.decided])
    _section("What it cost", _cost(one.spent))
    opened = [f"{each['what']} ({each['path']})" for each in open_things(one.view)]
    _section("What is open", opened)


def _section(head: str, lines: list[str]) -> None:
    if lines:
        render.data(f"\n{head}:\n")
        for line in lines:
            render.data(f"- {render.short(line, 600)}")


def _happened(agent: str, item: Item) -> str:
    where = f" ({agent}/{item.path})" if item.path else ""
    return f"{render.moment(item.ts)[:16]}  {item.what}{where}"


def _decided(agent: str, item: Item) -> str:
    why = f", because: {item.why}" if item.why else ""
    where = f" ({agent}/{item.path})" if item.path else ""
    return f"{render.moment(item.ts)[:16]}  {item.who} {item.what}{why}{where}"


def _spending(spent: Tally) -> dict[str, object]:
    whole = spent.total()
    return {
        "calls": whole.calls,
        "tokens": whole.usage.total,
        "usd": whole.known_usd,
        "unknown": whole.unknown,
        "models": _models(spent),
    }


def _models(spent: Tally) -> dict[str, int]:
    """How many calls each model had."""
    sums = spent.by(lambda spot: (spot.model,))
    return {model: each.calls for (model,), each in sums.items()}


def _cost(spent: Tally) -> list[str]:
    whole = spent.total()
    if not whole.calls:
        return []
    known = render.money(whole.known_usd, spent=True)
    if whole.unknown == whole.calls:
        known = "cost unknown"
    elif whole.unknown:
        known = f"{known} known, unknown for {whole.unknown} of {whole.calls} calls"
    models = ", ".join(f"{model}: {count}" for model, count in _models(spent).items())
    used = f"{render.tokens(whole.usage.total)} tokens in {whole.calls} calls"
    return [f"{known}; {used} ({models})"]
