"""What people change on the board: specs, identities, STOP and RERUN of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.codec import read_identity, read_spec
from agiraph.model.names import HUMAN
from agiraph.model.node import NodeState
from agiraph.ports import Seen
from agiraph.runtime.work import nodes, runs, staffing

if TYPE_CHECKING:
    from agiraph.core.codec.report import Good, Rejected
    from agiraph.model.worker import Identity
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.people.intake import Intake

STOPPED = "the file STOP in the node's folder"


class Boardwork:
    """Puts people's changes to the newest run's board in force."""

    def __init__(self, desk: Desk, intake: Intake) -> None:
        """`intake` knows which versions were judged."""
        self.desk = desk
        self._intake = intake
        self._changed = False

    async def take_in(self, folder: Folder) -> None:
        """Workers first, since specs may name them; then specs, then presence."""
        for worker, sight in folder.identities.items():
            await self._identity(worker, sight)
        for node, sight in folder.specs.items():
            await self._spec(node, sight)
        await self._presence(folder)
        if self._changed:  # in a run that has ended nobody else brings it up to date
            self._changed = False
            await self.desk.write_board()
        for path, problem in folder.odd.items():
            if path not in self.desk.odd:
                self.desk.odd.add(path)
                self.desk.world.remark(f"{path} is left alone: {problem}")

    async def _presence(self, folder: Folder) -> None:
        """STOP and RERUN in node folders; a STOP that is gone frees its node."""
        for node in folder.stops:
            await self._stop_node(node)
        for node, known in list(self.desk.nodes.items()):
            if known.status.error == STOPPED and node not in folder.stops:
                await runs.reopen(self.desk)
                await nodes.back_to_pending(self.desk, node)
        for node in folder.reruns:
            await self._rerun(node)

    async def _identity(self, worker: str, sight: Sight) -> None:
        desk, path = self.desk, self.desk.worker_folder(worker).identity
        staff = desk.find_staff(worker)
        if staff is not None and staff.text == sight.text and sight.seen is Seen.GOOD:
            await self._intake.clear(path, sight)
            return

        def read(text: str) -> Good[Identity] | Rejected:
            return read_identity(text, worker)

        force = "the last good version" if staff else "nothing; there is no such worker"
        found = await self._intake.judge(path, sight, read, force)
        if found is not None:
            await self._intake.keep(path, sight)
            await staffing.take_on(desk, found, sight.text)

    async def _spec(self, node: str, sight: Sight) -> None:
        desk, path = self.desk, self.desk.node_folder(node).spec
        known = desk.nodes.get(node)
        if known is not None and known.text == sight.text and sight.seen is Seen.GOOD:
            await self._intake.clear(path, sight)
            return
        force = "the last good version" if known else "nothing; it is not on the board"
        spec = await self._intake.judge(path, sight, read_spec, force)
        if spec is None:
            return
        await self._intake.keep(path, sight)
        stage = spec.stage or (known.spec.stage if known else desk.stage)
        parent = spec.parent or (known.spec.parent if known else None)
        spec = replace(spec, stage=stage, parent=parent)
        self._changed = True
        put = await nodes.put(desk, node, spec, sight.text, by=HUMAN)
        if put.status.state is NodeState.PENDING:
            await runs.reopen(desk)

    async def _stop_node(self, node: str) -> None:
        known = self.desk.nodes.get(node)
        if known is None or known.status.state in nodes.DONE:
            return
        # The node itself after what is below it: a crash in between stops it all again.
        words = f"{node}, which it belongs to, was stopped"
        await nodes.cancel(self.desk, self._below(node), error=words)
        await nodes.cancel(self.desk, [node], error=STOPPED)
        await nodes.cancel(self.desk, self._below(node), error=words)
        self.desk.changed()

    def _below(self, node: str) -> list[str]:
        return [child.id for child in board.descendants(node, self.desk.nodes)]

    async def _rerun(self, node: str) -> None:
        """Obeyed, then taken away: a crash between the two obeys it once more."""
        desk, known = self.desk, self.desk.nodes.get(node)
        if known is None:
            return
        stands = board.state(known, desk.nodes)
        if not (stands.ended or stands is NodeState.PENDING):
            return  # it is at work; once that has ended it runs again
        await runs.reopen(desk)
        await nodes.rerun(desk, node)
        await desk.world.pen.remove(desk.node_folder(node).rerun)
