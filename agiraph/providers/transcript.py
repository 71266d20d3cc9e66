"""Bodies of requests, put together from turns that were rendered before.

A conversation only grows, so each turn is rendered once and kept. A body is then the
joining of bytes, and a turn costs the same at the start and after two hundred others.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING

from agiraph.model.conversation import AssistantLine
from agiraph.providers.wire import turns

if TYPE_CHECKING:
    from agiraph.model.conversation import Request, Spoken, SystemLine
    from agiraph.providers.wire import Fragment, Wire

KEPT_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class _Kept:
    prefix: SystemLine
    head: bytes
    lines: tuple[Spoken, ...] = ()
    ends: list[int] = field(default_factory=list)
    fragments: list[Fragment] = field(default_factory=list)
    size: int = 0


class Transcripts:
    """What was rendered for the conversations that were asked about last."""

    def __init__(self, wire: Wire, *, limit: int = KEPT_BYTES) -> None:
        self._wire = wire
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def body(self, request: Request) -> bytes:
        """The whole body of a request."""
        kept = self._find(request)
        self._size -= kept.size
        _forget_changed(kept, request.lines)
        start = kept.ends[-1] if kept.ends else 0
        for end, turn in turns(request.lines, start):
            fragment = self._wire.turn(turn, request.model)
            kept.ends.append(end)
            kept.fragments.append(fragment)
            kept.size += len(fragment.data)
        kept.lines = request.lines
        self._size += kept.size
        self._make_room()
        turned = self._wire.joined(kept.fragments)
        return b"".join((kept.head, turned, self._wire.tail(request)))

    def _find(self, request: Request) -> _Kept:
        kept = self._kept.get(request.key)
        if kept is None or kept.prefix is not request.prefix:
            if kept is not None:
                self._size -= kept.size
            kept = _Kept(request.prefix, self._wire.head(request.prefix))
            self._kept[request.key] = kept
        self._kept.move_to_end(request.key)
        return kept

    def _make_room(self) -> None:
        while self._size > self._limit and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._size -= oldest.size


def _forget_changed(kept: _Kept, lines: tuple[Spoken, ...]) -> None:
    """Drop what was rendered from lines that are no longer there, or were added to."""
    same = 0
    if len(lines) >= len(kept.lines) and all(map(is_, kept.lines, lines)):
        same = len(kept.lines)  # as always but once in a while
    else:
        for old, new in zip(kept.lines, lines, strict=False):
            if old is not new:
                break
            same += 1
    while kept.ends and not _stands(kept.ends[-1], same, lines):
        kept.ends.pop()
        kept.size -= len(kept.fragments.pop().data)


def _stands(end: int, same: int, lines: tuple[Spoken, ...]) -> bool:
    if end > same:
        return False
    if end == len(lines) or isinstance(lines[end], AssistantLine):
        return True
    # More user lines follow: a user turn that ended here has grown.
    return isinstance(lines[end - 1], AssistantLine)
