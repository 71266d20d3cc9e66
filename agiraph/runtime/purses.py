"""Purses: the budgets that a call falls under, and the accounts that it is booked to.

What a parent node is allowed is shared by its children: a call counts for its node and
for all above it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from agiraph.core import board
from agiraph.core.budget import Purse, over_limits
from agiraph.core.costs import Tally, distinct
from agiraph.core.loglines import time_of
from agiraph.errors import AgiraphError, Damaged
from agiraph.model.agent import Mode
from agiraph.model.layout import ARCHIVE, ROOT, SETTINGS, Home
from agiraph.model.names import name_problem
from agiraph.ports import EntryKind
from agiraph.runtime.spent import Spoilt, calls_to, latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.core.budget import Refused
    from agiraph.model.agent import Budget
    from agiraph.model.usage import ModelCall
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.world import World

TREE = "tree"
_ZONES: Final = 2 * 86_400.0  # seconds by which the same day may differ
_MEND: Final = (
    "one whole JSON object that tells of a model call; mend the line, bring the file "
    "back from a copy, or take the line out: budgets then count without that call"
)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The keys under which what an agent spends is booked."""

    agent: str
    run: str
    day: str

    @property
    def of_run(self) -> str:
        """Of the newest run."""
        return f"run:{self.agent}:{self.run}"

    @property
    def of_day(self) -> str:
        """Of the agent's day."""
        return f"day:{self.agent}:{self.day}"

    @property
    def of_trees_day(self) -> str:
        """Of the day, all agents together."""
        return f"tree:{self.day}"

    def of_node(self, node: str) -> str:
        """A node's, with all below it."""
        return f"node:{self.agent}:{self.run}:{node}"

    def of_nodes_day(self, node: str) -> str:
        """The same, of one day."""
        return f"node:{self.agent}:{self.run}:{node}:{self.day}"


def accounts(desk: Desk) -> Accounts:
    """Those of the newest run and of today."""
    run = desk.run.name if desk.run else ""
    return Accounts(desk.agent, run, desk.world.today())


def keys(desk: Desk, node: str | None) -> list[str]:
    """All accounts that a call is booked to."""
    at = accounts(desk)
    found = [at.of_run, at.of_day, at.of_trees_day, TREE]
    for name in _line(desk, node):
        found += [at.of_node(name), at.of_nodes_day(name)]
    return found


def _line(desk: Desk, node: str | None) -> tuple[str, ...]:
    """A node and all above it."""
    return () if node is None else (node, *board.ancestors(node, desk.nodes))


def purses(desk: Desk, node: str | None) -> list[Purse]:
    """Every budget that a call falls under.

    Args:
        node: whose call it is; None for the coordinator, and for what is on no
            node's account.
    """
    world, at = desk.world, accounts(desk)
    ledger, whole = world.ledger, world.settings.budget
    if (whole.usd, whole.tokens) != (None, None) and not ledger.knows_all:
        _recall_tree(world)
    mine = Purse("agent's budget", desk.settings.budget, where=str(desk.home.goal))
    trees = Purse("tree's budget", whole, where=str(SETTINGS))
    found = [
        ledger.purse(mine, at.of_run, at.of_day),
        ledger.purse(trees, TREE, at.of_trees_day),
    ]
    for name in _line(desk, node):
        budget = _budget_of(desk, name)
        if budget is not None:
            title = "node's budget" if name == node else f"budget of node {name}"
            where = str(desk.node_folder(name).spec)
            blank = Purse(title, budget, where=where, node=name)
            keys_of = at.of_node(name), at.of_nodes_day(name)
            found.append(ledger.purse(blank, *keys_of))
    return found


def _budget_of(desk: Desk, node: str) -> Budget | None:
    found = desk.nodes.get(node)
    return found.spec.budget if found is not None else None


def over(desk: Desk) -> Refused | None:
    """Whether the run has used up its calls or its time, and what to do about it."""
    run = desk.run
    if run is None or not run.state.open:
        return None
    endless = desk.settings.mode is Mode.INFINITE
    at, ledger = accounts(desk), desk.world.ledger
    opened = datetime.fromisoformat(run.opened)
    return over_limits(
        desk.settings.limits,
        calls=ledger.account(at.of_day if endless else at.of_run).calls,
        seconds=(desk.world.clock.now() - opened).total_seconds(),
        endless=endless,
        where=f"{desk.home.goal}",
    )


# --- after a restart


def recall(desk: Desk) -> None:
    """Fill the ledger's accounts of this agent from `usage.jsonl`.

    Raises:
        Unreadable: as it says; nothing was filled.
        Damaged: a line or an archive among those that count cannot be read; the others
            are filled, so that the tree's day has them.
    """
    at, ledger = accounts(desk), desk.world.ledger
    desk.tally = Tally()
    found: dict[str, list[ModelCall]] = {}
    spoilt: list[Spoilt] = []
    broken: Damaged | None = None
    try:
        for call, today in _calls_that_count(desk, at, spoilt):
            desk.tally.add(call)
            if today:
                found.setdefault(at.of_day, []).append(call)
            if call.run == at.run:
                for key in _keys_of_run(desk, at, call.node, today=today):
                    found.setdefault(key, []).append(call)
    except Damaged as fault:
        broken = fault
    today_ = _own(desk, at, found.pop(at.of_day, []))
    ledger.recall_day(desk.agent, at.day, today_)
    for key, booked in found.items():
        ledger.refill(key, booked)
    if broken is not None:
        raise broken
    _refuse(desk, spoilt)


def check(desk: Desk) -> None:
    """See whether what counts of `usage.jsonl` can be read; raises as `recall` does."""
    spoilt: list[Spoilt] = []
    for _ in _calls_that_count(desk, accounts(desk), spoilt):
        pass
    _refuse(desk, spoilt)


def _refuse(desk: Desk, spoilt: list[Spoilt]) -> None:
    """To go on without a line would let budgets allow what it cost once more."""
    if spoilt:
        path, first = desk.home.usage, min(spoilt, key=lambda each: each.offset)
        line = first.line(desk.world.reader, path)
        raise Damaged(path, line, first.why, mend=_MEND)


def _calls_that_count(
    desk: Desk, at: Accounts, spoilt: list[Spoilt]
) -> Iterator[tuple[ModelCall, bool]]:
    """The calls of the newest run or of today, and whether they are today's.

    They stand together at the end: a piece of the file without any ends the reading.

    Args:
        desk: of the agent.
        at: its accounts.
        spoilt: takes the lines that may have been such calls.
    """
    older = False  # whether a call that does not count was met, seen from the end
    for piece in latest(desk.world.reader, desk.home.usage, _since(desk)):
        counting: list[tuple[ModelCall, bool]] = []
        for each in reversed(piece):
            if isinstance(each, Spoilt):
                spoilt += [] if older else [each]
                continue
            today = _day(desk, each.ts) == at.day
            if today or each.run == at.run:
                counting.append((each, today))
            else:
                older = True
        if not counting:
            return
        yield from reversed(counting)


def _own(desk: Desk, at: Accounts, calls_: list[ModelCall]) -> list[ModelCall]:
    """Today's calls without those that came along with a copy, and another tells too.

    Raises:
        Unreadable: as `latest` says.
    """
    found, makers = calls_, {call.agent for call in calls_} - {"", desk.agent}
    for maker in sorted(makers):
        if name_problem(maker) is None:
            told = _of_today(desk, at, Home(maker))
            theirs = [call for call in told if call.agent == maker]
            found = list(distinct([theirs, found]))[len(theirs) :]
    return found


def _of_today(desk: Desk, at: Accounts, home: Home) -> Iterator[ModelCall]:
    """An agent's calls of today; what is damaged is left out, and counts for us."""
    with suppress(Damaged):
        for piece in latest(desk.world.reader, home.usage, _since(desk)):
            told = [each for each in piece if not isinstance(each, Spoilt)]
            found = [call for call in told if _day(desk, call.ts) == at.day]
            if not found:
                return
            yield from found


def _since(desk: Desk) -> str:
    """The day before which no call was made that counts, in any time zone."""
    first = desk.world.now().timestamp()
    if desk.run is not None:
        first = min(first, time_of(desk.run.opened))
    return datetime.fromtimestamp(max(0.0, first - _ZONES), UTC).date().isoformat()


def _day(desk: Desk, stamp: str) -> str:
    """The calendar day of a time stamp, in the tree's time zone."""
    try:
        return desk.world.day(datetime.fromisoformat(stamp).timestamp())
    except ValueError:
        return ""


def _keys_of_run(
    desk: Desk, at: Accounts, node: str | None, *, today: bool
) -> Iterator[str]:
    yield at.of_run
    for name in _line(desk, node):
        yield at.of_node(name)
        if today:
            yield at.of_nodes_day(name)


def _recall_tree(world: World) -> None:
    """Sum up what every agent of the tree has ever spent; only where a cap needs it."""
    logs = (_ever(world, home) for home in _homes(world))
    world.ledger.refill(TREE, distinct(logs))
    world.ledger.knows_all = True


def _ever(world: World, home: Home) -> Iterator[ModelCall]:
    """All calls of an agent; what is left out of them is told in the log."""
    spoilt: list[Spoilt] = []
    for call, _ in calls_to(world.reader, home.usage, start=0, spoilt=spoilt):
        yield call
    if spoilt:
        line, more = spoilt[0].line(world.reader, home.usage), len(spoilt) - 1
        world.remark(
            f"{home.usage}, line {line} tells of no model call: {spoilt[0].why}; the "
            f"tree's budget counts without it{f' and {more} more' if more else ''}: "
            "see `agiraph check`"
        )


def _homes(world: World) -> Iterator[Home]:
    for folder in (ROOT, ARCHIVE):
        try:
            entries = world.reader.entries(folder)
        except AgiraphError:
            continue
        for entry in entries:
            if entry.kind is EntryKind.FOLDER and entry.name[0] not in "._":
                yield Home(str(folder / entry.name))
