"""Which place of the tree a caller means by a path, and whether it may go there.

Text only picks the place; nothing here makes it safe. Whoever opens the place must
keep the path inside `within` by the kernel: `..` and links are left as they stand.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.arguments import nearest
from agiraph.core.places import READ, WRITE, Caller, Closed, Parts, Place, Way, own_room
from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Caller", "Place", "reading", "writing"]

# Names that mean something elsewhere in the tree: alone they are no file of scratch/.
_ELSEWHERE: Final = frozenset(
    {
        "agiraph.yaml", "PAUSE", "STOP", "RERUN", "_inbox.md", "_inbox", "_outbox.md",
        "_status.md", "_owner.yaml", "_approvals.yaml", "_questions", "_state",
        "_run.yaml", "_output.md", "_messages", "_triggers.jsonl", "events.jsonl",
        "usage.jsonl", "conversation.jsonl", "log.jsonl", "history.json", "workers",
    }
)  # fmt: skip


def reading(path: str, seat: Caller) -> Place:
    """The place to read that a path means.

    Raises:
        ToolRefused: none that this caller may read; names the likely one.
    """
    return _place(path, seat, READ)


def writing(path: str, seat: Caller) -> Place:
    """The place to write that a path means.

    Raises:
        ToolRefused: none that this caller may write; names the likely one.
    """
    place = _place(path, seat, WRITE)
    if place.path == place.within:
        raise ToolRefused(
            f"{path} is a folder; name a file in it, such as {place.shown}/report.md."
        )
    return place


def _place(path: str, seat: Caller, ways: Mapping[str, Way]) -> Place:
    parts = _parts(path)
    try:
        return _follow(parts, seat, ways)
    except Closed as no:
        likely = _likely(parts, seat, ways)
        hint = f" Did you mean {likely}?" if likely else f" {_KNOWN}"
        raise ToolRefused(f"{path}: {no}{hint}") from None


_KNOWN: Final = (
    "Paths begin with scratch/, published/, outputs/, inputs/, run/ or nodes/<id>/."
)


def _parts(path: str) -> Parts:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ToolRefused("The path is not valid Unicode.") from None
    if "\0" in path:
        raise ToolRefused("A path may not hold a NUL character.")
    parts = PurePosixPath(path).parts
    if not parts:
        raise ToolRefused(f"The path is empty. {_KNOWN}")
    return parts


def _follow(parts: Parts, seat: Caller, ways: Mapping[str, Way]) -> Place:
    way = ways.get(parts[0])
    if way is not None:
        return way(parts, seat)
    if parts[0] == "/":
        raise Closed("absolute paths are not taken.")
    if len(parts) > 1 or parts[0] in _ELSEWHERE or parts[0] in READ:
        raise Closed("this is no place that you may use here.")
    if parts[0] == ".." or "\\" in parts[0]:
        raise Closed("this is no file name.")
    return own_room(("scratch", parts[0]), seat)


def _likely(parts: Parts, seat: Caller, ways: Mapping[str, Way]) -> str | None:
    """The path that was probably meant, if there is one that would be taken."""
    plain = tuple(part for part in parts if part not in ("/", "..", "~"))
    if not plain or plain[0] in _ELSEWHERE:
        return None
    head, rest = plain[0], plain[1:]
    heads = [_MEANT[head]] if head in _MEANT else []
    heads += nearest(head, tuple(ways), closeness=0.75)
    tries = [(near, *rest) for near in heads]
    tries += [("nodes", *plain)] if rest and rest[0] in _IN_NODES else []
    tries += [("scratch", *rest)] if head in READ else []
    tries += [plain[index:] for index in range(len(plain))]
    tries += [("scratch", *plain)]
    for one in tries:
        if one == parts or (len(one) == 1 and one[0] not in ways):
            continue
        try:
            return _follow(one, seat, ways).shown
        except ToolRefused:
            continue
    return None


_MEANT: Final = {
    "memory.md": "MEMORY.md",
    "MEMORY.md": "memory.md",
    "runs": "run",
    "output": "outputs",
}
_IN_NODES: Final = frozenset({"published", "scratch", "outputs", "_spec.md"})
