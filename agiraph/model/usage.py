"""What a model call took: tokens in four buckets, and money."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or many model calls; the four buckets never overlap."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def context(self) -> int:
        """How many tokens the conversation held when the answer was complete."""
        return self.total

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens of each bucket."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(self, usage: Usage) -> float:
        """USD for what was used."""
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        ) / 1_000_000


FREE = Price(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Spend:
    """What was spent by someone: turns, tokens, and USD as far as known."""

    turns: int = 0
    usage: Usage = Usage()
    cost_usd: float | None = 0.0

    def plus(self, usage: Usage, cost_usd: float | None, *, turns: int = 1) -> Spend:
        """This and one more call; an unknown cost makes the sum unknown."""
        known = None
        if cost_usd is not None and self.cost_usd is not None:
            known = self.cost_usd + cost_usd
        return Spend(self.turns + turns, self.usage + usage, known)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One line of `usage.jsonl`: a model call, where it was made and what it took.

    Attributes:
        model: the whole name, `provider/model`.
        cost_usd: None when unknown.
        worker: None for the coordinator.
        cache_miss: why the service says that its cache did not serve the prompt.
        agent: who made it; a copy of an agent brings the lines of its original along.
    """

    ts: str
    model: str
    usage: Usage
    cost_usd: float | None
    run: str | None = None
    stage: int | None = None
    node: str | None = None
    worker: str | None = None
    cache_miss: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Headroom:
    """What a service says of one of its limits, and what a call took of it.

    Attributes:
        what: which limit, by the service's own name: `requests`, `input-tokens` …
        limit: in all; left: what is left of it.
        resets: seconds until all of it is there again; None where it does not say.
    """

    what: str
    limit: float
    left: float
    resets: float | None = None
    took: float = 1.0
