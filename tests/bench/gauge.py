"""What is measured with: the clocks of other processes, and figures beside aims."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used, all threads, to the nanosecond.

    Linux gives each process a CPU clock; its number is made from the process id as in
    clock_getcpuclockid(3).
    """
    return time.clock_gettime((~pid << 3) | 2)


def memory_of(pid: int) -> dict[str, float]:
    """MB in memory now (`VmRSS`) and at most (`VmHWM`), from /proc/<pid>/status."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    pairs = (line.split(":", 1) for line in lines if line.startswith("Vm"))
    return {key: int(value.split()[0]) / 1024 for key, value in pairs}


def watches_of(pid: int) -> int:
    """How many folders the kernel watches for a process.

    Source: proc(5), fdinfo of inotify descriptors.
    """
    files = Path(f"/proc/{pid}/fdinfo").iterdir()
    return sum(file.read_bytes().count(b"inotify wd:") for file in files)


def middle(values: list[float]) -> float:
    return statistics.median(values)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        aim: what it should be at most; None where nothing was promised.
    """

    name: str
    what: str
    value: float
    unit: str
    aim: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The figure as a share of its aim: 1 or less is met."""
        return None if not self.aim else self.value / self.aim
