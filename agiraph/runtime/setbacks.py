"""Setbacks: the models that are put off for now, and until when."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from agiraph.core import chain as rules
from agiraph.core.chain import Setback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.errors import ProviderFault
    from agiraph.ports import Clock

EVERYONE = ""


class Setbacks:
    """What is put off, for everyone or for one loop; shared by the whole tree."""

    def __init__(self) -> None:
        """Nothing is put off; a restart begins with the first of each chain."""
        self._known: dict[tuple[str, str], Setback] = {}

    def of(self, chain: Sequence[str], loop: str) -> dict[str, Setback]:
        """The setbacks of a chain's models, as one loop meets them."""
        found = {}
        for model in chain:
            both = [self._known.get((model, who)) for who in (EVERYONE, loop)]
            known = [each for each in both if each is not None]
            if known:
                found[model] = max(known, key=lambda each: each.until)
        return found

    def put_off(
        self, model: str, loop: str, fault: ProviderFault, clock: Clock
    ) -> None:
        """Note a fault; what is about the request alone concerns one loop."""
        who = loop if rules.is_of_the_request(fault.kind) else EVERYONE
        old, now = self._known.get((model, who)), clock.monotonic()
        if old is not None and rules.left_of(old, now):
            return  # many loops meet the same fault: it counts once
        count = old.count + 1 if old is not None else 1
        seconds = rules.away(fault.kind, fault.retry_after, count)
        again = (clock.now() + timedelta(seconds=seconds)).astimezone(clock.zone())
        self._known[model, who] = Setback(
            str(fault), now + seconds, f"{again:%H:%M}", count
        )

    def answered(self, model: str, loop: str) -> None:
        """A model has answered: what went wrong before counts no more."""
        for who in (EVERYONE, loop):
            self._known.pop((model, who), None)

    def clear(self) -> None:
        """Settings have changed: every model is worth a try."""
        self._known.clear()
