"""The first of many equal prefixes goes ahead alone: the others find it in the cache.

A service can serve a prefix from its cache only once the first answer to it has begun.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from agiraph.core.brief import OWN_PART

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from agiraph.model.conversation import Request

KEPT: Final = 240.0  # seconds for which a cache is sure to hold what it was sent
PATIENCE: Final = 10.0  # seconds that are waited for the first answer to begin
_MOST = 64


@dataclass(slots=True)
class _Sent:
    """A prefix that was sent; `begun` is set with its first answer, or its failure."""

    at: float
    begun: asyncio.Event = field(default_factory=asyncio.Event)


class Vanguard:
    """Lets the first call with a prefix go, and the others once its answer begins."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` tells seconds that never go back."""
        self._clock = clock
        self._sent: OrderedDict[Hashable, _Sent] = OrderedDict()

    async def go(self, request: Request) -> Call:
        """Wait while another call with the same prefix goes ahead."""
        key = _shared(request)
        while True:
            now, sent = self._clock(), self._sent.get(key)
            if sent is None or (sent.begun.is_set() and now - sent.at > KEPT):
                sent = self._sent[key] = _Sent(now)
                self._sent.move_to_end(key)
                while len(self._sent) > _MOST:
                    self._sent.popitem(last=False)[1].begun.set()
                return Call(self, key, sent)
            if sent.begun.is_set():
                sent.at = now  # a read keeps it in the cache
                return Call(self, key, None)
            try:
                async with asyncio.timeout(PATIENCE):
                    await sent.begun.wait()
            except TimeoutError:
                return Call(self, key, None)

    def lost(self, key: Hashable, sent: _Sent) -> None:
        """The call that went ahead failed: another one does."""
        if self._sent.get(key) is sent:
            del self._sent[key]


class Call:
    """One call's place: ahead, or behind another."""

    def __init__(self, vanguard: Vanguard, key: Hashable, sent: _Sent | None) -> None:
        """`sent` is what it goes ahead with."""
        self._vanguard = vanguard
        self._key = key
        self._sent = sent

    def begun(self) -> None:
        """Its answer has begun: the others may go."""
        if self._sent is not None:
            self._sent.begun.set()

    def over(self) -> None:
        """It is over; where no answer began, nobody is to wait for one."""
        sent = self._sent
        if sent is not None and not sent.begun.is_set():
            self._vanguard.lost(self._key, sent)
            sent.begun.set()


def _shared(request: Request) -> Hashable:
    """What all of a kind share of their requests."""
    prefix = request.prefix
    common = prefix.content.partition(OWN_PART)[0]
    return prefix.model, common, tuple(tool.name for tool in prefix.tools)
