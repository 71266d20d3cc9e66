"""Searches of the web, by whichever service is there; repeated ones are remembered."""

from __future__ import annotations

import asyncio
import importlib
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from agiraph.core.limits import SEARCH_RESULTS
from agiraph.core.searchers import chosen
from agiraph.errors import ToolRefused
from agiraph.model.web import Hit
from agiraph.web.engines import ADAPTERS, hits_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from agiraph.core.searchers import Searcher
    from agiraph.model.agent import SearchSettings
    from agiraph.ports import Clock
    from agiraph.web.engines import Question

TRIES: Final = 3
LONGEST_PAUSE: Final = 10.0
_SECONDS: Final = 20.0
_HOLD: Final = 900.0
_MOST_KEPT: Final = 200
_SPACING: Final = 1.0  # between two searches by ddgs
_LATER: Final = frozenset({429, 500, 502, 503, 504})
_REFUSED: Final = frozenset({401, 403})


class WebSearch:
    """Searches by one service at a time. Its keys go nowhere else."""

    def __init__(
        self,
        clock: Clock,
        environment: Mapping[str, str],
        *,
        bases: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            clock: for pauses, and for how long results hold.
            environment: the daemon's, for keys.
            bases: other base addresses of services by name, for tests.
        """
        self._clock = clock
        self._environment = environment
        self._bases = bases or {}
        self._known: OrderedDict[tuple[str, str], tuple[float, tuple[Hit, ...]]]
        self._known = OrderedDict()
        self._one = asyncio.Lock()
        self._last = -_SPACING

    async def search(
        self, query: str, settings: SearchSettings
    ) -> tuple[str, tuple[Hit, ...]]:
        """Who answered, and up to five results.

        Raises:
            ToolRefused: nobody searches here, or the service failed; says what to do.
        """
        ddgs = find_spec("ddgs") is not None
        searcher = chosen(settings, self._environment, ddgs=ddgs)
        key = (f"{searcher.name} {searcher.url}", query)
        until, hits = self._known.get(key, (0.0, ()))
        if until <= self._clock.monotonic():
            hits = await self._asked(searcher, query)
            self._known[key] = (self._clock.monotonic() + _HOLD, hits)
            if len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
        return searcher.name, hits

    async def _asked(self, searcher: Searcher, query: str) -> tuple[Hit, ...]:
        if searcher.name == "ddgs":
            return await self._by_ddgs(query)
        question = ADAPTERS[searcher.name](searcher, query)
        base = self._bases.get(searcher.name, question.base)
        return await self._by_http(searcher, replace(question, base=base))

    # --- by a service with an address

    async def _by_http(self, searcher: Searcher, question: Question) -> tuple[Hit, ...]:
        lib = await asyncio.to_thread(importlib.import_module, "httpx")
        async with lib.AsyncClient(trust_env=False, timeout=_SECONDS) as client:
            for attempt in range(1, TRIES + 1):
                try:
                    response = await _sent(client, question)
                except lib.TransportError as error:
                    if attempt == TRIES:
                        raise _failed(searcher, _words(error)) from None
                    await self._clock.sleep(float(attempt))
                    continue
                if response.status_code not in _LATER or attempt == TRIES:
                    return _read(searcher, question, response)
                await self._clock.sleep(_pause(response, attempt, self._clock))
        return ()

    # --- by ddgs

    async def _by_ddgs(self, query: str) -> tuple[Hit, ...]:
        """At most one search a second, in a thread: it works on many engines itself."""
        async with self._one:
            wait = self._last + _SPACING - self._clock.monotonic()
            if wait > 0:
                await self._clock.sleep(wait)
            self._last = self._clock.monotonic()
            return await asyncio.to_thread(_ddgs, query)


async def _sent(client: httpx.AsyncClient, question: Question) -> httpx.Response:
    url = question.base + question.path
    headers = {"Accept": "application/json", **question.headers}
    if question.body is None:
        return await client.get(url, params=dict(question.params), headers=headers)
    return await client.post(url, json=question.body, headers=headers)


def _read(
    searcher: Searcher, question: Question, response: httpx.Response
) -> tuple[Hit, ...]:
    code = response.status_code
    if code in _REFUSED and searcher.key_env:
        raise ToolRefused(
            f"The search by {searcher.name} refused its key ({code}): a person has to "
            f"put a good one into {searcher.key_env} and start the daemon again."
        )
    if code == 403 and searcher.name == "searxng":
        raise _failed(searcher, "403; its settings.yml must list json under formats")
    if code != 200:
        raise _failed(searcher, f"{code} {response.reason_phrase}".strip())
    try:
        return hits_of(response.json(), question)
    except ValueError:
        raise _failed(searcher, "an answer that is no JSON") from None


def _pause(response: httpx.Response, attempt: int, clock: Clock) -> float:
    """Seconds until the next try, as the service asks, within bounds."""
    said = response.headers.get("retry-after", "").strip()
    if said.isdigit():
        return min(float(said), LONGEST_PAUSE)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return float(attempt)
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    left = (until - _now(clock)).total_seconds()
    return min(max(left, 0.0), LONGEST_PAUSE)


def _now(clock: Clock) -> datetime:
    return clock.now().astimezone(UTC)


def _ddgs(query: str) -> tuple[Hit, ...]:
    # ddgs has no types of its own.
    ddgs: Any = importlib.import_module("ddgs")
    faults: Any = importlib.import_module("ddgs.exceptions")
    try:
        found = ddgs.DDGS(timeout=10).text(query, max_results=SEARCH_RESULTS)
    except faults.DDGSException as error:
        raise ToolRefused(
            f"The search by ddgs found nothing or was turned away ({_words(error)}). "
            "Other words may help, or a later try."
        ) from None
    return tuple(
        Hit(str(each["title"]), str(each["href"]), str(each["body"]))
        for each in found[:SEARCH_RESULTS]
    )


def _failed(searcher: Searcher, why: str) -> ToolRefused:
    where = f" at {searcher.url}" if searcher.url else ""
    return ToolRefused(
        f"The search by {searcher.name}{where} failed ({why}). Try later, or fetch an "
        "address that you know."
    )


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
