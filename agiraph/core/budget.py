"""Whether budgets and a run's own limits allow the next call; the words where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from agiraph.core.limits import BYTES_PER_TOKEN, GO_ON, SMALLEST_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agiraph.model.agent import Budget, Limits
    from agiraph.model.usage import Price

Amount = TypeVar("Amount", int, float)


@dataclass(frozen=True, slots=True)
class Purse:
    """One budget that applies, and what was spent and reserved under it.

    Attributes:
        name: whose it is, for the person: `agent's budget`, `node's budget` …
        usd, tokens: spent and reserved since the budget's beginning (run).
        usd_day, tokens_day: the same of this calendar day.
        where: the file in which the budget stands.
        node: whose it is, where it is a node's.
    """

    name: str
    budget: Budget
    usd: float = 0.0
    tokens: int = 0
    usd_day: float = 0.0
    tokens_day: int = 0
    where: str = ""
    node: str = ""

    def room(self) -> tuple[float | None, int | None]:
        """USD and tokens that are left; None where there is no cap."""
        return (
            _least(
                _left(self.budget.usd, self.usd),
                _left(self.budget.usd_per_day, self.usd_day),
            ),
            _least(
                _left(self.budget.tokens, self.tokens),
                _left(self.budget.tokens_per_day, self.tokens_day),
            ),
        )


@dataclass(frozen=True, slots=True)
class Allowed:
    """A call may be made.

    Attributes:
        max_tokens: the longest answer that still fits.
        usd, tokens: the most it can cost, to be reserved.
    """

    max_tokens: int
    usd: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A call may not be made; words for the person.

    Attributes:
        remedy: what the person is asked for, in a sentence that stays the same.
        cap: what refuses, as it stands; under the same the person is asked once.
        node: whose cap it is, where it is a node's.
    """

    words: str
    remedy: str
    cap: Budget | Limits
    node: str = ""


def allowance(
    purses: Iterable[Purse],
    *,
    request_bytes: int,
    answer: int,
    model: str,
    price: Price | None,
) -> Allowed | Refused:
    """Whether the most that a call can cost fits under every budget that applies.

    Args:
        request_bytes: size of what is sent; a token is taken for three bytes.
        answer: the longest answer asked for, in tokens.
        model: by its whole name.
        price: of the model; None when unknown.
    """
    asked = request_bytes // BYTES_PER_TOKEN + 1
    least = min(answer, SMALLEST_ANSWER)
    dear = max(price.input, price.cache_write) if price else 0.0
    for purse in purses:
        usd, tokens = purse.room()
        if usd is not None and price is None:
            return _no_price(purse, model)
        if usd is not None and price is not None:
            left = usd - asked * dear / 1_000_000
            if price.output > 0:
                answer = min(answer, int(left * 1_000_000 / price.output))
            elif left < 0:
                answer = 0
        if tokens is not None:
            answer = min(answer, tokens - asked)
        if answer < least:
            return Refused(_used_up(purse), more(purse), purse.budget, purse.node)
    out = price.output if price else 0.0
    most = (asked * dear + answer * out) / 1_000_000
    return Allowed(answer, most, asked + answer)


def more(purse: Purse) -> str:
    """What a person is asked for under a budget that is used up."""
    return (
        f"The {purse.name} is used up: raise the number under `budget` in "
        f"`{purse.where}`{GO_ON}"
    )


def a_price(purse: Purse, model: str) -> str:
    """What a person is asked for where a model has no price under a cap in money."""
    return (
        f"The {purse.name} caps money, and nobody knows the price of {model}: set it "
        f"under `prices` in `agiraph.yaml`, or cap `tokens` instead of `usd` under "
        f"`budget` in `{purse.where}`{GO_ON}"
    )


def _no_price(purse: Purse, model: str) -> Refused:
    where = f" under `budget` in {purse.where}" if purse.where else ""
    words = (
        f"the {purse.name} caps money, but the price of {model} is unknown; set "
        f"prices: in agiraph.yaml, or cap tokens instead of usd{where}"
    )
    return Refused(words, a_price(purse, model), purse.budget, purse.node)


def _used_up(purse: Purse) -> str:
    budget = purse.budget
    spent = []
    if budget.usd is not None:
        spent.append(f"{dollars(purse.usd)} of {dollars(budget.usd)}")
    if budget.usd_per_day is not None:
        today = f"{dollars(purse.usd_day)} of {dollars(budget.usd_per_day)} today"
        spent.append(today)
    if budget.tokens is not None:
        spent.append(f"{purse.tokens:,} of {budget.tokens:,} tokens")
    if budget.tokens_per_day is not None:
        spent.append(f"{purse.tokens_day:,} of {budget.tokens_per_day:,} tokens today")
    where = f": `budget` in {purse.where}" if purse.where else ""
    return (
        f"the {purse.name} does not allow another call ({', '.join(spent)} spent or "
        f"reserved); raise the number in the file to go on{where}"
    )


def purse_refuses(purse: Purse) -> bool:
    """Whether nothing at all is left under a budget."""
    usd, tokens = purse.room()
    return (usd is not None and usd <= 0) or (tokens is not None and tokens <= 0)


def over_limits(
    limits: Limits, *, calls: int, seconds: float, endless: bool, where: str
) -> Refused | None:
    """Whether a run has used up its model calls or its time.

    Args:
        calls: of the run; of the day where it is endless.
        seconds: since the run was opened.
        where: the file in which the limits may be raised.
    """
    go_on = f"raise it under `limits` in {where} to go on"
    if calls >= limits.run_turns:
        span = "today" if endless else "in this run"
        return Refused(
            f"{calls:,} model calls were made {span}, all that run_turns allows; "
            f"{go_on}",
            longer("run_turns", where),
            limits,
        )
    if not endless and seconds >= limits.run_time:
        days = seconds / 86_400
        return Refused(
            f"this run has been open for {days:.1f} days, all that run_time allows; "
            f"{go_on}",
            longer("run_time", where),
            limits,
        )
    return None


def longer(limit: str, where: str) -> str:
    """What a person is asked for when a run has reached one of its own limits."""
    return f"The run has reached `{limit}`: raise it under `limits` in `{where}`{GO_ON}"


def dollars(usd: float) -> str:
    """An amount with two decimals, or as many as show anything of a small one."""
    small = 0 < usd < 0.1
    return f"${usd:.6f}".rstrip("0") if small else f"${usd:.2f}"


def _left(cap: Amount | None, spent: Amount) -> Amount | None:
    return None if cap is None else cap - spent


def _least(a: Amount | None, b: Amount | None) -> Amount | None:
    known = [x for x in (a, b) if x is not None]
    return min(known) if known else None
