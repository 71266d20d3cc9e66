"""What every measurement needs: the light server, and a daemon that asks it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.daemon import PROJECT, Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETTINGS = """\
reflection: false
max_agents: 200
providers:
  messages: {{kind: anthropic, base_url: "{base}", api_key_env: BENCH_KEY}}
  chat: {{kind: openai, base_url: "{base}/v1", api_key_env: BENCH_KEY, wire_api: chat}}
  responses: {{kind: openai, base_url: "{base}/v1", api_key_env: BENCH_KEY,
    wire_api: responses}}
  gemini: {{kind: gemini, base_url: "{base}", api_key_env: BENCH_KEY}}
"""
KEY = "bench-key-0123456789"
LINES = "".join(f"Line {n}: the lamp was lit at dusk.\n" for n in range(1, 401))


@dataclass
class Plan:
    """How much is measured, and where.

    Attributes:
        folder: where trees are made; a disk, not memory.
    """

    quick: bool
    folder: Path
    say: Callable[[str], None]


class Light:
    """The light server as a process, and what it noted."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.light"],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.base = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def watch(self, pid: int) -> None:
        """Begin anew, and note the CPU of this process with each request."""
        self._ask("/watch", str(pid).encode())

    def notes(self) -> list[dict[str, Any]]:
        return list(json.loads(self._ask("/notes")))

    def marks(self) -> dict[str, float]:
        return dict(json.loads(self._ask("/marks")))

    def first(self, name: str) -> bytes:
        """The first body of a conversation, by `wire/model`."""
        return self._ask(f"/first/{name}")

    def _ask(self, path: str, body: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.base + path, body, timeout=30) as answer:
            return bytes(answer.read())


@contextmanager
def light() -> Iterator[Light]:
    server = Light()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def folder(plan: Plan) -> Iterator[Path]:
    """A folder for one measurement, taken away after it."""
    made = Path(tempfile.mkdtemp(prefix="agiraph-bench-", dir=plan.folder))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def daemon(home: Path, server: Light) -> Daemon:
    """A daemon, not started, whose tree knows the light server on three wires."""
    made = Daemon(home, {"BENCH_KEY": KEY})
    made.write("agiraph.yaml", SETTINGS.format(base=server.base))
    return made


@contextmanager
def ended(started: Daemon) -> Iterator[Daemon]:
    """A daemon that is started and stopped in between; none is left, whatever fails."""
    try:
        yield started
    finally:
        started.kill()


def drop(where: Daemon, agent: str, model: str, words: str, **settings: str) -> float:
    """Drop a GOAL.md with its inputs; the time at which it was changed last."""
    where.write(f"{agent}/inputs/lines.txt", LINES)
    head = {"model": model, **settings}
    lines = "".join(f"{key}: {value}\n" for key, value in head.items())
    made = where.write(f"{agent}/GOAL.md", f"---\n{lines}---\n{words}\n")
    return made.stat().st_ctime


def until(fact: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait, looking often but cheaply."""
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            msg = f"waited {seconds:g} s in vain: {what}"
            raise TimeoutError(msg)
        time.sleep(0.01)
