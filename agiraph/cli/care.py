"""Making and putting away: init, new, archive; and which version this is."""

from __future__ import annotations

import os
import sys
from importlib.resources import files as package_files
from typing import TYPE_CHECKING

import click

from agiraph import __version__
from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import BadTree, Misused, Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.making import GOAL, make_agent, template_files
from agiraph.cli.names import good_new_name
from agiraph.cli.read import Files
from agiraph.cli.render import data, say
from agiraph.cli.shell import quoted
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import one_agent
from agiraph.cli.write import encoded, move, with_pen
from agiraph.model import layout
from agiraph.model.layout import Home
from agiraph.model.names import folded, free_name

if TYPE_CHECKING:
    from agiraph.ports import Pen

_SEED = ("agiraph.yaml", "README.md")


@click.command()
@click.argument("folder", metavar="[DIR]", required=False)
@tree_options
@click.pass_obj
def init(call: Call, folder: str | None) -> None:
    """Make a folder for agents.

    It gets a commented agiraph.yaml and a README. What is there already is left alone.

    Examples:
      agiraph init
      agiraph init ~/agents
    """
    root = os.path.abspath(folder) if folder else call.root
    _make_root(root)
    made = []

    async def fill(pen: Pen) -> None:
        for name in _SEED:
            text = package_files("agiraph.cli").joinpath("seed", name).read_bytes()
            if await pen.create(layout.ROOT / name, text):
                made.append(name)

    with_pen(root, fill)
    data(root)
    say(f"Made {', '.join(made)}." if made else "Everything was there already.")
    flag = "" if root == Call().root else f" --agents {quoted(root)}"
    say(f'Next: agiraph{flag} new NAME --goal "..."')


@click.command()
@click.argument("name")
@click.option(
    "--template",
    "-t",
    default="basic",
    show_default=True,
    metavar="T",
    help="basic, digest, research, coding or monitor.",
)
@click.option("--goal", "-g", metavar="TEXT", help="What it is to do; - for stdin.")
@tree_options
@click.pass_obj
def new(call: Call, name: str, template: str, goal: str | None) -> None:
    """Make an agent from a template.

    GOAL.md comes last and whole: from then on a running daemon works on it.

    Examples:
      agiraph new haiku --goal "Write a haiku about folders into haiku.md."
      agiraph new digest-of-papers --template digest
      agiraph new -- -odd-name
    """
    texts = template_files(template)
    words = _goal_words(goal)
    files = Files(call.tree)
    agent = good_new_name(name, files.folders(layout.ROOT), kind="agent")
    home = Home(agent)
    texts[GOAL] = _with_goal(texts[GOAL], words)
    make_agent(files.root, agent, texts)
    data(os.path.join(files.root, agent))
    if goal is None:
        say(f"Its goal is the template's; change it in {home.goal}.")
    if daemon_of(files).running:
        say(f"The daemon works on it. Next: agiraph logs -f {quoted(agent)}")
    else:
        say(f"Next: agiraph run {quoted(agent)}    (or `agiraph up` for all agents)")


@click.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Even while it works.")
@tree_options
@click.pass_obj
def archive(call: Call, name: str, yes: bool) -> None:
    """Put an agent away into _archive/.

    The folder moves whole. Moving it back brings it back.

    Examples:
      agiraph archive news
      agiraph archive news --yes      although it works
    """
    files = Files(call.tree)
    agent = one_agent(files, name)
    working = agent_view(files, agent, deep=False).status == "working"
    if working and not yes and daemon_of(files).running:
        raise Refused(
            f"{agent} is at work. `agiraph stop {quoted(agent)}` ends its run first; "
            "--yes puts it away as it is."
        )
    there = frozenset(folded(each.name) for each in files.entries(layout.ARCHIVE))
    target = layout.ARCHIVE / free_name(agent, there)
    move(files.root, Home(agent).path, target)
    data(os.path.join(files.root, str(target)))
    say(f"{agent} is put away. Next: moving the folder back brings it back.")


@click.command()
@tree_options
def version() -> None:
    """Which version this is.

    Examples:
      agiraph version
      agiraph --version
    """
    data(f"agiraph {__version__}")


def _make_root(root: str) -> None:
    try:
        os.makedirs(root, exist_ok=True)
    except FileExistsError as error:
        raise BadTree(f"{root} is no folder; choose another name.") from error
    except NotADirectoryError as error:
        raise BadTree(f"{root} lies below a file; choose another place.") from error


def _goal_words(goal: str | None) -> str | None:
    if goal is None:
        return None
    words = sys.stdin.read() if goal == "-" else goal
    if not words.strip():
        raise Misused("the goal is empty; say in words what the agent is to do.")
    encoded(words)
    return words


def _with_goal(template: bytes, goal: str | None) -> bytes:
    """A template's GOAL.md with other words below its settings."""
    if goal is None:
        return template
    from agiraph.cli.goal import with_body

    return encoded(with_body(template.decode("utf-8"), goal))
