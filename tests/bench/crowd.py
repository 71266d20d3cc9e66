"""A hundred workers at once, ten turns each: time, CPU, memory, flushes."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.bench.gauge import Figure, memory_of
from tests.bench.house import daemon, drop, folder, light

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.bench.house import Light, Plan
    from tests.support.daemon import Daemon

WORKERS = 100
TURNS = 10
AIM = 5.0


def measure(plan: Plan) -> list[Figure]:
    """One run of one agent; where strace is there, a second one under it."""
    with light() as server, folder(plan) as home, daemon(home, server) as at_work:
        _warm(at_work)
        notes = _crowd(at_work, server, "crowd")
        memory = memory_of(at_work.pid)["VmHWM"]
        plan.say("the crowd is done")
        flushes = None
        if not plan.quick and shutil.which("strace"):
            with _strace(at_work.pid, home / "strace.txt"):
                _crowd(at_work, server, "counted")
            flushes = _flushes(home / "strace.txt")
    asked = [note for note in notes if note["model"] == f"worker-{TURNS}"]
    wall = asked[-1]["at"] - asked[0]["at"]
    cpu = asked[-1]["cpu"] - asked[0]["cpu"]
    what = f"{WORKERS} workers, {TURNS} turns each"
    found = [
        Figure("crowd-wall", f"{what}, all together", wall, "s", AIM),
        Figure("crowd-turn", f"{what}, CPU a turn", cpu / len(asked) * 1000, "ms"),
        Figure("crowd-calls", f"{what}, model calls", len(asked), "calls"),
        Figure("crowd-memory", f"{what}, most memory", memory, "MB"),
    ]
    if flushes is not None:
        each = flushes / (WORKERS * TURNS)
        found.append(Figure("crowd-flushes", f"{what}, flushes a turn", each, ""))
    return found


def _warm(at_work: Daemon) -> None:
    drop(at_work, "warm", "chat/turns-3", "Read three lines.")
    at_work.until_state("warm", "completed")


def _crowd(at_work: Daemon, server: Light, agent: str) -> list[dict[str, Any]]:
    server.watch(at_work.pid)
    drop(
        at_work,
        agent,
        f"chat/crowd-{WORKERS}",
        "Have the lines read.",
        worker_model=f"chat/worker-{TURNS}",
        max_workers=str(WORKERS),
        limits=f"{{nodes: {2 * WORKERS}}}",
    )
    at_work.until_state(agent, "completed", seconds=300)
    return server.notes()


@contextmanager
def _strace(pid: int, out: Path) -> Iterator[None]:
    words = ["strace", "-f", "-c", "-e", "trace=fsync,fdatasync", "-o", str(out)]
    tracer = subprocess.Popen([*words, "-p", str(pid)], stderr=subprocess.PIPE)
    assert tracer.stderr is not None
    tracer.stderr.readline()  # it says when it has attached
    try:
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=30)


def _flushes(out: Path) -> int | None:
    """Calls of fsync and fdatasync in strace's summary; None where it was refused."""
    rows = re.findall(
        r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s.*\bf(?:data)?sync$",
        out.read_text("utf-8", "replace") if out.exists() else "",
        re.MULTILINE,
    )
    return sum(int(row) for row in rows) or None
