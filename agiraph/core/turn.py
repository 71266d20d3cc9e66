"""The turn: one state machine for the coordinator and every harnessed worker.

It never awaits. The loop gives it what happened and does what it answers with. A
call that is skipped still gets a result, so that every provider accepts what is sent.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from agiraph.model.conversation import Stop

if TYPE_CHECKING:
    from agiraph.model.tool import ToolCall

NUDGES = 3
SAME_RESULT = 4
SAME_FAILURE = 3
ALTERNATING = 6


class Why(Enum):
    """Why a loop ends."""

    DONE = "done"  # a tool ended it: publish, finish, checkpoint
    TURNS = "turns"
    STUCK = "stuck"
    SILENT = "no_publish"
    REFUSED = "refused"


class Nudge(Enum):
    """What a loop is told before it is asked again; names of prompts."""

    EMPTY = "answer_empty"
    LENGTH = "length"
    TALK = "nudge"


# What was wrong with the last answer, where no turn is left to tell the model.
CUT_OFF = "the answer was cut off at its greatest length"
NOTHING_SAID = "the answer was empty"
_LAST_ANSWER = {Nudge.LENGTH: CUT_OFF, Nudge.EMPTY: NOTHING_SAID}


@dataclass(frozen=True, slots=True)
class Trace:
    """One call and its result, as far as the stuck detector looks."""

    call: str
    result: str
    error: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a loop stands.

    Attributes:
        calls: those of the last answer; next: the first without a result.
        turns: model calls of this assignment.
        nudges: reminders in a row without a call between them.
        repeats: service-side pauses in a row.
        trail: the last calls since something new came in: doing the same again once
            there is news is no circle.
    """

    max_turns: int | None = None
    calls: tuple[ToolCall, ...] = ()
    next: int = 0
    turns: int = 0
    nudges: int = 0
    repeats: int = 0
    trail: tuple[Trace, ...] = ()


# --- what happened


@dataclass(frozen=True, slots=True)
class Began:
    """The loop starts, or goes on after a restart with calls still open.

    Where the last thing on record is an answer, the loop goes on with its `Said`
    instead (and one turn less), so that nothing that was paid for is lost.
    """


@dataclass(frozen=True, slots=True)
class Said:
    """The model answered and the answer is recorded.

    Attributes:
        counts: False for what is no turn, such as the notes before a compaction.
    """

    text: str
    calls: tuple[ToolCall, ...]
    stop: Stop
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Returned:
    """A tool's result is recorded.

    Attributes:
        ends: why the tool ends the loop; empty when it goes on.
    """

    content: str
    error: bool
    ends: str = ""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Something urgent came before the next call; the calls left are put off."""


@dataclass(frozen=True, slots=True)
class Woken:
    """A rest ended: there is something new to read."""


@dataclass(frozen=True, slots=True)
class Idle:
    """There is nothing to rest for: the model must act or end."""


Event: TypeAlias = Began | Said | Returned | Interrupted | Woken | Idle


# --- what to do


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model."""


@dataclass(frozen=True, slots=True)
class Act:
    """Run one call and record its result."""

    index: int
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Skip:
    """Record results for the calls that will not run; then `End` or `Ask` follows.

    Attributes:
        after: the reason that a tool ended the loop; empty when mail is the reason.
    """

    first: int
    calls: tuple[ToolCall, ...]
    after: str = ""


@dataclass(frozen=True, slots=True)
class Rest:
    """The model ended its turn with text: wait, or say that there is nothing to do."""

    text: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell the model what is wrong, then ask it."""

    nudge: Nudge
    count: int


@dataclass(frozen=True, slots=True)
class End:
    """The loop is over.

    Attributes:
        note: the tool's own reason, or words for the record.
    """

    why: Why
    note: str = ""


Deed: TypeAlias = Ask | Act | Skip | Rest | Tell | End


def step(turn: Turn, event: Event) -> tuple[Turn, Deed]:
    """The next state and the one thing to do now."""
    match event:
        case Began():
            return _go_on(turn)
        case Woken():
            return _go_on(replace(turn, nudges=0, repeats=0, trail=()))
        case Said():
            return _said(turn, event)
        case Returned():
            return _returned(turn, event)
        case Interrupted():
            skipped = Skip(turn.next, turn.calls[turn.next :])
            return replace(turn, calls=(), next=0, trail=()), skipped
        case Idle():
            return _told(turn, Nudge.TALK)


def after_skip(turn: Turn, skip: Skip) -> tuple[Turn, Deed]:
    """What follows once the skipped calls have their results."""
    if skip.after:
        return turn, End(Why.DONE, skip.after)
    return _ask(turn)


def _go_on(turn: Turn) -> tuple[Turn, Deed]:
    if turn.next < len(turn.calls):
        return turn, Act(turn.next, turn.calls[turn.next])
    return _ask(replace(turn, calls=(), next=0))


def _ask(turn: Turn) -> tuple[Turn, Deed]:
    if turn.max_turns is not None and turn.turns >= turn.max_turns:
        return turn, End(Why.TURNS, f"{turn.turns} of {turn.max_turns} turns are used")
    return turn, Ask()


def _said(turn: Turn, said: Said) -> tuple[Turn, Deed]:
    turn = replace(turn, turns=turn.turns + said.counts, calls=said.calls, next=0)
    if said.calls:
        return _go_on(replace(turn, nudges=0, repeats=0))
    if said.stop is Stop.REFUSAL:
        return turn, End(Why.REFUSED, said.text[:500])
    if said.stop is Stop.PAUSE and turn.repeats < NUDGES:
        return _ask(replace(turn, repeats=turn.repeats + 1))
    turn = replace(turn, repeats=0)
    if said.stop in (Stop.LENGTH, Stop.CONTEXT):
        return _told(turn, Nudge.LENGTH)
    if not said.text.strip():
        return _told(turn, Nudge.EMPTY)
    return turn, Rest(said.text)


def _told(turn: Turn, nudge: Nudge) -> tuple[Turn, Deed]:
    if turn.nudges >= NUDGES:
        return replace(turn, nudges=0), End(Why.SILENT, nudge.value)
    turn = replace(turn, nudges=turn.nudges + 1)
    turn, deed = _ask(turn)
    if not isinstance(deed, End):
        return turn, Tell(nudge, turn.nudges)
    why = _LAST_ANSWER.get(nudge)
    return turn, replace(deed, note=f"{deed.note}; {why}") if why else deed


def _returned(turn: Turn, returned: Returned) -> tuple[Turn, Deed]:
    call = turn.calls[turn.next]
    trace = Trace(_mark(call), _short(returned.content), returned.error)
    turn = replace(
        turn, next=turn.next + 1, trail=(*turn.trail, trace)[-2 * ALTERNATING :]
    )
    if returned.ends:
        rest, done = turn.calls[turn.next :], replace(turn, calls=(), next=0)
        if rest:
            return done, Skip(turn.next, rest, returned.ends)
        return done, End(Why.DONE, returned.ends)
    words = stuck(turn.trail)
    if words and turn.next == len(turn.calls):
        return replace(turn, trail=()), End(Why.STUCK, words)
    return _go_on(turn)


def stuck(trail: tuple[Trace, ...]) -> str:
    """Words on how a loop goes round in circles; empty when it does not.

    The thresholds (same result four times, same failure three times, alternating six
    times) are those that OpenHands' stuck detector found to work, made stricter.
    """
    if _all_same(trail[-SAME_RESULT:], SAME_RESULT):
        return f"the same call had the same result {SAME_RESULT} times"
    failed = trail[-SAME_FAILURE:]
    if all(trace.error for trace in failed) and _all_same(failed, SAME_FAILURE):
        return f"the same call failed the same way {SAME_FAILURE} times"
    pairs = trail[-ALTERNATING:]
    swings = all(pairs[i] == pairs[i - 2] for i in range(2, len(pairs)))
    if len(pairs) == ALTERNATING and len(set(pairs)) == 2 and swings:
        return f"it alternated between the same two calls {ALTERNATING} times"
    return ""


def _all_same(trail: tuple[Trace, ...], count: int) -> bool:
    return len(trail) == count and len(set(trail)) == 1


def _mark(call: ToolCall) -> str:
    arguments = json.dumps(call.arguments, sort_keys=True, default=str)
    return f"{call.name} {_short(arguments + call.broken)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
