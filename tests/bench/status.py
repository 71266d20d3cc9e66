"""How long `agiraph status` takes as a fresh process."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.bench.gauge import Figure, middle

if TYPE_CHECKING:
    from tests.support.daemon import Daemon

TIMES = 7
AIM = 250.0


def cold(at_work: Daemon, name: str, what: str) -> Figure:
    """The median of several fresh processes; compiled files are there, as installed."""
    words = ["-m", "agiraph", "status", "--agents", str(at_work.root)]
    wall, cpu = _median(at_work, words)
    return Figure(name, what, wall * 1000, "ms", AIM, f"CPU {cpu * 1000:.0f} ms")


def bare(at_work: Daemon) -> Figure:
    """The floor: a Python that does nothing."""
    wall, cpu = _median(at_work, ["-c", "pass"])
    note = f"CPU {cpu * 1000:.0f} ms"
    return Figure("python", "python -c pass, cold", wall * 1000, "ms", None, note)


def _median(at_work: Daemon, words: list[str]) -> tuple[float, float]:
    took = [_once(at_work, words) for _ in range(TIMES + 1)][1:]
    return middle([wall for wall, _ in took]), middle([cpu for _, cpu in took])


def _once(at_work: Daemon, words: list[str]) -> tuple[float, float]:
    environment = dict(at_work.environment)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began, before = time.perf_counter(), _cpu_of_children()
    subprocess.run(
        [sys.executable, *words],
        env=environment,
        cwd=at_work.home,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began, _cpu_of_children() - before


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
