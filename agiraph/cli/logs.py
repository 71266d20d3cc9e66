"""`agiraph logs`: what happened to one agent or to all, a sentence for each event."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.read import Files
from agiraph.cli.streams import Stream
from agiraph.cli.view import one_agent
from agiraph.core.narration import QUIET, narrate
from agiraph.model.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agiraph.model.json import JsonObject

_BETWEEN_LOOKS = 0.2
_SHOWN_LINES = 200
_LONGEST = 2000
_QUIET = frozenset(kind.value for kind in QUIET)


@click.command(short_help="What happened to an agent, or to all of them.")
@click.argument("name", required=False)
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
    call: Call,
    name: str | None,
    follow: bool,
    lines: int | None,
    details: bool,
    json_: bool,
) -> None:
    """What happened to an agent, or with no NAME to all of them, oldest first.

    A sentence for each event; --json prints the lines of events.jsonl as they are.
    Of one agent they reach back into what was put away. Without NAME, agents that
    are made meanwhile are followed too.

    Examples:
      agiraph logs -f
      agiraph logs news
      agiraph logs news -f
      agiraph logs news --all -n 50
      agiraph logs news --json | jq 'select(.type == "node.failed")'
    """
    files = Files(call.tree)
    stream = Stream(files, None if name is None else one_agent(files, name))
    most = lines if lines is not None else 0 if json_ else _SHOWN_LINES
    manner = _Manner(json_=json_, details=details, named=name is None)
    found = stream.begin(lambda told: 0 < most <= len(manner.worth(told)))
    for event in manner.worth(found)[-most:]:
        manner.tell(event)
    for damage in stream.damage:
        render.say(damage.words)
    if not found and not follow:
        render.say("Nothing has happened yet.")
    while follow:
        time.sleep(_BETWEEN_LOOKS)
        for event in manner.worth(stream.more()):
            manner.tell(event)


@dataclass(frozen=True, slots=True)
class _Manner:
    """How events are told; named: with the agent's name."""

    json_: bool
    details: bool
    named: bool

    def worth(self, events: list[JsonObject]) -> list[JsonObject]:
        """Those that are told."""
        return events if self.json_ or self.details else list(worth_telling(events))

    def tell(self, event: JsonObject) -> None:
        """Print one."""
        if self.json_:
            render.data(render.as_line(event))
            return
        whose = str(event.get("agent", "?")) if self.named else ""
        render.data(event_line(event, details=self.details, agent=whose))


def worth_telling(events: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The events without those that only matter to somebody who looks for a fault."""
    return (event for event in events if str(event.get("type")) not in _QUIET)


def event_line(
    event: JsonObject, *, dated: bool = True, details: bool = False, agent: str = ""
) -> str:
    """An event as a line for people: the time here, and a sentence.

    Args:
        event: a line of `events.jsonl`.
        dated: with the day before the time.
        details: with its node and all its data behind the sentence.
        agent: a name to put before the sentence.
    """
    when = render.moment(str(event.get("ts", "")))
    whose = f"{agent}  " if agent else ""
    line = f"{when if dated else when[-8:]}  {whose}{_sentence(event)}"
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
