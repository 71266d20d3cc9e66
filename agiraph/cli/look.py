"""`agiraph status`: what runs, what waits for a person, what it cost, what is wrong."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, TextIO

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.daemons import daemon_of
from agiraph.cli.read import Files
from agiraph.cli.view import PERMISSIONS, TreeView, agent, one_agent, tree

if TYPE_CHECKING:
    from agiraph.cli.daemons import DaemonView
    from agiraph.cli.view import AgentView

_PAUSE_BETWEEN_LOOKS = 1.0


@click.command()
@click.argument("name", required=False)
@click.option("--watch", is_flag=True, help="Show it again whenever it changes.")
@as_json
@tree_options
@click.pass_obj
def status(call: Call, name: str | None, watch: bool, json_: bool) -> None:
    """What runs, waits for you, costs, and is wrong.

    With NAME: one agent, with its nodes and workers. It reads the files, so it works
    without a daemon too.

    Examples:
      agiraph status
      agiraph status news
      agiraph status --watch
      agiraph status --json | jq '.agents[] | select(.status == "held")'
    """
    files = Files(call.tree)
    if name is not None:
        name = one_agent(files, name)
    if watch:
        _watch(call, files, name, json_=json_)
    elif json_:
        render.data(render.as_json(status_object(files, name)))
    else:
        _draw(call, *_look(files, name))


def status_object(files: Files, name: str | None = None) -> dict[str, object]:
    """What `--json` prints: keys are added over time, never renamed."""
    view, daemon = _look(files, name, deep=True)
    cost, unknown = _cost(view)
    return {
        "root": files.root,
        "daemon": asdict(daemon),
        "paused": view.paused,
        "away": view.away,
        "cost_usd": None if unknown else cost,
        "known_cost_usd": cost,
        "unknown_cost": unknown,
        "tokens": sum(each.tokens or 0 for each in view.agents),
        "permissions": PERMISSIONS,
        "agents": [asdict(each) for each in view.agents],
        "errors": [asdict(each) for each in view.errors],
    }


def _look(
    files: Files, name: str | None, *, deep: bool = False
) -> tuple[TreeView, DaemonView]:
    daemon = daemon_of(files)
    view = tree(files, deep=deep) if name is None else _only(files, name)
    return view, daemon


def _only(files: Files, name: str) -> TreeView:
    from agiraph.model import layout

    return TreeView(files.there(layout.PAUSE), (agent(files, name),), ())


def _watch(call: Call, files: Files, name: str | None, *, json_: bool) -> None:
    """Draw anew at each change, until Ctrl-C."""
    from agiraph.cli.screen import Screen

    last = None
    with Screen() as screen:
        while True:
            seen = _look(files, name)
            if seen != last and json_:
                render.data(render.as_line(status_object(files, name)))
            elif not json_ and (seen != last or screen.resized):
                screen.show(partial(_drawn, call, *seen))
            last = seen
            time.sleep(_PAUSE_BETWEEN_LOOKS)


def _drawn(call: Call, view: TreeView, daemon: DaemonView, file: TextIO | None) -> None:
    _draw(call, view, daemon, file=file)


def _draw(
    call: Call, view: TreeView, daemon: DaemonView, *, file: TextIO | None = None
) -> None:
    from agiraph.cli import status_page

    status_page.draw(call, view, daemon, _cost(view), file=file)


def _cost(view: TreeView) -> tuple[float, int]:
    """USD as far as known, and how many agents spent an unknown amount."""
    known = sum((each.cost_usd or 0.0 for each in view.agents), 0.0)
    return known, sum(1 for each in view.agents if _unknown(each))


def _unknown(each: AgentView) -> bool:
    return each.cost_usd is None and bool(each.tokens or each.turns)
