"""Acts that end something: publish, checkpoint, reconvene, finish."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING

from agiraph.core import approval, board, cycles
from agiraph.core.durations import seconds
from agiraph.core.given import flag_of, number_of, text_of, texts_of
from agiraph.errors import AgiraphError, ToolRefused
from agiraph.model.agent import Mode, Permission
from agiraph.model.node import NodeState
from agiraph.model.run import Contract, Policy
from agiraph.model.tool import ToolResult
from agiraph.ports import Command
from agiraph.runtime.acts.act import Act
from agiraph.runtime.work import nodes, publishing, runs

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.json import JsonObject
    from agiraph.model.node import Accept
    from agiraph.ports import Intent, Seat

CHECK_SECONDS = 300.0
CHECKED = "checked"
# The command comes by a variable, so that no quoting of ours can change what it says.
_IN_A_COPY = (
    'copy=$(mktemp -d) && cp -a . "$copy" && cd "$copy" || exit 97; '
    'bash -c "$AGIRAPH_CHECK"; code=$?; rm -rf "$copy"; exit $code'
)


class Publish(Act):
    """`publish`."""

    name = "publish"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Refuse while children are open, or while there is nothing to publish."""
        desk, node = self._desk, str(seat.node)
        left = [
            child.id
            for child in board.children(node, desk.recorded)
            if not board.state(child, desk.recorded).ended
        ]
        if left:
            raise ToolRefused(
                f"children are still open: {', '.join(left)}; wait for them first"
            )
        if not publishing.has_content(desk, desk.node_folder(node).scratch):
            raise ToolRefused(
                "scratch/ is empty: write the deliverable there, then publish"
            )
        return {} if flag_of(arguments, "partial") else self._asked(seat)

    def _asked(self, seat: Seat) -> JsonObject:
        """What the intent says of the commands that check the work."""
        commands = self._commands(seat)
        if not commands or seat.permissions.bash is not Permission.ASK:
            return {}  # what is denied is refused where they would run
        where = f"a copy of {self._desk.node_folder(str(seat.node)).scratch}"
        names = (f"check {number}" for number in count(1))
        shown = approval.shown(
            "publish, with its checks", where, dict(zip(names, commands, strict=False))
        )
        need = approval.Need("bash", commands, shown)
        return approval.permitted(seat.permissions.bash, need)

    def _commands(self, seat: Seat) -> tuple[str, ...]:
        accept = self._desk.nodes[str(seat.node)].spec.accept
        return tuple(check.run for check in accept if check.run)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Check what the spec asks for, then move the work over."""
        desk, node = self._desk, str(seat.node)
        partial = flag_of(intent, "partial")
        accept = desk.nodes[node].spec.accept
        moved = not publishing.has_content(desk, desk.node_folder(node).scratch)
        if accept and not partial and not moved:
            self._must_be_as_asked(intent, seat)
            await self._check(accept, seat)
        work = publishing.Deliverable(node, text_of(intent, "summary"), partial)
        await publishing.publish(desk, work)
        return ToolResult(f"node {node} is published.", ends="published")

    def _must_be_as_asked(self, intent: Intent, seat: Seat) -> None:
        """Refuse checks that were changed after the person was asked for them."""
        need = approval.needed(intent)
        if need is not None and need.subjects != self._commands(seat):
            raise ToolRefused("the checks were changed meanwhile; publish again")

    async def _check(self, accept: tuple[Accept, ...], seat: Seat) -> None:
        journal = self._desk.journal
        if journal.marked(seat.step, CHECKED):
            return
        if journal.marked(seat.step, "checking"):
            raise ToolRefused(
                "interrupted by a restart while the checks of `accept` ran; their "
                "outcome is unknown; publish again to have them run again"
            )
        scratch = self._desk.node_folder(str(seat.node)).scratch
        for check in accept:
            if check.file:
                self._must_be_there(scratch, check.file)
        commands = [check.run for check in accept if check.run]
        if commands:
            await journal.mark(seat.step, "checking")
        for index, command in enumerate(commands):
            await self._must_pass(scratch, command, index, seat)
        await journal.mark(seat.step, CHECKED)

    def _must_be_there(self, scratch: PurePosixPath, file: str) -> None:
        try:
            entry = self._desk.world.reader.entry(scratch / file, within=scratch)
        except AgiraphError as fault:
            raise ToolRefused(f"accept: {file}: {fault}") from None
        if entry is None:
            raise ToolRefused(f"accept: scratch/{file} is not there; write it first")

    async def _must_pass(
        self, scratch: PurePosixPath, command: str, index: int, seat: Seat
    ) -> None:
        if seat.permissions.bash is Permission.DENY:
            raise ToolRefused(
                f"accept: the check {command!r} cannot run, since permissions.bash is "
                "deny; publish with partial: true, or ask"
            )
        keep = self._desk.node_folder(str(seat.node)).outputs
        name = seat.step.replace("/", "-")
        check = Command(
            text=_IN_A_COPY,
            folder=scratch,
            timeout=CHECK_SECONDS,
            keep=keep / f"check-{name}-{index}.txt",
            variables={"AGIRAPH_CHECK": command, "AGIRAPH_STEP": seat.step},
            agent=seat.agent,
        )
        world = self._desk.world
        done = await world.durably(lambda: world.shell.run(check))
        if done.code != 0:
            how = "ran out of time" if done.code is None else f"exit code {done.code}"
            raise ToolRefused(
                f"accept: {command!r} failed ({how}):\n"
                f"{(done.head + done.tail)[-2000:]}"
            )


class Checkpoint(Act):
    """`checkpoint`."""

    name = "checkpoint"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """A finite agent's coordinator has nothing to checkpoint."""
        finite = self._desk.settings.mode is Mode.FINITE
        if seat.worker is None and finite:
            raise ToolRefused(
                "this goal ends: call finish when it is met; checkpoint is for agents "
                "with mode: infinite"
            )
        return {}

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """A worker keeps its context; the coordinator ends its cycle."""
        desk, summary = self._desk, text_of(intent, "summary")
        if seat.node is not None:
            before = desk.nodes[seat.node].status.state
            if before is not NodeState.CHECKPOINTED:
                how = NodeState.CHECKPOINTED
                await nodes.end(desk, seat.node, how, summary=summary)
            return ToolResult("checkpointed; your context is kept.", ends="checkpoint")
        if desk.run is None or not desk.run_open:
            await runs.open_run(desk)
        await runs.write_output(desk, summary, ())
        clock = desk.world.clock
        desk.next_cycle = clock.monotonic() + desk.settings.cycle
        return ToolResult(
            "the cycle has ended; you are woken for the next.",
            ends="cycle",
            ids=(cycles.ended(desk.run_folder().name, clock.now()),),
        )


class Reconvene(Act):
    """`reconvene`."""

    name = "reconvene"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Decide the next stage's number."""
        run = self._desk.run
        if run is None or not self._desk.run_open:
            raise ToolRefused("no run is open; there is no stage to close")
        self._contract(arguments)
        number = len(run.stages) + 1
        return {"number": number, **self._asked(arguments, number, seat)}

    def _asked(self, arguments: JsonObject, number: int, seat: Seat) -> JsonObject:
        """What the intent says of the permission to open the next stage."""
        texts = {key: text_of(arguments, key) for key in ("assessment", "next_stage")}
        contract = arguments.get("contract")
        if isinstance(contract, Mapping):
            texts["contract"] = ", ".join(f"{k}: {v}" for k, v in contract.items())
        shown = approval.shown("reconvene", f"{seat.run}, stage {number}", texts)
        need = approval.Need("reconvene", ("the next stage",), shown)
        return approval.permitted(seat.permissions.reconvene, need)

    def _contract(self, arguments: JsonObject) -> Contract:
        given = arguments.get("contract")
        terms = given if isinstance(given, dict) else {}
        turns, limit = terms.get("max_turns"), terms.get("timeout")
        return Contract(
            max_turns=turns if isinstance(turns, int) else None,
            timeout=None if limit is None else seconds(limit),
            policy=Policy(text_of(terms, "checkpoint_policy", "all_must_complete")),
        )

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Close the stage, open the next."""
        number = number_of(intent, "number") or 1
        title = text_of(intent, "next_stage")
        await runs.reconvene(
            self._desk,
            number,
            text_of(intent, "assessment"),
            title,
            self._contract(intent),
        )
        return ToolResult(f"stage {number} is open" + (f": {title}" if title else ""))


class Finish(Act):
    """`finish`."""

    name = "finish"

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Refuse while nodes are open, naming them; check the artifacts."""
        desk = self._desk
        if desk.run is None or not desk.run_open:
            raise ToolRefused("no run is open; there is nothing to finish")
        left = board.open_nodes(desk.recorded)
        if left:
            named = [f"{n.id} ({board.state(n, desk.recorded).value})" for n in left]
            raise ToolRefused(
                f"nodes are still open: {', '.join(named)}; wait for them, or cancel "
                "them"
            )
        missing = [
            path
            for path in texts_of(arguments, "artifacts")
            if not self._is_there(path)
        ]
        if missing:
            raise ToolRefused(f"these artifacts are not there: {', '.join(missing)}")
        return {}

    def _is_there(self, path: str) -> bool:
        desk, folder = self._desk, self._desk.run_folder()
        inner = path.removeprefix("run/").removeprefix("./")
        places = [folder.path / inner]
        if inner.startswith("published/"):
            places.append(folder.scratch / inner.removeprefix("published/"))
        if "/" not in inner:
            places.append(folder.scratch / inner)
        reader = desk.world.reader
        try:
            return any(reader.entry(p, within=folder.path) is not None for p in places)
        except AgiraphError:
            return False

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Write the result and end the run."""
        artifacts = [
            path if "/" in path else f"published/{path}"
            for path in texts_of(intent, "artifacts")
        ]
        ended = await self._desk.jobs.end()  # they write into what is published now
        await runs.finish(self._desk, text_of(intent, "summary"), artifacts)
        words = "the run has ended; its result is in _output.md."
        if ended:
            words += f" Commands in the background that were ended with it: {ended}."
        return ToolResult(words, ends="finish")
