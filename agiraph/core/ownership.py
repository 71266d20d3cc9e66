"""Who runs an agent: judged by its owner file, by where it is, and by what was there.

No lock is safe over a sync that arrives late, so that ownership is on record and never
contended for: where the record names somebody else, nothing is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

from agiraph.model.owner import Old, Owner

if TYPE_CHECKING:
    from agiraph.model.owner import Spot


class Claim(Enum):
    """What a daemon may do with an agent that it finds."""

    MINE = "mine"  # go on
    NEW = "new"  # nobody has run it: go on, with a record
    MOVED = "moved"  # it came along with its folder: go on, with a new record
    FORKED = "forked"  # a copy: another agent with the same past
    ELSEWHERE = "elsewhere"  # another daemon runs it: do nothing
    CONTESTED = "contested"  # two run it: both pause and ask

    @property
    def works(self) -> bool:
        """Whether this daemon works on the agent."""
        return self not in (Claim.ELSEWHERE, Claim.CONTESTED)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was judged.

    Attributes:
        owner: what is on record, or is to be.
        write: whether it must be written before anything is done.
    """

    claim: Claim
    owner: Owner
    write: bool = False


def judge(
    found: Owner | None, *, here: Owner, held: Owner | None, old: Old
) -> Judgement:
    """Who runs the agent.

    Args:
        found: what `_owner.yaml` says; None where there is none.
        here: what it would say if the agent began its life here and now.
        held: the record that this daemon has in force; None at its first look.
        old: what stands at the home that `found` names; matters only where that is
            on this machine and not here.
    """
    if found is None:
        return Judgement(Claim.NEW, held or here, write=True)
    if found.spot == here.spot:
        return _mine(found, held)
    if found.spot.host != here.spot.host:
        return _another_machine(found, held)
    if old in (Old.GONE, Old.SAME, Old.OTHER):
        moved = replace(found, spot=here.spot, machine=here.machine)
        return Judgement(Claim.MOVED, moved, write=True)
    if found.spot.agent != here.spot.agent:
        return Judgement(Claim.FORKED, here, write=True)
    return _another_machine(found, held)


def _mine(found: Owner, held: Owner | None) -> Judgement:
    """Ours; an older record that a sync brought back does not undo an adoption."""
    if held is not None and held.epoch > found.epoch:
        return Judgement(Claim.MINE, held, write=True)
    return Judgement(Claim.MINE, found)


def _another_machine(found: Owner, held: Owner | None) -> Judgement:
    """Theirs; who was at work gives way only to somebody who adopted it since."""
    if held is not None and found.epoch <= held.epoch:
        return Judgement(Claim.CONTESTED, found)
    return Judgement(Claim.ELSEWHERE, found)


def adopted(found: Owner | None, *, here: Owner) -> Owner:
    """The record of an agent that a person moves here; its past stays its own."""
    if found is None:
        return here
    return replace(here, epoch=found.epoch + 1, since=found.since or here.since)


def old_home(found: Owner, now: Owner | None, *, ran: bool) -> Old:
    """Whether the home that an owner file names still holds the agent it speaks of.

    Args:
        found: the owner file that names the home.
        now: the owner file that stands in it; None where there is none.
        ran: whether a daemon has worked there.
    """
    if now is None:
        return Old.THERE if ran else Old.OTHER
    return Old.OTHER if now.epoch == 1 and _later(now, found) else Old.THERE


def _later(one: Owner, other: Owner) -> bool:
    """Whether one began after another; where that is not known, it did not."""
    try:
        return datetime.fromisoformat(one.since) > datetime.fromisoformat(other.since)
    except (TypeError, ValueError):
        return False


def words(judgement: Judgement, here: Spot) -> str:
    """Why nothing is done for an agent, and what to do; empty where it is worked on."""
    owner, name = judgement.owner, here.agent
    if judgement.claim is Claim.ELSEWHERE:
        return (
            f"it is run elsewhere: {owner.where} (epoch {owner.epoch}); "
            f"`agiraph adopt {name}` moves it here"
        )
    if judgement.claim is Claim.CONTESTED:
        return (
            f"two machines run this agent: this one, and {owner.where} (epoch "
            f"{owner.epoch}); `agiraph adopt {name}` on the one that is to go on "
            "decides it"
        )
    return ""
