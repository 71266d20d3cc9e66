"""One model call: reserved under every budget, held where it may not be made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from agiraph.core.budget import Refused
from agiraph.core.limits import BYTES_PER_TOKEN, RETRY_FIRST, RETRY_LAST
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Request, Stop
from agiraph.model.event import EventType
from agiraph.model.usage import ModelCall, Usage
from agiraph.runtime import overspent, purses
from agiraph.runtime.loops import chains
from agiraph.runtime.loops.window import window_of

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agiraph.core.budget import Allowed
    from agiraph.model.conversation import Answer, Spoken, UserLine
    from agiraph.ports import ModelFacts
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.records import Where

SOON = 60.0


@dataclass(frozen=True, slots=True)
class Spender:
    """Who spends.

    Attributes:
        chain: the models that it may ask, in order.
        node: a worker's node.
        aside: whether the call is no turn of the work: where it may not be made, it is
            not waited for, and nobody is asked for more.
    """

    name: str
    where: Where
    chain: tuple[str, ...]
    node: str | None = None
    aside: bool = False


class Parking(Protocol):
    """How a loop gives up its place while it cannot go on."""

    def held(self, words: str) -> AbstractAsyncContextManager[None]:
        """Held for as long as the context lasts."""

    async def paid(self, usage: Usage, cost: float | None) -> None:
        """An answer was paid for that nothing came of."""


class Asker:
    """Makes one loop's model calls."""

    def __init__(self, desk: Desk, talk: Conversation, parking: Parking) -> None:
        """For the loop whose conversation is `talk`."""
        self._desk = desk
        self._talk = talk
        self._parking = parking
        self._failures = 0

    async def ask(
        self, spender: Spender, instead: UserLine | None = None
    ) -> tuple[Answer, float | None] | None:
        """One answer and what it cost.

        None when it must begin anew: it was held, or another model of its chain is to
        be asked.

        Args:
            spender: who pays.
            instead: what is sent in the place of the conversation.

        Raises:
            ProviderFault: the request itself was refused, or does not fit.
        """
        prefix = self._talk.prefix
        if prefix is None:
            raise LookupError("a conversation is asked before its session is open")
        lines = tuple(self._talk.lines) if instead is None else (instead,)
        facts = self._desk.world.models.facts(prefix.model)
        keys = purses.keys(self._desk, spender.node)
        allowed = self._reserve(spender, facts, keys, instead)
        if isinstance(allowed, Refused):
            await self._over_budget(spender, allowed)
            return None
        await overspent.withdraw(self._desk, spender.node, prefix.model)
        answered = await self._settled(allowed, keys, facts, lines)
        if isinstance(answered, ProviderFault):
            if not self._moves_on(spender, prefix.model, answered):
                await self._faulted(spender, answered)
            return None
        self._failures = 0
        answer, cost = answered
        await self._book(spender, prefix.model, answer, cost)
        if answer.stop is Stop.REFUSAL and not answer.calls:
            refused = ProviderFault(Fault.REQUEST, _refused(prefix.model, answer.text))
            if self._moves_on(spender, prefix.model, refused):
                await self._parking.paid(answer.usage, cost)
                return None
        self._desk.world.setbacks.answered(prefix.model, self._loop(spender))
        return answered

    async def _settled(
        self,
        allowed: Allowed,
        keys: list[str],
        facts: ModelFacts,
        lines: tuple[Spoken, ...],
    ) -> tuple[Answer, float | None] | ProviderFault:
        """Call, and book the truth before any waiting: what is held back is missed."""
        usage, cost = Usage(), None
        try:
            answer = await self._call(allowed, lines)
            usage, cost = answer.usage, _cost(answer, facts)
        except ProviderFault as fault:
            return fault
        finally:
            self._settle(keys, allowed, usage, cost)
        return answer, cost

    async def _call(self, allowed: Allowed, lines: tuple[Spoken, ...]) -> Answer:
        desk, prefix = self._desk, self._talk.prefix
        if prefix is None:
            raise LookupError("a conversation is asked before its session is open")
        provider = desk.world.models.provider(prefix.model)
        return await provider.ask(
            Request(
                prefix=prefix,
                lines=lines,
                max_tokens=allowed.max_tokens,
                options=desk.settings.options,
                key=f"{desk.agent}/{prefix.node or 'coordinator'}/{prefix.session}",
            )
        )

    # --- money

    def _reserve(
        self,
        spender: Spender,
        facts: ModelFacts,
        keys: list[str],
        instead: UserLine | None = None,
    ) -> Allowed | Refused:
        desk, talk = self._desk, self._talk
        over = None if spender.aside else purses.over(desk)
        if over is not None:
            return over
        sent, size = talk.bytes, talk.size
        if instead is not None:
            sent = talk.prefix_bytes + len(instead.content.encode("utf-8", "replace"))
            size = sent // BYTES_PER_TOKEN
        return desk.world.ledger.reserve(
            purses.purses(desk, None if spender.aside else spender.node),
            keys,
            request_bytes=sent,
            answer=window_of(self._desk, talk).room(size),
            model=talk.prefix.model if talk.prefix else "",
            price=facts.price,
        )

    def _settle(
        self, keys: list[str], allowed: Allowed, usage: Usage, cost: float | None
    ) -> None:
        self._desk.world.ledger.settle(allowed, keys, usd=cost, tokens=usage.total)
        if self._desk.held:
            self._desk.bell.ring()  # what was held back may be what another lacks

    async def _book(
        self, spender: Spender, model: str, answer: Answer, cost: float | None
    ) -> None:
        """Put a call on record, and among what was spent on what."""
        where = spender.where
        call = ModelCall(
            ts=self._desk.world.stamp(),
            model=model,
            usage=answer.usage,
            cost_usd=cost,
            run=where.run,
            stage=where.stage,
            node=where.node,
            worker=where.worker,
            cache_miss=answer.cache_miss,
            agent=self._desk.agent,
        )
        self._desk.tally.add(call)
        await self._desk.records.usage(call)

    async def _over_budget(self, spender: Spender, refused: Refused) -> None:
        desk, words = self._desk, refused.words
        if spender.aside:
            return
        await desk.records.event(EventType.BUDGET_REACHED, spender.where, words=words)
        await overspent.ask(desk, refused)
        revision = desk.revision
        async with self._parking.held(words):
            await desk.bell.until(
                lambda: desk.revision != revision or self._has_room(spender),
                deadline=desk.world.clock.monotonic() + RETRY_LAST,
            )

    def _has_room(self, spender: Spender) -> bool:
        prefix = self._talk.prefix
        if prefix is None:
            return True
        facts = self._desk.world.models.facts(prefix.model)
        keys = purses.keys(self._desk, spender.node)
        allowed = self._reserve(spender, facts, keys)
        if isinstance(allowed, Refused):
            return False
        self._desk.world.ledger.settle(allowed, keys, usd=0.0, tokens=0)
        return True

    # --- services that fail

    def _loop(self, spender: Spender) -> str:
        return chains.loop_of(self._desk, spender.node)

    def _moves_on(self, spender: Spender, model: str, fault: ProviderFault) -> bool:
        """Put a model off that failed; whether its chain has another one to ask."""
        desk, chain, loop = self._desk, spender.chain, self._loop(spender)
        if len(chain) < 2 or model not in chain or fault.kind is Fault.CONTEXT:
            return False
        desk.world.setbacks.put_off(model, loop, fault, desk.world.clock)
        return chains.seconds_left(desk, chain, loop) == 0

    async def _faulted(self, spender: Spender, fault: ProviderFault) -> None:
        """Wait until it is worth another try, or let the fault out.

        What passes is tried again with growing pauses; what a person must mend is
        tried again when settings change, or a person writes.
        """
        if fault.kind in (Fault.REQUEST, Fault.CONTEXT):
            raise fault
        desk = self._desk
        deadline = None
        if fault.passes:
            pause = min(RETRY_FIRST * 2**self._failures, RETRY_LAST)
            self._failures += 1
            deadline = desk.world.clock.monotonic() + (fault.retry_after or pause)
        if len(spender.chain) > 1:
            left = chains.seconds_left(desk, spender.chain, self._loop(spender))
            deadline = desk.world.clock.monotonic() + left
        revision = desk.revision
        async with self._parking.held(f"{fault}{self._again(deadline)}"):
            await desk.bell.until(lambda: desk.revision != revision, deadline=deadline)

    def _again(self, deadline: float | None) -> str:
        """When it is asked again, where that is not soon."""
        clock = self._desk.world.clock
        left = 0.0 if deadline is None else deadline - clock.monotonic()
        if left < SOON:
            return ""
        again = (clock.now() + timedelta(seconds=left)).astimezone(clock.zone())
        return f" It is asked again at {again:%H:%M}."


def _refused(model: str, text: str) -> str:
    said = f": {' '.join(text.split())}" if text.strip() else ""
    return f"{model} refused to answer{said}"


def _cost(answer: Answer, facts: ModelFacts) -> float | None:
    if answer.cost_usd is not None:
        return answer.cost_usd
    return facts.price.cost(answer.usage) if facts.price else None
