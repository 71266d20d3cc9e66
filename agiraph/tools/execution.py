"""Starts commands in a group of their own, bounds them, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from agiraph.errors import DiskRefused, ToolRefused
from agiraph.model.layout import MACHINE
from agiraph.ports import Finished
from agiraph.tools import processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import PurePosixPath

    from agiraph.ports import Command, Pen

SHOWN: Final = 10_000
_HEAD: Final = 4_000
_ONE_CHARACTER: Final = 4  # bytes at most, in UTF-8
_REAP: Final = 5.0
_LARGEST_FILE: Final = 1024 * 1024  # of 1,024 bytes each: 1 GiB
_PASSED_ON: Final = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME"})
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
# The limits are set by the shell itself: code between fork and exec may deadlock in a
# process that has threads.
_WRAP: Final = f'ulimit -c 0; ulimit -f {_LARGEST_FILE}; exec "$0" -c "$1"'
_F_GETPATH: Final = 50  # macOS, fcntl(2)


class Ways(Protocol):
    """Opens what lies below the root; may not follow a link out of it."""

    root: str

    def open(
        self,
        path: PurePosixPath,
        flags: int,
        mode: int = ...,
        *,
        within: PurePosixPath | None = None,
    ) -> int:
        """A descriptor of what a path leads to."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """Descriptors of the folder to work in and of the file for the output."""

    folder: int
    keep: int


class LocalShell:
    """The port `Shell`, by processes of this machine."""

    def __init__(
        self,
        ways: Ways,
        pen: Pen,
        environment: Mapping[str, str],
        *,
        programs: str = "",
    ) -> None:
        """Start commands below the root of `ways`.

        Args:
            ways: opens the folder to work in and the file for the output.
            pen: makes the folders that are missing.
            environment: the daemon's own, of which little is passed on.
            programs: the folder in which `agiraph` lies; empty where none is known.
        """
        self._ways = ways
        self._pen = pen
        self._environment = environment
        self._programs = programs
        self._groups: set[int] = set()  # what runs now
        self._left_by: frozenset[str] | None = None  # agents, of a daemon before us
        self._looked_after: set[str] = set()
        self._shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"

    async def run(self, command: Command) -> Finished:
        """Run to its end or its limit; the whole process group is ended then.

        Raises:
            ToolRefused: it could not be started.
            Outside, NotPlain, DiskRefused: its folder or output cannot be opened.
        """
        private = await self._private(command.agent)
        for folder in (command.folder, command.keep.parent):
            await self._pen.folder(folder)
        with self._opened(command) as opened:
            finished = await self._run(command, opened, private)
            if finished.size:
                with suppress(OSError):  # it has run: what it did is what counts
                    await asyncio.to_thread(os.fsync, opened.keep)
        shown_whole = not finished.tail and not command.keeps_all
        if shown_whole or not finished.size:
            with suppress(DiskRefused):
                await self._pen.remove(command.keep)
        return finished

    async def end_left_behind(self, agent: str) -> int:
        """End what a dead daemon's commands left running; how many processes.

        By the marks in their environment, which only Linux lets us read. One look at
        all processes tells which agents have left any; most have not.
        """
        if self._left_by is None:
            root = {"AGIRAPH_ROOT": self._ways.root}
            self._left_by = await asyncio.to_thread(
                processes.marked, "AGIRAPH_AGENT", root
            )
        first = agent not in self._looked_after
        self._looked_after.add(agent)
        if first and agent not in self._left_by:
            return 0
        return await processes.end(None, self._marks(agent))

    def end_at_once(self) -> None:
        """Kill what runs now, without asking or waiting: this process is ending."""
        for group in self._groups:
            processes.kill(group)

    async def _run(self, command: Command, opened: _Opened, private: str) -> Finished:
        begun = asyncio.get_running_loop().time()
        mark = {"AGIRAPH_COMMAND": secrets.token_hex(16)}
        environment = self._scrubbed(command, private) | mark
        process = await self._start(command, opened, environment)
        self._groups.add(process.pid)
        in_time = True
        try:
            async with asyncio.timeout(command.timeout):
                await process.wait()
        except TimeoutError:
            in_time = False
        finally:
            await processes.end(process.pid, mark)
            self._groups.discard(process.pid)
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP):
                await process.wait()
        head, tail, size = _ends(opened.keep)
        seconds = asyncio.get_running_loop().time() - begun
        code = process.returncode if in_time else None
        return Finished(code, head, tail, size, seconds)

    async def _start(
        self, command: Command, opened: _Opened, environment: dict[str, str]
    ) -> asyncio.subprocess.Process:
        shell = self._shell
        try:
            return await asyncio.create_subprocess_exec(
                shell, "-c", _WRAP, shell, command.text,
                cwd=_name_of(opened.folder),
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=opened.keep,
                stderr=opened.keep,
                start_new_session=True,
            )  # fmt: skip
        except OSError as fault:
            why = os.strerror(fault.errno) if fault.errno else str(fault)
            raise ToolRefused(f"The command could not be started: {why}.") from None

    @contextmanager
    def _opened(self, command: Command) -> Iterator[_Opened]:
        folder = self._ways.open(command.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            keep = self._ways.open(command.keep, flags, 0o600)
            try:
                yield _Opened(folder, keep)
            finally:
                os.close(keep)
        finally:
            os.close(folder)

    async def _private(self, agent: str) -> str:
        """A home for an agent's commands: the person's own holds keys by name."""
        folder = MACHINE / "shell" / agent
        for name in ("home", "tmp"):
            await self._pen.folder(folder / name)
        return os.path.join(self._ways.root, str(folder))

    def _scrubbed(self, command: Command, private: str) -> dict[str, str]:
        given = {
            name: value
            for name, value in self._environment.items()
            if name in _PASSED_ON or name.startswith("LC_")
        }
        path = given.pop("PATH", _PATH)
        return {
            **given,
            "PATH": self._with_programs(path) if command.of_person else path,
            "HOME": os.path.join(private, "home"),
            "TMPDIR": os.path.join(private, "tmp"),
            "TERM": "dumb",
            "SHELL": "/bin/sh",
            **command.variables,
            **self._marks(command.agent),
        }

    def _with_programs(self, path: str) -> str:
        """A PATH on which `agiraph` is found; last, so that nothing else is hidden."""
        if not self._programs or self._programs in path.split(os.pathsep):
            return path
        return os.pathsep.join([path, self._programs] if path else [self._programs])

    def _marks(self, agent: str) -> dict[str, str]:
        return {"AGIRAPH_ROOT": self._ways.root, "AGIRAPH_AGENT": agent}


def _name_of(folder: int) -> str:
    """A name by which a child can go to a folder that we hold open."""
    if not sys.platform.startswith("linux"):
        found = fcntl.fcntl(folder, _F_GETPATH, b"\0" * 1024)
        return os.fsdecode(found.rstrip(b"\0"))
    return f"/proc/self/fd/{folder}"  # the child's own copy, by its number


def _ends(keep: int) -> tuple[str, str, int]:
    """Head and tail of an output, and its size; the tail is empty where all fits."""
    size = os.fstat(keep).st_size
    if size <= SHOWN * _ONE_CHARACTER:
        text = _text(os.pread(keep, size, 0))
        if len(text) <= SHOWN:
            return text, "", size
        return text[:_HEAD], text[_HEAD - SHOWN :], size
    head = _text(os.pread(keep, _HEAD * _ONE_CHARACTER, 0))
    most = (SHOWN - _HEAD) * _ONE_CHARACTER
    tail = _text(os.pread(keep, most, size - most))
    return head[:_HEAD], tail[_HEAD - SHOWN :], size


def _text(data: bytes) -> str:
    """Output as text that every provider takes: no NUL, no broken character."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")
