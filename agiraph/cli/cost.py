"""`agiraph cost`: what was spent, on what, and how much of it the cache served."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import Misused
from agiraph.cli.read import Files
from agiraph.cli.view import agent_names, one_agent
from agiraph.core.costs import Spot, Sum, added, cost_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agiraph.core.costs import Key, Tally

_KEYS: dict[str, tuple[str, ...]] = {
    "day": ("day",),
    "agent": ("agent",),
    "run": ("agent", "run"),
    "stage": ("agent", "run", "stage"),
    "node": ("agent", "run", "node"),
    "worker": ("agent", "run", "worker"),
    "model": ("model",),
}
_HEADS = ("CALLS", "INPUT", "OUTPUT", "READ", "WRITTEN", "CACHED", "COST")
_NONE = {"node": "(coordinator)", "worker": "(coordinator)", "run": "(no run)"}


@click.command()
@click.argument("name", required=False)
@click.option("--by", type=click.Choice(list(_KEYS)), help="What the rows are about.")
@click.option("--since", metavar="DAY", help="From a day on: 2026-11-21, or 7d.")
@as_json
@tree_options
@click.pass_obj
def cost(
    call: Call, name: str | None, by: str | None, since: str | None, json_: bool
) -> None:
    """What was spent on what.

    READ and WRITTEN are tokens that the cache served and took in; CACHED is the share
    of the input that it served. A cost that nobody knows is never counted as nothing.

    Examples:
      agiraph cost
      agiraph cost news --by node
      agiraph cost --by model --since 7d
      agiraph cost --by day --json | jq '.rows[] | [.day, .cost_usd]'
    """
    from agiraph.cli.spending import tallies

    files = Files(call.tree)
    agents = agent_names(files) if name is None else (one_agent(files, name),)
    by = by or ("agent" if name is None else "run")
    first = _first_day(since) if since else ""
    found = grouped(tallies(files, agents), _KEYS[by], lambda day: day >= first)
    if json_:
        render.data(render.as_json(_object(by, first, found)))
    else:
        _draw(call, by, found, one=name is not None)


def grouped(
    tallies: Mapping[str, Tally], keys: tuple[str, ...], wanted: Callable[[str], bool]
) -> dict[Key, Sum]:
    """The rows: sums by the keys named, of the days that are wanted."""
    found: dict[Key, Sum] = {}
    for agent, tally in tallies.items():

        def key(spot: Spot, agent: str = agent) -> Key:
            return tuple(
                agent if each == "agent" else str(getattr(spot, each)) for each in keys
            )

        for name, each in tally.by(key, lambda spot: wanted(spot.day)).items():
            found[name] = found.get(name, Sum()) + each
    return dict(sorted(found.items()))


def _first_day(since: str) -> str:
    """The first day that counts; raises Misused."""
    from datetime import date, datetime, timedelta

    if since.endswith("d") and since[:-1].isdigit():
        today = datetime.now().astimezone().date()
        return str(today - timedelta(days=int(since[:-1])))
    try:
        return str(date.fromisoformat(since))
    except ValueError:
        raise Misused(
            f"--since {since!r} is no day; write 2026-11-21, or 7d for a week."
        ) from None


def _object(by: str, first: str, found: Mapping[Key, Sum]) -> dict[str, object]:
    """What `--json` prints: keys are added over time, never renamed."""
    rows = [
        dict(zip(_KEYS[by], key, strict=True)) | _figures(each)
        for key, each in found.items()
    ]
    return {
        "by": by,
        "since": first or None,
        "rows": rows,
        "total": _figures(added(found.values())),
    }


def _figures(each: Sum) -> dict[str, object]:
    return {
        "calls": each.calls,
        **asdict(each.usage),
        "tokens": each.usage.total,
        "cached": round(each.cached, 4),
        "cost_usd": each.cost_usd,
        "known_cost_usd": each.known_usd,
        "unknown_calls": each.unknown,
    }


def _draw(call: Call, by: str, found: Mapping[Key, Sum], *, one: bool) -> None:
    if not found:
        render.say("Nothing was spent yet.")
        return
    keys = tuple(each for each in _KEYS[by] if not (one and each == "agent"))
    skip = len(_KEYS[by]) - len(keys)
    cells = [
        (*map(_name, keys, key[skip:]), *_cells(each)) for key, each in found.items()
    ]
    whole = ("all", *("" for _ in keys[1:]), *_cells(added(found.values())))
    heads = (*(each.upper() for each in keys), *_HEADS)
    render.console(call).print(render.table(heads, [*cells, whole], right=_HEADS))


def _name(head: str, cell: str) -> str:
    return cell or _NONE.get(head, "-")


def _cells(each: Sum) -> tuple[str, ...]:
    used = each.usage
    return (
        str(each.calls),
        render.tokens(used.input),
        render.tokens(used.output),
        render.tokens(used.cache_read),
        render.tokens(used.cache_write),
        f"{each.cached:.0%}",
        cost_words(each),
    )
