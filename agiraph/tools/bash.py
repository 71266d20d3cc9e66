"""The tool that runs a shell command in one's `scratch/`."""

from __future__ import annotations

import signal
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.approval import Need, permitted, shown
from agiraph.core.durations import seconds
from agiraph.core.given import text_of
from agiraph.core.scopes import reading
from agiraph.errors import NotPlain, Outside, ToolRefused
from agiraph.model.layout import Home
from agiraph.model.tool import ToolResult
from agiraph.ports import Command
from agiraph.tools.schemas import execution as schemas

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.ports import Finished, Intent, Seat, Shell

DEFAULT_TIMEOUT: Final = 120.0
LONGEST_TIMEOUT: Final = 1800.0
_LONGEST_COMMAND: Final = 100_000  # bytes; one argument has 128 KiB at most, execve(2)


class Bash:
    """`bash`: a command, its exit code and its output."""

    spec = schemas.BASH.spec
    effect = schemas.BASH.effect
    who = schemas.BASH.who

    def __init__(self, shell: Shell, root: str) -> None:
        """Run by `shell`, below the tree's root (an absolute path)."""
        self._shell = shell
        self._root = root

    async def prepare(self, arguments: JsonObject, seat: Seat) -> Intent:
        """Check the permission and the command; name where its output goes."""
        command = text_of(arguments, "command")
        _refuse_unfit(command)
        timeout = DEFAULT_TIMEOUT
        if "timeout" in arguments:
            timeout = min(seconds(arguments["timeout"]), LONGEST_TIMEOUT)
        kept = reading(f"outputs/{seat.step.replace('/', '-')}.txt", seat)
        folder = str(reading("scratch", seat).path)
        return {
            "command": command,
            "timeout": timeout,
            "folder": folder,
            "keep": str(kept.path),
            "kept": kept.shown,
            **self._asked(seat, command, folder, timeout),
        }

    def _asked(
        self, seat: Seat, command: str, folder: str, timeout: float
    ) -> JsonObject:
        """What the intent says of the permission: whether the person is asked."""
        where = f"{self._root}/{folder}"
        texts = {"command": command, "timeout": f"{timeout:g} s"}
        need = Need("bash", (command,), shown("bash", where, texts))
        return permitted(seat.permissions.bash, need)

    async def perform(self, intent: Intent, seat: Seat) -> ToolResult:
        """Run it."""
        timeout = seconds(intent["timeout"])
        command = Command(
            text=text_of(intent, "command"),
            folder=PurePosixPath(text_of(intent, "folder")),
            timeout=timeout,
            keep=PurePosixPath(text_of(intent, "keep")),
            variables=self._variables(seat),
            agent=seat.agent,
        )
        try:
            finished = await self._shell.run(command)
        except (Outside, NotPlain) as fault:
            raise ToolRefused(f"{fault}; nothing was run.") from None
        words = f"{_ending(finished, timeout)}\n{_output(finished, intent)}"
        return ToolResult(words, error=finished.code is None)

    def _variables(self, seat: Seat) -> dict[str, str]:
        home = Home(seat.agent)
        variables = {
            "AGIRAPH_INPUTS": f"{self._root}/{home.inputs}",
            "AGIRAPH_STEP": seat.step,
        }
        if seat.run is not None:
            variables["AGIRAPH_RUN"] = f"{self._root}/{home.run(seat.run).path}"
        return variables


def _refuse_unfit(command: str) -> None:
    if not command.strip():
        raise ToolRefused("`command` is empty.")
    if "\0" in command:
        raise ToolRefused("`command` holds a NUL character; write it without.")
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        raise ToolRefused("`command` holds a broken character.") from None
    if size > _LONGEST_COMMAND:
        raise ToolRefused(
            f"`command` has {size:,} bytes, {_LONGEST_COMMAND:,} is the most; write a "
            "script with write_file and run that."
        )


def _ending(finished: Finished, timeout: float) -> str:
    code = finished.code
    if code is None:
        return (
            f"ended at its limit of {timeout:g} s, with all that it had started; give "
            "a longer timeout, or do less at a time"
        )
    if code < 0:
        try:
            return f"exit code {code} (ended by {signal.Signals(-code).name})"
        except ValueError:
            return f"exit code {code}"
    return f"exit code {code}"


def _output(finished: Finished, intent: Intent) -> str:
    if not finished.size:
        return "[no output]"
    if not finished.tail:
        return finished.head
    return (
        f"{finished.head}\n"
        f"[… cut here: {finished.size:,} bytes in all, kept in {intent['kept']}; read "
        f"on with read_file …]\n"
        f"{finished.tail}"
    )
