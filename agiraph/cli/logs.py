"""`agiraph logs`: what happened to an agent, a readable line for each event."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.read import Files
from agiraph.cli.view import one_agent
from agiraph.model.layout import Home
from agiraph.tree.logs import Tail

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

_BETWEEN_LOOKS = 0.2
_SHOWN_LINES = 200


@click.command()
@click.argument("name")
@click.option(
    "-f", "--follow", is_flag=True, help="Go on with what happens, until Ctrl-C."
)
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"The last N events, 0 for all.  [default: {_SHOWN_LINES}; with --json all]",
)
@as_json
@tree_options
@click.pass_obj
def logs(call: Call, name: str, follow: bool, lines: int | None, json_: bool) -> None:
    """What happened to an agent, oldest first.

    --json prints the lines of its events.jsonl as they are.

    Examples:
      agiraph logs news
      agiraph logs news -f
      agiraph logs news --json | jq 'select(.type == "node.failed")'
    """
    files = Files(call.tree)
    tail = Tail(files.reader, Home(one_agent(files, name)).events)
    most = lines if lines is not None else 0 if json_ else _SHOWN_LINES
    found = tail.more()
    for event in found.records[-most:]:
        _tell(event, json_=json_)
    if found.damage is not None:
        render.say(found.damage.words)
    while follow:
        time.sleep(_BETWEEN_LOOKS)
        for event in tail.more().records:
            _tell(event, json_=json_)


def event_line(event: JsonObject) -> str:
    """An event as a line for people: time, type, where, what."""
    when = str(event.get("ts", ""))[11:19]
    where = "/".join(str(event[key]) for key in ("run", "node") if event.get(key))
    who = f" {event['worker']}" if event.get("worker") else ""
    data = event.get("data")
    more = ""
    if isinstance(data, dict):
        more = "  ".join(f"{key}={_value(each)}" for key, each in data.items())
    kind = str(event.get("type", "?"))
    return render.short(f"{when} {kind:<18} {where}{who}  {more}".rstrip(), 300)


def _value(value: object) -> str:
    return render.short(value if isinstance(value, str) else render.as_line(value), 120)


def _tell(event: JsonObject, *, json_: bool) -> None:
    render.data(render.as_line(event) if json_ else event_line(event))
