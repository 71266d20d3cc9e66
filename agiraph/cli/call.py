"""What every command is told: which tree, and whether in colour."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from agiraph.cli.codes import BadTree, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class Call:
    """What was said before or after the command's name.

    Attributes:
        agents: the tree's folder as it was typed; None where it was not.
        no_color: whether colour was switched off by the flag.
    """

    agents: str | None = None
    no_color: bool = False

    @property
    def root(self) -> str:
        """The tree's folder, whole: the flag's, else $AGIRAPH_AGENTS, else ./agents."""
        return os.path.abspath(
            self.agents or os.environ.get("AGIRAPH_AGENTS") or "agents"
        )

    @property
    def tree(self) -> str:
        """The same, where there is a tree.

        Raises:
            NotFound, BadTree: nothing is there, or no folder.
        """
        root = self.root
        if not os.path.lexists(root):
            raise NotFound(
                f"there is no tree at {root}. `agiraph init` makes one; "
                "--agents DIR or AGIRAPH_AGENTS names another."
            )
        if not os.path.isdir(root):
            raise BadTree(f"{root} is no folder; a tree of agents is one.")
        return root

    @property
    def color(self) -> bool:
        """Whether standard output may be coloured.

        https://no-color.org: any value that is not empty switches colour off.
        """
        if self.no_color or os.environ.get("NO_COLOR"):
            return False
        return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def tree_options(command: Callable[P, R]) -> Callable[P, R]:
    """Add `--agents` and `--no-color`, which stand before or after the command.

    The examples in the command's docstring are kept line by line in its help; click
    wants a backspace on the line before them.
    """
    told = command.__doc__ or ""
    command.__doc__ = told.replace("    Examples:", "    \b\n    Examples:")
    command = click.option(
        "--no-color",
        is_flag=True,
        expose_value=False,
        callback=_no_color,
        help="No colours (NO_COLOR does the same).",
    )(command)
    return click.option(
        "--agents",
        metavar="DIR",
        expose_value=False,
        callback=_agents,
        help="The tree's folder.  [default: $AGIRAPH_AGENTS, else ./agents]",
    )(command)


def as_json(command: Callable[P, R]) -> Callable[P, R]:
    """Add `--json` to a command that reads."""
    return click.option("--json", "json_", is_flag=True, help="Print JSON.")(command)


def _agents(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    call = ctx.ensure_object(Call)
    if value is not None:
        if not value:
            raise click.BadParameter("names no folder.", ctx=ctx)
        call.agents = value


def _no_color(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    call = ctx.ensure_object(Call)
    call.no_color = call.no_color or value
    if value:
        ctx.color = False
