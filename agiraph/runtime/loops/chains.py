"""Fallback chains: models that are put off for now, and who is asked instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core import chain as rules
from agiraph.core.brief import shortened
from agiraph.model.event import EventType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.model.conversation import SystemLine
    from agiraph.model.worker import Identity
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.records import Where


def chain_of(desk: Desk, identity: Identity | None = None) -> tuple[str, ...]:
    """The models of the coordinator, or of a worker, in order; at least one."""
    settings = desk.settings
    chain = settings.model
    if identity is not None:
        chain = identity.model or settings.worker_model or settings.model
    return chain or (desk.world.models.default(),)


def loop_of(desk: Desk, node: str | None) -> str:
    """The name under which a loop is refused something alone."""
    return f"{desk.agent}/{node or 'coordinator'}"


def chosen(desk: Desk, chain: Sequence[str], loop: str) -> str:
    """The model of a chain that is asked now."""
    setbacks = desk.world.setbacks.of(chain, loop)
    return rules.pick(chain, setbacks, desk.world.clock.monotonic())


def seconds_left(desk: Desk, chain: Sequence[str], loop: str) -> float:
    """How long all models of a chain are put off; 0 when one can be asked."""
    now = desk.world.clock.monotonic()
    setbacks = desk.world.setbacks.of(chain, loop)
    return min(rules.left_of(setbacks.get(model), now) for model in chain)


def words(desk: Desk, chain: Sequence[str], loop: str) -> str:
    """Who is asked instead of whom, and why; empty when the first is asked."""
    model = chosen(desk, chain, loop)
    passed = list(chain[: chain.index(model)])
    if not passed:
        return ""
    setbacks = desk.world.setbacks.of(chain, loop)
    reasons = [
        f"{each} is put off until {setbacks[each].again} "
        f"({shortened(setbacks[each].words, 300)})"
        for each in passed
        if each in setbacks
    ]
    return f"{model} is asked instead: {'; '.join(reasons)}"


def in_force(desk: Desk) -> str:
    """What a person should know of the chains of an agent; mostly empty."""
    chains = [
        chain_of(desk),
        *(chain_of(desk, s.identity) for s in desk.staff.values()),
    ]
    loop = loop_of(desk, None)
    said = [words(desk, chain, loop) for chain in dict.fromkeys(chains)]
    return "; ".join(dict.fromkeys(each for each in said if each))


async def tell(
    desk: Desk,
    where: Where,
    old: SystemLine | None,
    line: SystemLine,
    who: Identity | None = None,
) -> None:
    """The event of another model being asked than before, or than the first."""
    chain = chain_of(desk, who)
    new, before = line.model, old.model if old is not None else chain[0]
    if new == before:
        return
    loop = loop_of(desk, where.node)
    why = words(desk, chain, loop) if new in chain else ""
    why = why or f"{new} is asked from now on"
    data = {"model": new, "words": why} | ({"before": before} if old else {})
    await desk.records.event(EventType.MODEL_CHANGED, where, **data)
    desk.bell.ring()
