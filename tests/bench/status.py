"""How long `agiraph status` takes as a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.bench.gauge import Figure, middle

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.daemon import Daemon

TIMES = 7
AIM = 250.0


def cold(at_work: Daemon, name: str, what: str) -> Figure:
    """The median of several fresh processes; compiled files are there, as installed."""
    took = [_once(at_work, at_work.home) for _ in range(TIMES + 1)][1:]
    return Figure(name, what, middle(took) * 1000, "ms", AIM)


def _once(at_work: Daemon, home: Path) -> float:
    words = [sys.executable, "-m", "agiraph", "status", "--agents", str(at_work.root)]
    environment = dict(at_work.environment)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    with open(os.devnull, "wb") as nothing:
        subprocess.run(words, env=environment, cwd=home, stdout=nothing, check=True)
    return time.perf_counter() - began
