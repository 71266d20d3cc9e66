"""`agiraph chat`: a conversation with an agent in the terminal, over its files."""

from __future__ import annotations

import sys

import click

from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Code, Misused
from agiraph.cli.read import Files
from agiraph.cli.view import one_agent
from agiraph.core.durations import seconds
from agiraph.errors import ToolRefused

_EXCHANGES = 5


@click.command()
@click.argument("name")
@click.option(
    "-n",
    "--last",
    type=click.IntRange(min=0),
    default=_EXCHANGES,
    show_default=True,
    metavar="N",
    help="Exchanges of the thread so far that are shown first.",
)
@click.option(
    "--timeout",
    default="10m",
    show_default=True,
    metavar="TIME",
    help="How long piped input waits for its answer: 90s, 10m, 2h.",
)
@tree_options
@click.pass_obj
def chat(call: Call, name: str, last: int, timeout: str) -> int:
    """Talk with an agent.

    Shows the thread so far, then what the agent says as it comes; questions can be
    answered in place. With piped input: sends it, waits, and prints the answer alone.

    Examples:
      agiraph chat news
      echo "How far are you?" | agiraph chat news --timeout 2m
    """
    files = Files(call.tree)
    agent = one_agent(files, name)
    if not sys.stdin.isatty():
        from agiraph.cli.piped import exchange

        return exchange(files, agent, sys.stdin.read(), _time(timeout))
    from agiraph.cli.sitting import Sitting

    Sitting(files, agent, color=call.color).run(last)
    return Code.DONE


def _time(typed: str) -> float:
    try:
        return seconds(typed)
    except ToolRefused as wrong:
        raise Misused(str(wrong)) from None
