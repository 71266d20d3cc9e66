"""`agiraph logs`: what happened to an agent, a sentence for each event."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.read import Files
from agiraph.cli.view import one_agent
from agiraph.core.narration import QUIET, narrate
from agiraph.model.event import Event, EventType
from agiraph.model.layout import Home
from agiraph.tree.logs import Tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agiraph.model.json import JsonObject

_BETWEEN_LOOKS = 0.2
_SHOWN_LINES = 200
_LONGEST = 2000
_QUIET = frozenset(kind.value for kind in QUIET)


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
@click.option(
    "-a",
    "--all",
    "details",
    is_flag=True,
    help="Small events too, and each one's details.",
)
@as_json
@tree_options
@click.pass_obj
def logs(
    call: Call, name: str, follow: bool, lines: int | None, details: bool, json_: bool
) -> None:
    """What happened to an agent, oldest first.

    A sentence for each event; --json prints the lines of its events.jsonl as they are.

    Examples:
      agiraph logs news
      agiraph logs news -f
      agiraph logs news --all -n 50
      agiraph logs news --json | jq 'select(.type == "node.failed")'
    """
    files = Files(call.tree)
    tail = Tail(files.reader, Home(one_agent(files, name)).events)
    most = lines if lines is not None else 0 if json_ else _SHOWN_LINES
    found = tail.more()
    told = found.records if json_ or details else tuple(worth_telling(found.records))
    for event in told[-most:]:
        _tell(event, json_=json_, details=details)
    if found.damage is not None:
        render.say(found.damage.words)
    if not found.records and not follow:
        render.say("Nothing has happened yet.")
    while follow:
        time.sleep(_BETWEEN_LOOKS)
        more = tail.more().records
        for event in more if json_ or details else worth_telling(more):
            _tell(event, json_=json_, details=details)


def worth_telling(events: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The events without those that only matter to somebody who looks for a fault."""
    return (event for event in events if str(event.get("type")) not in _QUIET)


def event_line(event: JsonObject, *, dated: bool = True, details: bool = False) -> str:
    """An event as a line for people: the time here, and a sentence.

    Args:
        event: a line of `events.jsonl`.
        dated: with the day before the time.
        details: with its node and all its data behind the sentence.
    """
    when = render.moment(str(event.get("ts", "")))
    line = f"{when if dated else when[-8:]}  {_sentence(event)}"
    return render.short_line(line + (_details(event) if details else ""), _LONGEST)


def _sentence(event: JsonObject) -> str:
    """What happened in words; the type of an event that this version does not know."""
    try:
        kind = EventType(str(event.get("type")))
    except ValueError:
        return str(event.get("type", "?"))
    data = event.get("data")
    return narrate(
        Event(
            type=kind,
            agent=str(event.get("agent", "")),
            run=_word(event, "run"),
            node=_word(event, "node"),
            worker=_word(event, "worker"),
            data=data if isinstance(data, dict) else {},
        )
    )


def _word(event: JsonObject, key: str) -> str | None:
    value = event.get(key)
    return value if isinstance(value, str) else None


def _details(event: JsonObject) -> str:
    data = event.get("data")
    known: dict[str, object] = {
        key: event[key] for key in ("type", "run", "node", "worker") if event.get(key)
    }
    known |= data if isinstance(data, dict) else {}
    return "  [" + ", ".join(f"{key}={_value(v)}" for key, v in known.items()) + "]"


def _value(value: object) -> str:
    return render.short(value if isinstance(value, str) else render.as_line(value), 120)


def _tell(event: JsonObject, *, json_: bool, details: bool) -> None:
    render.data(render.as_line(event) if json_ else event_line(event, details=details))
