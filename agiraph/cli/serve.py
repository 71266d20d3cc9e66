"""Working: `agiraph up` for a tree, `agiraph run` for one agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import BadTree, Code, NotFound, Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.read import Files
from agiraph.cli.render import say
from agiraph.cli.shell import quoted
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import one_agent
from agiraph.cli.write import put, take_away
from agiraph.core.limits import GOAL_BYTES
from agiraph.model.layout import Home
from agiraph.tree.lock import Taken, holder

if TYPE_CHECKING:
    from agiraph.cli.view import AgentView


@click.command()
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A readable line for each thing that happens, or JSON lines.",
)
@tree_options
@click.pass_obj
def up(call: Call, log_format: str) -> int:
    """Work on a tree in the foreground, until Ctrl-C or SIGTERM.

    One daemon works on a tree; a second one says who has it and exits with 7. Every
    step is recorded: stop it whenever you like, it goes on where it was.

    Examples:
      agiraph up
      agiraph up --agents ~/agents
      agiraph up --log-format json 2>> up.jsonl
    """
    root = call.tree
    at_work = holder(root)
    if at_work is not None:
        raise Taken(root, at_work)
    from agiraph.daemon import serve

    return serve(root, log_format=log_format)


@click.command()
@click.argument("name")
@click.option("--again", is_flag=True, help="A new run with the same goal.")
@tree_options
@click.pass_obj
def run(call: Call, name: str, again: bool) -> int:
    """Work on one agent until it ends, or needs a person.

    With a daemon running it is followed; else this command works on it alone.
    --again changes `run:` in its GOAL.md, and nothing else in it. The exit code says
    how it ended: 0 done, 1 failed, 6 held, 8 waits for a person.

    Examples:
      agiraph run news
      agiraph run news --again && agiraph show news
    """
    files = Files(call.tree)
    agent = one_agent(files, name)
    if not files.there(Home(agent).goal):
        raise NotFound(f"{agent} has no GOAL.md, so there is nothing to run.")
    _not_stopped(files, Home(agent), again=again)
    before = agent_view(files, agent)
    if not daemon_of(files).running:
        if again:
            _again(files, agent)
        return _alone(files, before)
    from agiraph.cli.follow import from_here, until_ended

    tail = from_here(files, agent)
    if again:
        _again(files, agent)
    return until_ended(files, before, tail, again=again)


def _not_stopped(files: Files, home: Home, *, again: bool) -> None:
    """Take an old STOP away for a new run; while it is there nothing would begin."""
    if not files.there(home.stop):
        return
    if not again:
        raise Refused(
            f"{home.agent} was stopped: {home.stop} is there. "
            f"`agiraph run {quoted(home.agent)} --again` takes it away for a new run."
        )
    take_away(files.root, home.stop)
    say(f"{home.stop} was taken away.")


def _alone(files: Files, before: AgentView) -> int:
    """Work on an agent in this process; its exit code."""
    agent = before.name
    # A goal that was saved a moment ago is not whole yet to the daemon, which would
    # find nothing to do and end.
    files.settled(Home(agent).goal, limit=GOAL_BYTES)
    from agiraph.daemon import serve

    code = serve(files.root, only=agent, until_done=True)
    if code == Code.INTERRUPTED:
        say(f"Nothing is lost: `agiraph run {quoted(agent)}` goes on from there.")
        return code
    from agiraph.cli.follow import say_end

    say_end(agent_view(files, agent), before)
    return code


def _again(files: Files, agent: str) -> None:
    """Write another `run:` into GOAL.md; every other byte stays."""
    from agiraph.cli.goal import run_again

    path = Home(agent).goal
    data = files.reader.read(path, limit=GOAL_BYTES)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadTree(f"{path} is not UTF-8; save it as UTF-8 first.") from error
    put(files.root, path, run_again(text))
    say(f"`run:` in {path} was changed: a new run with the same goal.")
