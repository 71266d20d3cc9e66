"""The ledger: what was spent today over the whole tree, and what is reserved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.budget import Allowed, Purse, Refused, allowance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.model.usage import ModelCall, Price


@dataclass(slots=True)
class Account:
    """Sums of one spender: a node, an agent's run, an agent's day, the tree's day.

    Attributes:
        calls: how many model calls were booked.
    """

    calls: int = 0
    usd: float = 0.0
    tokens: int = 0
    usd_reserved: float = 0.0
    tokens_reserved: int = 0

    def book(self, usd: float | None, tokens: int) -> None:
        """Add what a call took; an unknown price adds tokens only."""
        self.usd += usd or 0.0
        self.tokens += tokens
        self.calls += 1

    def reserve(self, allowed: Allowed, sign: int) -> None:
        """Hold back (1) or let go (-1) what a call may cost at most."""
        self.usd_reserved += sign * allowed.usd
        self.tokens_reserved += sign * allowed.tokens

    @property
    def usd_taken(self) -> float:
        """Spent and reserved, in USD."""
        return self.usd + self.usd_reserved

    @property
    def tokens_taken(self) -> int:
        """Spent and reserved, in tokens."""
        return self.tokens + self.tokens_reserved


class Ledger:
    """Accounts by key; `run:x` and `day:x:2026-11-21` are told apart by their keys."""

    def __init__(self) -> None:
        """An empty ledger; it is filled from `usage.jsonl` when an agent wakes."""
        self._accounts: dict[str, Account] = {}
        self._recalled: set[str] = set()
        self.knows_all = False

    def account(self, key: str) -> Account:
        """The account of a key, opened when first asked for."""
        found = self._accounts.get(key)
        if found is None:
            found = self._accounts[key] = Account()
        return found

    def recall_day(self, agent: str, day: str, calls: Iterable[ModelCall]) -> None:
        """Book what an agent had spent on a day before this daemon; only once."""
        key = f"day:{agent}:{day}"
        if key not in self._recalled:
            self._recalled.add(key)
            for call in calls:
                for each in (key, f"tree:{day}"):
                    self.account(each).book(call.cost_usd, call.usage.total)

    def recall_sum(self, agent: str, day: str, usd: float, tokens: int) -> None:
        """The same, where only the sum is known."""
        key = f"day:{agent}:{day}"
        if key not in self._recalled:
            self._recalled.add(key)
            self.account(key).book(usd, tokens)
            self.account(f"tree:{day}").book(usd, tokens)

    def refill(self, key: str, calls: Iterable[ModelCall]) -> None:
        """An account as the records have it; what is reserved stays so."""
        was = self.account(key)
        self._accounts[key] = new = Account(
            usd_reserved=was.usd_reserved, tokens_reserved=was.tokens_reserved
        )
        for call in calls:
            new.book(call.cost_usd, call.usage.total)

    def purse(self, blank: Purse, whole: str, day: str) -> Purse:
        """A budget together with what two accounts have taken from it."""
        run, today = self.account(whole), self.account(day)
        return replace(
            blank,
            usd=run.usd_taken,
            tokens=run.tokens_taken,
            usd_day=today.usd_taken,
            tokens_day=today.tokens_taken,
        )

    def reserve(
        self,
        purses: Sequence[Purse],
        keys: Sequence[str],
        *,
        request_bytes: int,
        answer: int,
        model: str,
        price: Price | None,
    ) -> Allowed | Refused:
        """Ask for a call's allowance and, when given, hold it back in all accounts."""
        allowed = allowance(
            purses,
            request_bytes=request_bytes,
            answer=answer,
            model=model,
            price=price,
        )
        if isinstance(allowed, Allowed):
            for key in keys:
                self.account(key).reserve(allowed, 1)
        return allowed

    def settle(
        self,
        allowed: Allowed,
        keys: Sequence[str],
        *,
        usd: float | None,
        tokens: int,
    ) -> None:
        """Let a reservation go and book the truth; nothing where nothing was used."""
        for key in keys:
            account = self.account(key)
            account.reserve(allowed, -1)
            if usd or tokens:
                account.book(usd, tokens)
