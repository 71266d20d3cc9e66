"""What triggers do: wake the agent, run a node, send a message, run a command.

Each effect carries its slot, so that doing it a second time after a crash changes
nothing; a command, which reaches outside, is started once at most.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from agiraph.core import board
from agiraph.core.schedule.heard import OURS
from agiraph.model.agent import Permission
from agiraph.model.message import Message
from agiraph.model.names import AGIRAPH, COORDINATOR
from agiraph.model.trigger import Deed
from agiraph.ports import Command
from agiraph.runtime.triggers.book import Wake
from agiraph.runtime.work import nodes, runs

if TYPE_CHECKING:
    from agiraph.model.node import Node
    from agiraph.model.trigger import Action
    from agiraph.ports import Finished
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.triggers.book import Book, Slot

COMMAND_SECONDS: Final = 1800.0
PROBE_SECONDS: Final = 30.0
LAST_LINE: Final = 200  # characters of what a command said, in the ledger


class Deeds:
    """Does what triggers are to do, for one agent."""

    def __init__(self, desk: Desk, book: Book) -> None:
        """`book` keeps the wakes that are not delivered yet."""
        self._desk = desk
        self._book = book
        self.posted: set[str] = set()

    def why_not(self, slot: Slot) -> str:
        """Why an effect cannot be done at all; empty where it can."""
        if slot.action.deed is Deed.RUN and self._node(slot) is None:
            run = self._desk.run.name if self._desk.run else "no run"
            return f"there is no node {slot.action.node!r} in {run}"
        if slot.action.deed is Deed.COMMAND:
            if self._desk.run is None:
                return "no run has been opened yet, so there is no folder to run it in"
            return may_run(self._desk)
        return ""

    def busy(self, action: Action) -> bool:
        """Whether the node that it would run has not come to its end."""
        node = self._desk.find_node(action.node)
        if node is None or board.held_back(node):
            return False
        return not _ended(self._desk, node)

    def at_work_since(self, action: Action, when: datetime) -> bool:
        """Whether the node that it would run was at work before a moment."""
        node = self._desk.find_node(action.node)
        if node is None or not node.status.state.at_work:
            return False
        return datetime.fromisoformat(node.status.since) < when

    async def do(self, slot: Slot) -> None:
        """Do it, once however often it is called; commands are for `command`."""
        match slot.action.deed:
            case Deed.WAKE:
                await self._wake(slot)
            case Deed.RUN:
                await self._run_node(slot)
            case Deed.SEND:
                to, text = slot.action.to, slot.action.content
                await self._desk.mail.post(self._message(slot, to, text))
            case Deed.COMMAND:
                return

    def wake_of(self, slot: Slot) -> Wake:
        """The message that wakes the agent for a slot."""
        late = f" ({slot.reason})" if slot.reason else ""
        text = f"[trigger {slot.trigger}, due {slot.slot}{late}]\n{slot.action.task}"
        return Wake(self._id(slot), slot.trigger, text)

    async def post(self, wake: Wake) -> None:
        """Put a wake before the coordinator; the same again is harmless."""
        mail, stamp = self._desk.mail, self._desk.world.stamp()
        if not mail.awaits(COORDINATOR, wake.id):
            message = Message(wake.id, AGIRAPH, COORDINATOR, stamp, wake.text)
            await mail.post(message)
        self.posted.add(wake.id)

    async def _wake(self, slot: Slot) -> None:
        await self.post(self.wake_of(slot))

    def _message(self, slot: Slot, to: str, text: str) -> Message:
        return Message(self._id(slot), AGIRAPH, to, self._desk.world.stamp(), text)

    def _id(self, slot: Slot) -> str:
        era = f"~{self._book.era}" if self._book.era else ""
        return f"{OURS}{slot.trigger}@{slot.slot}{era}"

    # --- nodes

    def _node(self, slot: Slot) -> Node | None:
        return self._desk.find_node(slot.action.node)

    def stands(self, slot: Slot) -> str:
        """How its node stands, to know later whether it was run already."""
        node = self._node(slot)
        return f"{node.status.state.value} {node.status.since}" if node else ""

    async def _run_node(self, slot: Slot) -> None:
        """Lift a node's hold; run it again where it has ended."""
        desk, node = self._desk, self._node(slot)
        if node is None or self.stands(slot) != slot.before:
            return  # it is gone, or was run already
        await runs.reopen(desk)
        if _ended(desk, node):
            await nodes.rerun(desk, node.id)
        elif board.held_back(node):
            await desk.set_node(node.id, replace(node.status, released=True))

    # --- commands

    async def command(self, slot: Slot) -> str:
        """Run a command to its end; how it ended, empty where all went well."""
        desk = self._desk
        folder = desk.run_folder()
        await desk.world.durably(lambda: desk.world.pen.folder(folder.scratch))
        done = await desk.world.shell.run(
            Command(
                text=slot.action.command,
                folder=folder.scratch,
                timeout=COMMAND_SECONDS,
                keep=folder.outputs / f"trigger-{slot.trigger}.txt",
                variables=self._variables(),
                agent=desk.agent,
                of_person=True,
                keeps_all=True,  # nobody is shown it
            )
        )
        return "" if done.code == 0 else failure(done)

    async def probe(self, trigger: str, command: str) -> str:
        """What a heartbeat's probe says, its exit code with it."""
        desk = self._desk
        done = await desk.world.shell.run(
            Command(
                text=command,
                folder=desk.home.path,
                timeout=PROBE_SECONDS,
                keep=desk.home.state / f"probe-{trigger}.txt",
                variables=self._variables(),
                agent=desk.agent,
                of_person=True,
            )
        )
        return f"{ending(done)} {done.size}\n{done.head}\n{done.tail}"

    def _variables(self) -> dict[str, str]:
        desk = self._desk
        root = desk.world.root
        said = {
            "AGIRAPH_AGENTS": root,  # what it calls of `agiraph` means this tree
            "AGIRAPH_INPUTS": f"{root}/{desk.home.inputs}",
        }
        if desk.run is not None:
            said["AGIRAPH_RUN"] = f"{root}/{desk.run_folder().path}"
        return said


def may_run(desk: Desk) -> str:
    """Why the agent's triggers may run no command; empty where they may."""
    permission = desk.settings.permissions.bash
    if permission is Permission.DENY:
        return f"permissions: bash: {permission.value} in GOAL.md"
    return ""


def ending(done: Finished) -> str:
    """How a command ended, in a few words."""
    if done.code is None:
        return f"ended at its limit after {done.seconds:.0f} s"
    return f"exit code {done.code}"


def failure(done: Finished) -> str:
    """How a command failed, with the last line that it said where it said any."""
    said = (done.tail or done.head).strip().rsplit("\n", 1)[-1]
    words = "".join(c if c.isprintable() else " " for c in said).strip()
    if len(words) > LAST_LINE:
        words = words[: LAST_LINE - 1] + "…"
    return f"{ending(done)}: {words}" if words else ending(done)


def _ended(desk: Desk, node: Node) -> bool:
    return board.state(node, desk.nodes).ended
