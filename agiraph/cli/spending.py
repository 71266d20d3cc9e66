"""Reading what was spent: each log is read on from where it was read before.

What was read is kept as sums in `.agiraph/costs.json`, a cache that may be deleted.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agiraph.core.costs import Tally, from_row, to_row
from agiraph.core.loghead import WHOLE
from agiraph.errors import AgiraphError
from agiraph.model.layout import MACHINE, Home
from agiraph.runtime.parts import head_at
from agiraph.runtime.spent import calls_to

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.cli.read import Files
    from agiraph.core.loghead import Head

CACHE = MACHINE / "costs.json"
_VERSION = 1
_MARK = 64  # bytes before the place that was read to, by which a log is known again
_WORTH = 64 * 1024  # bytes read anew that are worth keeping


def tallies(files: Files, agents: Iterable[str]) -> dict[str, Tally]:
    """What each agent spent, by spot; `agents` are names of homes."""
    kept = _kept(files)
    found, read = {}, 0
    for agent in agents:
        found[agent], entry, fresh = _one(files, agent, kept.get(agent, {}))
        if entry:
            kept[agent] = entry
        read += fresh
    if read >= _WORTH:
        _keep(files, kept)
    return found


def _one(
    files: Files, agent: str, kept: dict[str, Any]
) -> tuple[Tally, dict[str, Any], int]:
    """One agent's sums, what is to be kept of them, and how many bytes were read."""
    path = Home(agent).usage
    while True:
        head = _head(files, agent)
        start, sums = 0, {}
        size = kept.get("size", 0)
        mark = _mark(files, agent, size, head)
        if mark and kept.get("mark") == mark:
            with suppress(ValueError, TypeError, KeyError):
                sums, start = dict(map(from_row, kept["sums"])), size
        tally, end = Tally(sums), start
        for call, behind in calls_to(files.reader, path, start=start):
            tally.add(call)
            end = behind
        if _head(files, agent) == head:  # else some of it was put away meanwhile
            break
    rows = [to_row(spot, each) for spot, each in tally.items()]
    entry = {"size": end, "mark": _mark(files, agent, end, head), "sums": rows}
    return tally, entry if end else {}, end - start


def _head(files: Files, agent: str) -> Head:
    try:
        return head_at(files.reader, Home(agent).usage)
    except AgiraphError:
        return WHOLE


def _mark(files: Files, agent: str, place: int, head: Head) -> str:
    """What stands before a place; empty where it was put away, or is not there.

    Behind the log's head, that is the head.
    """
    size = head.offset(place)
    if size < head.size or not size:
        return ""
    start = max(0, size - _MARK)
    try:
        part = files.reader.part(Home(agent).usage, offset=start, limit=size - start)
    except AgiraphError:
        return ""
    return hashlib.sha256(part).hexdigest() if len(part) == size - start else ""


# Parsed JSON of our own making; what is not as it should be is read anew.
def _kept(files: Files) -> dict[str, Any]:
    try:
        found = json.loads(files.text(CACHE, limit=64 * 1024 * 1024) or "{}")
    except ValueError:
        return {}
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        return {}
    agents = found.get("agents")
    return agents if isinstance(agents, dict) else {}


def _keep(files: Files, kept: dict[str, Any]) -> None:
    from agiraph.cli.write import put

    said = json.dumps({"version": _VERSION, "agents": kept}, ensure_ascii=False)
    with suppress(AgiraphError, OSError):  # a tree that is only to be read is no fault
        put(files.root, CACHE, said)
