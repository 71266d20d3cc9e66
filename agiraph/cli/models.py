"""`agiraph models`: which models there are, what they cost, which can be used here."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options

if TYPE_CHECKING:
    from agiraph.model.agent import TreeSettings
    from agiraph.providers.models import ModelRow


@click.command()
@as_json
@tree_options
@click.pass_obj
def models(call: Call, json_: bool) -> None:
    """Models: window, strength, price, which are usable.

    Prices are USD for a million tokens, in and out. Keys come from the environment;
    servers and prices of your own from agiraph.yaml.

    Examples:
      agiraph models
      agiraph models --json | jq '.models[] | select(.usable) | .model'
    """
    rows = _rows(call)
    if json_:
        found = [asdict(row) | {"usable": row.usable} for row in rows]
        render.data(render.as_json({"models": found}))
        return
    heads = ("PROVIDER", "MODEL", "WINDOW", "STRENGTH", "PRICE", "USABLE")
    drawn = render.table(heads, [_cells(row) for row in rows], right=("WINDOW",))
    render.console(call).print(drawn)
    render.say("\n* is taken where GOAL.md and agiraph.yaml name no model.")


def _rows(call: Call) -> tuple[ModelRow, ...]:
    from agiraph.clock import SystemClock
    from agiraph.providers.models import ModelCatalog

    catalog = ModelCatalog(
        settings=tree_settings(call.root), environment=os.environ, clock=SystemClock()
    )
    return catalog.rows()


def tree_settings(root: str) -> TreeSettings:
    """The tree's settings; the defaults where there are none or bad ones."""
    from agiraph.cli.read import Files
    from agiraph.core.codec import Good, read_tree_settings
    from agiraph.model.agent import TreeSettings
    from agiraph.model.layout import SETTINGS

    found = read_tree_settings(Files(root).text(SETTINGS))
    if isinstance(found, Good):
        return found.value
    render.say(f"{SETTINGS} is not good and does not count here; see `agiraph check`.")
    return TreeSettings()


def _cells(row: ModelRow) -> tuple[str, ...]:
    return (
        row.provider,
        row.model.removeprefix(f"{row.provider}/") + (" *" if row.default else ""),
        f"{row.window:,}",
        row.strength or "-",
        _price(row),
        "yes" if row.usable else f"no: {_first_clause(row.why_not)}",
    )


def _price(row: ModelRow) -> str:
    if row.price is None:
        return "unknown"
    if not row.price.input and not row.price.output:
        return "free"
    return f"${row.price.input:g} / ${row.price.output:g}"


def _first_clause(words: str) -> str:
    """What is missing; what to do about it stands in the JSON and in `status`."""
    return words.split(". ", maxsplit=1)[0].split(", ", maxsplit=1)[0].rstrip(".")
