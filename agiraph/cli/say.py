"""Words to agents: send, pause, resume, stop. Each one is a file that is put there."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Misused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.names import found
from agiraph.cli.post import post
from agiraph.cli.read import Files
from agiraph.cli.render import say
from agiraph.cli.shell import quoted
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import newest_run, one_agent
from agiraph.cli.write import put, take_away, touch
from agiraph.model import layout
from agiraph.model.layout import Home
from agiraph.model.names import COORDINATOR

if TYPE_CHECKING:
    from pathlib import PurePosixPath

_EVERYONE = "all"


@click.command()
@click.argument("name")
@click.argument("text")
@click.option("--to", metavar="WORKER", help="A worker's name, or `all`.")
@click.option("--urgent", is_flag=True, help="Heard before anything else.")
@tree_options
@click.pass_obj
def send(call: Call, name: str, text: str, to: str | None, urgent: bool) -> None:
    """Write to an agent: the coordinator, or one of its workers.

    The message is a file in the agent's `_inbox/`. Answers come in its `_outbox.md`.
    TEXT may be - for standard input; after -- it may begin with a dash.

    Examples:
      agiraph send news "Leave out sports"
      agiraph send news "Use SQLite" --to Alice --urgent
      agiraph send news "q-001: yes"            answers a question
      cat notes.md | agiraph send news -
    """
    files = Files(call.tree)
    agent = one_agent(files, name)
    words = sys.stdin.read() if text == "-" else text
    if not words.strip():
        raise Misused("there is nothing to send: the text is empty.")
    reader = _addressee(files, Home(agent), to)
    path = post(files.root, agent, words, to=reader, urgent=urgent)
    say(f"Sent to {f'{reader} of ' if reader else ''}{agent}: {path}")
    if daemon_of(files).running:
        say(f"Next: agiraph logs -f {quoted(agent)}")
    else:
        say("No daemon runs on this tree: it is read at the next `agiraph up`.")


@click.command()
@click.argument("name", required=False)
@tree_options
@click.pass_obj
def pause(call: Call, name: str | None) -> None:
    """Pause an agent, or with no NAME the whole tree.

    What is in flight ends and is recorded; no new model call or command starts.

    Examples:
      agiraph pause news
      agiraph pause
    """
    files = Files(call.tree)
    path, what = _pause_of(files, name)
    put(files.root, path, f"paused by `agiraph pause` at {_now()}\n")
    say(f"Paused {what}: {path}")
    say(f"Next: agiraph resume{f' {quoted(name)}' if name else ''}")


@click.command()
@click.argument("name", required=False)
@tree_options
@click.pass_obj
def resume(call: Call, name: str | None) -> None:
    """Let a paused agent go on, or with no NAME the whole tree.

    An agent that is held because it, or the daemon, crashed again and again is tried
    once more: its GOAL.md is touched.

    Examples:
      agiraph resume news
      agiraph resume
    """
    files = Files(call.tree)
    path, what = _pause_of(files, name)
    if files.there(path):
        take_away(files.root, path)
        who = what if name else "The whole tree"  # a name keeps its letters
        say(f"{who} goes on at the step where it stopped.")
    elif name and agent_view(files, what, deep=False).status in ("held", "broken"):
        say(f"{what} was not paused; it is tried again.")
    else:
        say(f"{what[0].upper()}{what[1:]} was not paused.")
    if name and files.there(Home(what).goal):
        touch(files.root, Home(what).goal)
    if name and files.there(layout.PAUSE):
        say("The whole tree is still paused: `agiraph resume` lifts that.")


@click.command()
@click.argument("name")
@click.option("--node", metavar="NODE", help="Cancel this node of its newest run only.")
@tree_options
@click.pass_obj
def stop(call: Call, name: str, node: str | None) -> None:
    """End an agent's run, or cancel one node. What was done is kept.

    Examples:
      agiraph stop news
      agiraph stop news --node nvidia
    """
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    path = home.stop if node is None else _node_stop(files, home, node)
    put(files.root, path, f"stopped by `agiraph stop` at {_now()}\n")
    what = f"The run of {home.agent}" if node is None else f"Node {path.parent.name}"
    say(f"{what} is told to stop: {path}")
    if not daemon_of(files).running:
        say("No daemon runs on this tree: it counts at the next `agiraph up`.")


def _pause_of(files: Files, name: str | None) -> tuple[PurePosixPath, str]:
    if name is None:
        return layout.PAUSE, "the whole tree"
    agent = one_agent(files, name)
    return Home(agent).pause, agent


def _node_stop(files: Files, home: Home, typed: str) -> PurePosixPath:
    run = newest_run(files, home)
    names = files.folders(run.nodes) if run else ()
    where = f"{home.agent}'s newest run"
    node = found(typed, names, kind="node", where=where)
    return home.run(run.name).node(node).stop if run else home.stop


def _addressee(files: Files, home: Home, typed: str | None) -> str | None:
    """Who is meant; None where the text itself may say (`@alice ...`)."""
    if typed is None or typed in (COORDINATOR, _EVERYONE):
        return typed
    run = newest_run(files, home)
    names = files.folders(run.workers) if run else ()
    where = f"{home.agent}'s newest run"
    return found(typed, [*names, COORDINATOR, _EVERYONE], kind="worker", where=where)


def _now() -> str:
    return datetime.now(UTC).astimezone().isoformat(timespec="seconds")
