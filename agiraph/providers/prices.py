"""What models cost and hold, from the data that genai-prices ships."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agiraph.model.usage import Price

if TYPE_CHECKING:
    from agiraph.model.usage import Usage


@dataclass(frozen=True, slots=True)
class SteppedPrice(Price):
    """A price that is higher for the whole of a call whose prompt passes a size.

    Attributes:
        step: tokens of prompt, cached ones included, beyond which `above` counts.
    """

    step: int
    above: Price

    def cost(self, usage: Usage) -> float:
        """USD for one call."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        if prompt > self.step:
            return self.above.cost(usage)
        # super() without arguments is not to be had in a dataclass with slots.
        return Price.cost(self, usage)


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list says of one model."""

    price: Price
    window: int | None


def listed(provider: str, model: str) -> Listed | None:
    """Price and window of a model; None where the list does not know it.

    A model whose price rises with the prompt is listed with the window up to that
    step, so that nobody pays several times as much without having asked for it.

    Args:
        provider: as genai-prices calls it: anthropic, openai, google, openrouter.
        model: as the service calls it.
    """
    # A third of a second to load: only when a price is wanted.
    from genai_prices import data_snapshot  # noqa: PLC0415

    try:
        _, info = data_snapshot.get_snapshot().find_provider_model(
            model, None, provider, None
        )
    except LookupError:
        return None
    prices = info.get_prices(datetime.now(UTC))
    first = prices.input_mtok
    if first is None or prices.output_mtok is None:
        return None
    steps = getattr(first, "tiers", ())
    base = _at(prices, None)
    if not steps:
        return Listed(base, info.context_window)
    step = int(steps[0].start)
    above = _at(prices, step)
    price = SteppedPrice(
        base.input, base.output, base.cache_read, base.cache_write, step, above
    )
    return Listed(price, min(step, info.context_window or step))


def _at(prices: Any, step: int | None) -> Price:
    # `prices` is genai-prices' ModelPrice, whose fields are made at run time.
    entry = _number(prices.input_mtok, step)
    read = prices.cache_read_mtok
    written = prices.cache_write_mtok
    return Price(
        input=entry,
        output=_number(prices.output_mtok, step),
        cache_read=entry if read is None else _number(read, step),
        cache_write=entry if written is None else _number(written, step),
    )


def _number(price: Any, step: int | None) -> float:
    # A Decimal, or genai-prices' TieredPrices.
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return float(price)
    if step is None:
        return float(price.base)
    return float(tiers[0].price)
