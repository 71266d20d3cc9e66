"""`python -m tests.bench`: the figures of this machine, beside their aims.

It runs the process that ships: real daemons with their records on, real files, and a
model server on loopback that answers at once. Each figure is told as it was measured
and as a ratio to its aim; 1 or less is met.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import cache, crowd, gate, idle, latency, turns
from tests.bench.house import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.gauge import Figure

PARTS = {
    "latency": latency.measure,
    "turns": turns.measure,
    "crowd": crowd.measure,
    "gate": gate.measure,
    "cache": cache.measure,
    "idle": idle.measure,
}


def main(words: Sequence[str] | None = None) -> int:
    """Measure what was asked for, and print it."""
    asked = _asked(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that daemons end too
    plan = Plan(quick=asked.quick, folder=asked.dir, say=_say)
    figures: list[Figure] = []
    for name in asked.only or PARTS:
        _say(f"-- {name}")
        figures += PARTS[name](plan)
    if asked.json:
        print(json.dumps({"machine": machine(), "figures": _told(figures)}, indent=1))
    else:
        print(table(figures))
    return 0


def _asked(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS), metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="where trees are made; choose a folder on a disk",
    )
    return parser.parse_args(words)


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def table(figures: list[Figure]) -> str:
    """One line for each figure."""
    rows = [("what", "measured", "aim", "of its aim", "")]
    for one in figures:
        aim = "" if one.aim is None else f"{one.aim:g} {one.unit}"
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        rows.append((one.what, f"{one.value:.2f} {one.unit}", aim, ratio, one.note))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    head = ", ".join(f"{key} {value}" for key, value in machine().items())
    return "\n".join([head, "", *(line.rstrip() for line in lines)])


def _told(figures: list[Figure]) -> list[dict[str, object]]:
    return [asdict(one) | {"ratio": one.ratio} for one in figures]


def _say(words: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {words}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
