"""A GGUF file as a provider: a child process that is started when it is needed.

The child serves the file by the Chat Completions wire on a port of its own. It is ended
when nobody has asked for a while, and ends by itself when this process is gone.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.errors import Fault, ProviderFault
from agiraph.providers import gguf_child, gguf_files
from agiraph.providers.connection import LOCAL_IDLE, Account, Connection
from agiraph.providers.openai_chat import ChatWire, Dialect
from agiraph.providers.service import WireProvider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.conversation import Answer, Request

PROVIDER: Final = "gguf"
SDK: Final = "xllamacpp"
WINDOW: Final = 16_384
IDLE: Final = 300.0
ENDING: Final = 5.0
# What the child may know of our environment: no keys.
_PASSED: Final = (
    *("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "OMP_NUM_THREADS"),
    *("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GGML_BACKEND_PATH"),
)


def window_of(path: str) -> int:
    """The window that a file is served with, in tokens."""
    return min(gguf_files.window_of(path) or WINDOW, WINDOW)


@dataclass(slots=True)
class _Child:
    """A running server, and how it is asked."""

    process: subprocess.Popen[bytes]
    connection: Connection
    provider: WireProvider


class GgufProvider:
    """Asks one model file.

    Args:
        name: the model's whole name; path: its file.
        environment: of which the child gets what it needs.
        idle: seconds without a call after which the child is ended.
    """

    def __init__(
        self,
        name: str,
        path: str,
        environment: Mapping[str, str],
        *,
        idle: float = IDLE,
    ) -> None:
        self._name = name
        self._path = path
        self._environment = {
            key: environment[key] for key in _PASSED if key in environment
        }
        self._idle = idle
        self._child: _Child | None = None
        self._left: list[_Child] = []
        self._starting = asyncio.Lock()
        self._asking = 0
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, request: Request) -> Answer:
        """One whole answer; raises ProviderFault."""
        self._asking += 1
        self._forget_timer()
        try:
            child = await self._running()
            return await child.provider.ask(request)
        finally:
            self._asking -= 1
            self._arm_timer()

    async def close(self) -> None:
        """End the child."""
        self._forget_timer()
        await self._cleared(let_go=True)

    @property
    def process(self) -> int | None:
        """The child's process id, while there is one."""
        return self._child.process.pid if self._child else None

    # --- the child's life

    async def _running(self) -> _Child:
        async with self._starting:
            died = self._child is not None and self._child.process.poll() is not None
            await self._cleared(let_go=died)
            if self._child is None:
                self._child = await self._started()
            return self._child

    async def _cleared(self, *, let_go: bool) -> None:
        """Take leave of the children that were let go, perhaps of this one too."""
        if let_go:
            self._let_go()
        while self._left:
            child = self._left.pop()
            await child.connection.close()
            await asyncio.to_thread(_end, child.process)

    async def _started(self) -> _Child:
        key = secrets.token_urlsafe(16)
        process = await asyncio.to_thread(self._spawned)
        try:
            url = await asyncio.to_thread(self._address, process, key)
        except asyncio.CancelledError:
            process.kill()  # which ends the thread's wait, too
            raise
        account = Account(PROVIDER, "openai", f"{url}/v1", key, idle=LOCAL_IDLE)
        connection = Connection(account)
        provider = WireProvider(
            connection, lambda service: ChatWire(service, Dialect())
        )
        return _Child(process, connection, provider)

    def _spawned(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and script
            [sys.executable, "-P", gguf_child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,  # a Ctrl-C is for the daemon, which ends it
        )

    def _address(self, process: subprocess.Popen[bytes], key: str) -> str:
        """Tell the child what to serve, and wait until it says where."""
        wish = {
            "path": self._path,
            "name": self._name.partition("/")[2],
            "window": window_of(self._path),
            "key": key,
        }
        if process.stdin is None or process.stdout is None:
            raise LookupError("the child has pipes")
        said = b""
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(wish).encode() + b"\n")
            process.stdin.flush()
            said = process.stdout.readline()
        answer = json.loads(said) if said else {}
        if "url" not in answer:
            _end(process)
            raise self._not_loaded(str(answer.get("error") or "it ended at once"))
        return str(answer["url"])

    def _not_loaded(self, why: str) -> ProviderFault:
        words = (
            f"The model file {self._path} could not be loaded: {why}. Is it a whole "
            "GGUF file, and is there memory for it?"
        )
        return ProviderFault(Fault.MODEL, words)

    # --- its end

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm_timer(self) -> None:
        if not self._asking and self._child is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle, self._let_go)

    def _let_go(self) -> None:
        """Have the child end; the next call starts another.

        Nobody has asked for a while, and the memory is worth more than the start.
        """
        child, self._child = self._child, None
        if child is None:
            return
        self._left.append(child)
        if child.process.stdin is not None:
            with suppress(OSError):
                child.process.stdin.close()
        with suppress(RuntimeError):  # no loop: the whole process ends
            asyncio.get_running_loop().call_later(ENDING, child.process.poll)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a child end by itself, or end it."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
