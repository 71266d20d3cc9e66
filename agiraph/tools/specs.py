"""Whether a spec may be written by this caller, now, with these words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.core.codec.report import Rejected
from agiraph.core.codec.spec import read_spec
from agiraph.core.codec.status import read_node_status
from agiraph.errors import NotThere, ToolRefused
from agiraph.model.node import NodeSpec, NodeState, NodeStatus

if TYPE_CHECKING:
    from agiraph.core.scopes import Place
    from agiraph.ports import Reader, Seat
    from agiraph.tools.changes import Old

_NOT_STARTED: Final = frozenset({NodeState.PENDING, NodeState.HELD})
_LIMIT: Final = 1024 * 1024


def check_spec(reader: Reader, place: Place, seat: Seat, old: Old, new: bytes) -> None:
    """Refuses a spec that is not this caller's to write, or not good.

    The coordinator writes any node's, a worker those of its own node's children; until
    the node starts. What decides over others' money and place stays as it was.

    Raises:
        ToolRefused: says why.
    """
    if old.data is None:
        raise ToolRefused(f"{place.shown} is not there; create_work_node makes a node.")
    before, after = _good(old.data, "as it stands"), _good(new, "as you wrote it")
    if seat.worker is not None and before.parent != seat.node:
        raise ToolRefused(f"{place.shown} is not a child of your node.")
    if (before.parent, before.budget) != (after.parent, after.budget):
        raise ToolRefused("A spec's parent and budget may not be changed this way.")
    status = _status(reader, place)
    if status.state not in _NOT_STARTED or status.attempt:
        raise ToolRefused(
            f"{place.spec_of} has started ({status.state.value}); only a person can "
            "change its spec now. Send its worker a message, or make another node."
        )


def _good(data: bytes, how: str) -> NodeSpec:
    read = read_spec(data.decode("utf-8", "replace"))
    if isinstance(read, Rejected):
        faults = "; ".join(
            f"line {fault.line}: {fault.key} {fault.found}, allowed: {fault.allowed}"
            for fault in read.problems
        )
        raise ToolRefused(f"The spec {how} is not good: {faults}")
    return read.value


def _status(reader: Reader, place: Place) -> NodeStatus:
    path = place.within / "_status.md"
    try:
        data = reader.read(path, limit=_LIMIT, within=place.within)
    except NotThere:
        return NodeStatus()
    read = read_node_status(data.decode("utf-8", "replace"))
    return NodeStatus() if isinstance(read, Rejected) else read.value
