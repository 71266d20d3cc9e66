"""What is a new message in `_inbox.md`, a file that only people write.

The text is compared with what stood there when it was last taken in. Blocks are what
stands between lines of `---`; where there are none, a block is what was taken in at one
time. The rules, in the words of the tree's contract: pruning or correcting a delivered
message sends nothing; two or more pruned blocks that come back together are a restored
file; anything else that was not there is new, the same words written again included.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.address import addressed, apart
from agiraph.core.retyped import Piece, pieces
from agiraph.core.typed import typed
from agiraph.model.message import Heard, InboxMessage
from agiraph.model.names import COORDINATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.core.typed import Block, Typed
    from agiraph.model.json import Json, JsonObject

APPENDED, REWRITTEN, HELD_OPEN, UNENDED = 0.25, 3.0, 5.0, 60.0
_REMEMBERED_FOR = 30 * 86400.0
_MOST_PRUNED = 500
_MOST_PRUNED_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Pruned:
    """A block that a person took out of the file; `at` in seconds since 1970."""

    at: float
    block: Block


@dataclass(frozen=True, slots=True)
class InboxMemory:
    """What an inbox held when it was last taken in.

    Attributes:
        blocks: in the order of the file.
        pruned: what stood there before, oldest first; bounded.
        count: how many messages it has delivered.
    """

    blocks: tuple[Block, ...] = ()
    pruned: tuple[Pruned, ...] = ()
    count: int = 0

    def to_json(self) -> JsonObject:
        """As the journal keeps it."""
        pruned: list[Json] = [[each.at, list(each.block)] for each in self.pruned]
        blocks: list[Json] = [list(block) for block in self.blocks]
        return {"blocks": blocks, "pruned": pruned, "count": self.count}

    @classmethod
    def from_json(cls, found: JsonObject) -> InboxMemory:
        """What the journal kept; anything that does not fit is left out."""
        count = found.get("count")
        pruned = [each for each in _list(found.get("pruned")) if len(_list(each)) == 2]
        return cls(
            blocks=tuple(_block(each) for each in _list(found.get("blocks"))),
            pruned=tuple(
                Pruned(float(at), _block(block))
                for at, block in map(_list, pruned)
                if isinstance(at, int | float)
            ),
            count=count if isinstance(count, int) else 0,
        )


def take_in(
    memory: InboxMemory, text: str, *, now: float, to: str = COORDINATOR
) -> tuple[tuple[InboxMessage, ...], InboxMemory]:
    """What a text says that was not said before, and what is to be remembered.

    The same memory and text give the same answer, so a crash between the two records
    that follow neither loses nor repeats a message.

    Args:
        memory: of the last time.
        text: the whole inbox, as it stands.
        now: seconds since 1970; what was pruned is remembered for 30 days.
        to: who gets what names nobody: the coordinator, or the inbox's worker.

    Returns:
        The messages in the order of the file, of which those that are `new` are to be
        delivered; and the memory to be recorded together with their delivery.
    """
    current = typed(text)
    found = _restored(pieces(memory.blocks, current), current, memory)
    if not current.separated:
        found = [part for piece in found for part in _apart(piece, current)]
    messages: list[InboxMessage] = []
    count = memory.count
    for piece in found:
        if piece.kind is None:
            continue
        said = addressed(current.words(piece.span), to)
        count += piece.kind is Heard.NEW
        number = count if piece.kind is Heard.NEW else 0
        messages.append(replace(said, kind=piece.kind, number=number))
    blocks = _blocks(found, current)
    pruned = _pruned(memory, found, blocks, now)
    return tuple(messages), InboxMemory(blocks, pruned, count)


def quiet_needed(memory: InboxMemory, text: str, *, editor_lock: bool) -> float:
    """For how long the file must have been quiet before it is taken in, in seconds.

    Args:
        memory: of the last time.
        text: the whole inbox, as it stands.
        editor_lock: whether an editor's lock or swap file lies beside it.
    """
    before = tuple(line for block in memory.blocks for line in block)
    appended = typed(text).lines[: len(before)] == before
    return quiet_for(text, appended=appended, editor_lock=editor_lock)


def quiet_for(text: str, *, appended: bool, editor_lock: bool) -> float:
    """For how long a file that people type into must have been quiet, in seconds.

    Args:
        text: the whole file, as it stands.
        appended: whether something was only added to what stood there before.
        editor_lock: whether an editor's lock or swap file lies beside it.
    """
    if text and not text.endswith(("\n", "\r")):
        return UNENDED
    if editor_lock:
        return HELD_OPEN
    return APPENDED if appended else REWRITTEN


def _restored(found: list[Piece], now: Typed, memory: InboxMemory) -> list[Piece]:
    """The pieces, with what comes back together out of what was pruned told apart."""
    left = Counter(each.block for each in memory.pruned)
    parted = [
        (piece, _segments(piece, now, left) if piece.kind is Heard.NEW else [])
        for piece in found
    ]
    back = [
        each for _, parts in parted for each in parts if each.kind is Heard.RESTORED
    ]
    if len(back) < 2:
        return found
    return [each for piece, parts in parted for each in parts or [piece]]


def _segments(piece: Piece, now: Typed, left: Counter[Block]) -> list[Piece]:
    """A new piece cut where blocks that were pruned begin and end."""
    if now.separated:
        known = left[now.block(piece.span)] > 0
        left[now.block(piece.span)] -= known
        return [replace(piece, kind=Heard.RESTORED)] if known else [piece]
    parts: list[Piece] = []
    at = fresh = piece.span.start
    while at < piece.span.stop:
        size = _pruned_at(range(at, piece.span.stop), now, left)
        if size:
            if fresh < at:
                parts.append(Piece(range(fresh, at), Heard.NEW))
            parts.append(Piece(range(at, at + size), Heard.RESTORED))
            fresh = at + size
        at += size or 1
    if fresh < at:
        parts.append(Piece(range(fresh, at), Heard.NEW))
    return parts


def _pruned_at(span: range, now: Typed, left: Counter[Block]) -> int:
    """How many lines the longest pruned block has that begins here; 0 without one."""
    first = now.lines[span.start]
    fitting = [
        block
        for block, count in left.items()
        if count > 0
        and block[:1] == (first,)
        and len(block) <= len(span)
        and now.block(range(span.start, span.start + len(block))) == block
    ]
    if not fitting:
        return 0
    longest = max(fitting, key=len)
    left[longest] -= 1
    return len(longest)


def _apart(piece: Piece, now: Typed) -> list[Piece]:
    if piece.kind is not Heard.NEW:
        return [piece]
    start = piece.span.start
    cuts = [
        start,
        *(start + at for at in apart(now.block(piece.span))),
        piece.span.stop,
    ]
    return [
        Piece(range(one, other), Heard.NEW) for one, other in itertools.pairwise(cuts)
    ]


def _blocks(found: list[Piece], now: Typed) -> tuple[Block, ...]:
    if now.separated:
        return tuple(now.block(span) for span in now.blocks)
    blocks: list[Block] = []
    last = -1
    for piece in found:
        lines = now.block(piece.span)
        if last in piece.old[:1]:
            blocks[-1] += lines
        else:
            blocks.append(lines)
        last = piece.old[-1] if piece.old else -1
    return tuple(blocks)


def _pruned(
    memory: InboxMemory, found: list[Piece], blocks: Iterable[Block], now: float
) -> tuple[Pruned, ...]:
    """What is remembered of what was taken out; the newest within bounds."""
    kept = {unit for piece in found for unit in piece.old}
    here = set(blocks)
    gone = [
        Pruned(now, block)
        for at, block in enumerate(memory.blocks)
        if at not in kept and block not in here
    ]
    before = [each for each in memory.pruned if each.block not in here]
    room = _MOST_PRUNED_CHARACTERS
    newest: list[Pruned] = []
    for each in reversed([*before, *gone][-_MOST_PRUNED:]):
        room -= sum(map(len, each.block))
        if room < 0 or each.at < now - _REMEMBERED_FOR:
            break
        newest.append(each)
    return tuple(reversed(newest))


def _list(found: Json) -> Sequence[Json]:
    return found if isinstance(found, list | tuple) else []


def _block(found: Json) -> Block:
    return tuple(each for each in _list(found) if isinstance(each, str))
