"""What was spent on what: model calls summed up by place, and grouped by any of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

from agiraph.core.budget import dollars
from agiraph.model.names import COORDINATOR
from agiraph.model.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agiraph.model.json import Json
    from agiraph.model.usage import ModelCall

Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where calls of one sum were made; empty is "none", such as no node.

    Attributes:
        day: the calendar day, YYYY-MM-DD.
        stage: its number, as text.
        worker: empty for the coordinator.
    """

    day: str = ""
    model: str = ""
    run: str = ""
    stage: str = ""
    node: str = ""
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Sum:
    """What some calls took.

    Attributes:
        known_usd: as far as it is known.
        unknown: calls whose cost is not known.
    """

    calls: int = 0
    usage: Usage = Usage()
    known_usd: float = 0.0
    unknown: int = 0

    @property
    def cost_usd(self) -> float | None:
        """The whole cost; None where a part of it is not known."""
        return None if self.unknown else self.known_usd

    @property
    def cached(self) -> float:
        """Cache reads as a share of all that was sent; 0 where nothing was."""
        used = self.usage
        sent = used.input + used.cache_read + used.cache_write
        return used.cache_read / sent if sent else 0.0

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.calls + other.calls,
            self.usage + other.usage,
            self.known_usd + other.known_usd,
            self.unknown + other.unknown,
        )


def distinct(logs: Iterable[Iterable[ModelCall]]) -> Iterator[ModelCall]:
    """The calls of many agents' logs; what a copy brought along counts once.

    A call says who made it, so the same line in two logs is one call; twice in one log
    it is two. Older lines do not say it, and count wherever they stand.
    """
    counted = Counter[int]()
    for log in logs:
        here = Counter[int]()
        for call in log:
            mark = hash(call)
            here[mark] += 1
            if not call.agent or here[mark] > counted[mark]:
                yield call
        counted |= here


def spot_of(call: ModelCall) -> Spot:
    """Where a call was made."""
    return Spot(
        day=call.ts[:10],
        model=call.model,
        run=call.run or "",
        stage="" if call.stage is None else str(call.stage),
        node=call.node or "",
        worker=call.worker or "",
    )


def sum_of(usage: Usage, cost_usd: float | None) -> Sum:
    """What one call took."""
    return Sum(1, usage, cost_usd or 0.0, int(cost_usd is None))


class Tally:
    """Sums by spot; it grows by a call at a time."""

    def __init__(self, sums: Mapping[Spot, Sum] | None = None) -> None:
        """Nothing was spent, or what was summed up before."""
        self._sums: dict[Spot, Sum] = dict(sums or {})

    def add(self, call: ModelCall) -> None:
        """One more call."""
        spot = spot_of(call)
        was = self._sums.get(spot, Sum())
        self._sums[spot] = was + sum_of(call.usage, call.cost_usd)

    def items(self) -> Iterator[tuple[Spot, Sum]]:
        """Every spot with its sum."""
        yield from self._sums.items()

    def total(self, wanted: Callable[[Spot], bool] = lambda _: True) -> Sum:
        """All of it, or all that is wanted."""
        return added(each for spot, each in self._sums.items() if wanted(spot))

    def by(
        self,
        key: Callable[[Spot], Key],
        wanted: Callable[[Spot], bool] = lambda _: True,
    ) -> dict[Key, Sum]:
        """Sums by any key of the spot."""
        found: dict[Key, Sum] = {}
        for spot, each in self._sums.items():
            if wanted(spot):
                name = key(spot)
                found[name] = found.get(name, Sum()) + each
        return found


def added(sums: Iterable[Sum]) -> Sum:
    """Several sums as one."""
    whole = Sum()
    for each in sums:
        whole += each
    return whole


def to_row(spot: Spot, total: Sum) -> list[Json]:
    """A sum for a cache; `from_row` reads it."""
    used = total.usage
    return [
        *(str(getattr(spot, each.name)) for each in fields(Spot)),
        total.calls,
        *(used.input, used.output, used.cache_read, used.cache_write),
        total.known_usd,
        total.unknown,
    ]


def from_row(row: Iterable[Json]) -> tuple[Spot, Sum]:
    """What `to_row` wrote.

    Raises:
        ValueError, TypeError: it is no such row.
    """
    found = list(row)
    names, counts = found[:6], found[6:]
    calls, sent, said, read, written, usd, unknown = (
        each for each in counts if isinstance(each, int | float)
    )
    spot = Spot(*(str(name) for name in names))
    usage = Usage(int(sent), int(said), int(read), int(written))
    return spot, Sum(int(calls), usage, float(usd), int(unknown))


def spent_on(tally: Tally, wanted: Callable[[Spot], bool], *, most: int = 8) -> str:
    """A table in Markdown: what was spent on which node and model, dearest first."""
    found = tally.by(lambda spot: (spot.node or COORDINATOR, spot.model), wanted)
    rows = sorted(
        found.items(),
        key=lambda item: (-item[1].known_usd, -item[1].usage.total, item[0]),
    )
    lines = [_line(node, model, each) for (node, model), each in rows[:most]]
    if len(rows) > most:
        rest = added(each for _, each in rows[most:])
        lines.append(_line(f"{len(rows) - most} others", "", rest))
    heads = ["| node | model | calls | tokens | cost |", "|---|---|--:|--:|--:|"]
    return "\n".join([*heads, *lines]) if lines else ""


def _line(node: str, model: str, total: Sum) -> str:
    tokens, money = f"{total.usage.total:,}", cost_words(total)
    return f"| {node} | {model} | {total.calls} | {tokens} | {money} |"


def cost_words(total: Sum) -> str:
    """A cost in words; what is not known is never shown as nothing."""
    known = dollars(total.known_usd)
    if not total.unknown:
        return known
    if not total.known_usd:
        return "unknown"
    return f"{known} and unknown for {total.unknown} calls"
