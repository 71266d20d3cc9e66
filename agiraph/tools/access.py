"""What the file and memory tools share: what may be touched, and refusals in words."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core import approval
from agiraph.core.arguments import nearest
from agiraph.core.packed import unpacked
from agiraph.errors import AgiraphError, NotPlain, NotThere, Outside, ToolRefused
from agiraph.model.agent import Permission

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agiraph.core.scopes import Place
    from agiraph.model.json import JsonObject
    from agiraph.ports import Entry, Reader, Seat

CHUNK: Final = 1 << 20
# Folders whose files may be named to whoever may read one of them.
_FREE: Final = frozenset(
    {"scratch", "published", "outputs", "inputs", "nodes", "memory", "_messages"}
)


@contextmanager
def in_words(place: Place) -> Iterator[None]:
    """Turns what the tree refuses into words about the path that the caller named."""
    try:
        yield
    except (Outside, NotPlain) as fault:
        raise refusal(fault, place) from None
    except NotThere:
        raise ToolRefused(f"{place.shown} is not there.") from None


def refusal(fault: Outside | NotPlain, place: Place) -> ToolRefused:
    """The refusal of a path that leads out, or to no file, in the caller's words."""
    if isinstance(fault, Outside):
        return ToolRefused(
            f"{place.shown} leads out of the folder that it must stay in (by '..' or "
            "a link); nothing was touched."
        )
    words = str(fault).replace(str(place.path), place.shown)
    return ToolRefused(f"{words}; nothing was touched.")


def may_write(seat: Seat, place: Place, texts: Mapping[str, str]) -> JsonObject:
    """What an intent says of the permission to write: whether the person is asked.

    Args:
        place: of the file.
        texts: what of it would change, by the names of the arguments.

    Raises:
        ToolRefused: the person does not allow writing.
    """
    if seat.permissions.write is Permission.ALLOW:
        return {}
    path = str(place.path)
    whole = approval.shown(f"write {place.shown}", path, texts)
    need = approval.Need("write", (path,), whole)
    return approval.permitted(seat.permissions.write, need)


def at_hand(reader: Reader, place: Place) -> Place:
    """The place itself, or its archive where it was put away."""
    if place.packed is None:
        return place
    with in_words(place):
        if reader.entry(place.path, within=place.within) is not None:
            return place
        if reader.entry(place.packed, within=place.packed.parent) is None:
            return place
    return replace(place, path=place.packed, within=place.packed.parent)


def found(reader: Reader, place: Place) -> Entry:
    """What a place leads to.

    Raises:
        ToolRefused: nothing, naming what is there with a like name.
    """
    with in_words(place):
        entry = reader.entry(place.path, within=place.within)
    if entry is None:
        raise ToolRefused(f"{place.shown} is not there.{_alike(reader, place)}")
    return entry


def _alike(reader: Reader, place: Place) -> str:
    """What stands beside a missing file under a like name, or at all."""
    parent, shown = place.path.parent, PurePosixPath(place.shown).parent
    if place.within.name not in _FREE or not parent.is_relative_to(place.within):
        return ""
    try:
        names = [entry.name for entry in reader.entries(parent, within=place.within)]
    except AgiraphError:
        return f" {shown}/ is not there either."
    close = nearest(place.path.name, names, 3)
    if close:
        return f" Did you mean {', '.join(str(shown / name) for name in close)}?"
    if not names:
        return f" {shown}/ is empty."
    return f" {shown}/ holds {', '.join(names[:10])}."


def chunks(reader: Reader, place: Place, size: int) -> Iterator[bytes]:
    """A file's bytes in order, of an archive those in it; raises as `Reader.part` does.

    Args:
        size: how long it is; 0 where that is not known.
    """
    pieces = _pieces(reader, place, size)
    if place.path == place.packed:
        return unpacked(pieces, place.path)
    return pieces


def _pieces(reader: Reader, place: Place, size: int) -> Iterator[bytes]:
    offset = 0
    while True:
        piece = reader.part(place.path, offset=offset, limit=CHUNK, within=place.within)
        if not piece:
            return
        yield piece
        offset += len(piece)
        if 0 < size <= offset:
            return
