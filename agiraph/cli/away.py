"""`agiraph away` and `agiraph available`: the file AWAY at the root of the tree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click

from agiraph.cli.absence import away_words
from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Misused
from agiraph.cli.read import Files
from agiraph.cli.render import say
from agiraph.cli.write import put, take_away
from agiraph.model.layout import AWAY


@click.command(short_help="Say that you are away: what is for you is held back.")
@click.argument("until", required=False)
@tree_options
@click.pass_obj
def away(call: Call, until: str | None) -> None:
    """Say that you are away: what would be sent to you is held back.

    UNTIL is a date, a time, a duration, or just words. Agents that ask are told.
    Nothing is lost: `agiraph inbox` has it all, and when you are back it is sent as
    one summary. No reminders are sent meanwhile.

    Examples:
      agiraph away
      agiraph away 3d
      agiraph away 2026-11-25T09:00
      agiraph away "on the train, back tonight"
    """
    files = Files(call.tree)
    put(files.root, AWAY, _page(until))
    say(f"You are away {away_words(files)}: {AWAY}")
    say("Next: agiraph available")


@click.command(short_help="Say that you are back: what was held back is sent.")
@tree_options
@click.pass_obj
def available(call: Call) -> None:
    """Say that you are back: what was held back is sent as one summary.

    Examples:
      agiraph available
    """
    files = Files(call.tree)
    if files.there(AWAY):
        take_away(files.root, AWAY)
        say("You are back; `agiraph inbox` shows what came.")
    else:
        say("You were not away.")


def _page(until: str | None) -> str:
    from agiraph.core.away import moment
    from agiraph.core.durations import seconds
    from agiraph.errors import ToolRefused

    words = " ".join((until or "").split())
    now = datetime.now(UTC).astimezone()
    zone = now.tzinfo or UTC
    end = moment(words, zone)
    if end is None:
        try:
            end = now + timedelta(seconds=seconds(words)) if words else None
        except (ToolRefused, OverflowError):
            return f"{words}\n"
    if end is None:
        return f"away since {now.isoformat(timespec='minutes')}\n"
    if end <= now:
        raise Misused(f"{words} is over already.")
    return f"until: {end.isoformat(timespec='minutes')}\n"
