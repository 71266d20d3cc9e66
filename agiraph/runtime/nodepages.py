"""The `_status.md` of nodes, and what they show while newer ones are being written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.codec import write_node_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from pathlib import PurePosixPath

    from agiraph.model.node import Node, NodeStatus
    from agiraph.runtime.world import World


class NodePages:
    """Writes the pages of one run's nodes; pages of different nodes side by side.

    Who changes a node goes by the newest that is known of it, or a change would be
    lost. Who tells of it goes by its page: an end that a crash takes back is told
    a second time once it comes again.
    """

    def __init__(self, world: World) -> None:
        """Nothing is being written."""
        self._world = world
        self._writers: Counter[str] = Counter()
        self._newest: dict[str, Node] = {}  # of those that are being written
        self._shown: dict[str, NodeStatus] = {}  # of those whose end is being written

    def recorded(self, nodes: Mapping[str, Node]) -> Mapping[str, Node]:
        """These nodes, each without an end that is not on the disk yet."""
        if not self._shown:
            return nodes
        shown = {
            name: replace(nodes[name], status=status)
            for name, status in self._shown.items()
            if name in nodes
        }
        return {**nodes, **shown}

    async def write(self, path: PurePosixPath, node: Node, old: Node | None) -> None:
        """Bring a node's page onto the disk.

        Args:
            old: the node as it was known before.
        """
        name = node.id
        self._newest[name] = node
        self._writers[name] += 1
        if old is not None and _ends(node, old):
            self._shown.setdefault(name, old.status)

        def write() -> Awaitable[None]:
            # One that the disk had refused may come after a newer one.
            newest = self._newest[name]
            page = write_node_status(newest.status, title=newest.title)
            return self._world.pen.write(path, page.encode())

        try:
            await self._world.durably(write)
            if name in self._shown:
                self._shown[name] = node.status
        finally:
            self._leave(name)

    def _leave(self, name: str) -> None:
        self._writers[name] -= 1
        if not self._writers[name]:
            del self._writers[name], self._newest[name]
            self._shown.pop(name, None)


def _ends(node: Node, old: Node) -> bool:
    state = node.status.state
    return state.ended and state is not old.status.state
