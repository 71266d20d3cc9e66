"""What each loop last saw of the files that it shares with people.

A person may edit memory or a spec while an agent works. A loop that then writes the
whole file from what it saw before would undo the person's edit; so its write is
refused with the difference. This is kept in memory only: after a restart a write
counts from what stands there, unless the runtime notes what it shows again.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, Final, TypeAlias

from agiraph.errors import ToolRefused
from agiraph.tools.changes import Old, old_file

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.core.scopes import Place
    from agiraph.ports import Reader, Seat

_MOST_FILES: Final = 1_000
_MOST_KEPT: Final = 64 * 1024
_MOST_SHOWN: Final = 6_000

_Key: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class _Sight:
    sha: str
    text: str | None


class LastSeen:
    """The last sight of each shared file, for each loop."""

    def __init__(self) -> None:
        self._sights: OrderedDict[_Key, _Sight] = OrderedDict()

    def note(self, seat: Seat, path: PurePosixPath, data: bytes | None) -> None:
        """This is what the caller has seen, or has written; None is "nothing there"."""
        text = None
        if len(data or b"") <= _MOST_KEPT:
            text = (data or b"").decode("utf-8", "replace")
        key = _key(seat, path)
        self._sights[key] = _Sight(Old(data).sha, text)
        self._sights.move_to_end(key)
        if len(self._sights) > _MOST_FILES:
            self._sights.popitem(last=False)

    def note_if_shared(self, seat: Seat, place: Place, data: bytes | None) -> None:
        """As `note`, where the place is one that people write too."""
        if _shared(place):
            self.note(seat, place.path, data)

    def note_read(self, seat: Seat, place: Place, reader: Reader) -> None:
        """The caller has just been shown a file."""
        if _shared(place):
            self.note(seat, place.path, old_file(reader, place).data)

    def refuse_if_changed(self, seat: Seat, place: Place, now: Old) -> None:
        """Refuses to replace what the caller has not seen as it is now.

        Raises:
            ToolRefused: with the difference, which then counts as seen.
        """
        sight = self._sights.get(_key(seat, place.path))
        if sight is None or sight.sha == now.sha:
            return
        self.note(seat, place.path, now.data)
        raise ToolRefused(
            f"{place.shown} was changed by someone else since you last saw it; nothing "
            f"was written.{_difference(sight, now, place.shown)} Take this in, then "
            "write again."
        )


def _shared(place: Place) -> bool:
    """Whether people write this file too: a node's spec, the agent's memory."""
    inside = place.path.relative_to(place.within)
    spec = inside.name == "_spec.md" and place.within.parent.name == "nodes"
    return spec or inside.name == "MEMORY.md" or place.within.name == "memory"


def _key(seat: Seat, path: PurePosixPath) -> _Key:
    return (seat.agent, seat.run or "", seat.worker or "", str(path))


def _difference(sight: _Sight, now: Old, shown: str) -> str:
    if sight.text is None or len(now.data or b"") > _MOST_KEPT:
        return " Read it again."
    lines = unified_diff(
        sight.text.splitlines(),
        (now.data or b"").decode("utf-8", "replace").splitlines(),
        f"{shown} as you saw it",
        f"{shown} now",
        lineterm="",
        n=1,
    )
    text = "\n".join(lines)
    if len(text) > _MOST_SHOWN:
        text = text[:_MOST_SHOWN] + "\n[the rest of the difference is not shown]"
    return f" The difference:\n{text}\n"
