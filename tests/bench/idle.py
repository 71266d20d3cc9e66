"""What a thousand finished agents cost: start, idle CPU, memory, status."""

from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING

from tests.bench import status
from tests.bench.gauge import Figure, cpu_of, memory_of, watches_of
from tests.bench.house import daemon, drop, ended, folder, light, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.house import Plan
    from tests.support.daemon import Daemon

AGENTS = 1000
WORKERS = 3  # of each agent, with a node for each
WATCHED = 10_000  # folders at least
SEED = "agent-0000"
LOOKED = b"all looked at"
CACHE = ".agiraph/at_rest.json"


def measure(plan: Plan) -> list[Figure]:
    """Let one agent really finish, copy it, and start a daemon on all of them."""
    found: list[Figure] = []
    with (
        light() as server,
        folder(plan) as home,
        ended(daemon(home, server)) as at_work,
    ):
        with at_work:
            _finish(at_work)
        found.append(status.bare(at_work))
        found.append(status.cold(at_work, "status-1", "agiraph status, cold, 1 agent"))
        _copy(at_work.root)
        plan.say(f"{AGENTS} agents made")
        # The first start meets agents that it has never seen; the second is usual.
        first = _start(at_work)
        until(lambda: _resting(at_work) >= AGENTS, "all rest", 300)
        at_work.stop()
        again = _start(at_work)
        found += _starts(first, again)
        found += _rest(at_work, 10.0 if plan.quick else 60.0)
        name = f"agiraph status, cold, {AGENTS} agents"
        found.append(status.cold(at_work, f"status-{AGENTS}", name))
        at_work.stop()
    return found


def _finish(at_work: Daemon) -> None:
    drop(
        at_work,
        SEED,
        f"chat/crowd-{WORKERS}",
        "Have the lines read.",
        worker_model="chat/worker-10",
        max_workers=str(WORKERS),
    )
    at_work.until_state(SEED, "completed")


def _copy(root: Path) -> None:
    """As many agents with other names: what a daemon would have left of each."""
    for number in range(1, AGENTS):
        name = f"agent-{number:04}"
        shutil.copytree(root / SEED, root / name)
        for path in (root / name).rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                if SEED.encode() in data:
                    path.write_bytes(data.replace(SEED.encode(), name.encode()))


def _resting(at_work: Daemon) -> int:
    """How many agents the next daemon will find at rest."""
    if not at_work.there(CACHE):
        return 0
    return len(json.loads(at_work.read(CACHE))["agents"])


def _start(at_work: Daemon) -> tuple[float, float, float]:
    """Seconds until it watches, and until all were looked at; CPU until then."""
    before = at_work.log.stat().st_size
    began = time.perf_counter()
    at_work.start()
    watching = time.perf_counter() - began
    until(lambda: LOOKED in at_work.log.read_bytes()[before:], "all are looked at", 120)
    return watching, time.perf_counter() - began, cpu_of(at_work.pid)


def _starts(
    first: tuple[float, float, float], again: tuple[float, float, float]
) -> list[Figure]:
    what = f"start with {AGENTS} agents"
    new, known = f"CPU {first[2]:.1f} s", f"CPU {again[2]:.1f} s"
    return [
        Figure("start-new", f"{what}, none seen before", first[1], "s", None, new),
        Figure("start", f"{what}, until all are looked at", again[1], "s", 2.0, known),
        Figure("start-watch", f"{what}, until it watches", again[0], "s"),
    ]


def _rest(at_work: Daemon, seconds: float) -> list[Figure]:
    time.sleep(5.0)
    began, cpu = time.perf_counter(), cpu_of(at_work.pid)
    time.sleep(seconds)
    share = (cpu_of(at_work.pid) - cpu) / (time.perf_counter() - began) * 100
    memory, watched = memory_of(at_work.pid), watches_of(at_work.pid)
    if watched < WATCHED:
        msg = f"{watched} folders are watched, and {WATCHED} should be"
        raise AssertionError(msg)
    note = f"over {seconds:.0f} s, {watched} folders watched"
    return [
        Figure("idle", f"idle with {AGENTS} agents", share, "% of a core", 0.2, note),
        Figure("memory", f"memory with {AGENTS} agents", memory["VmRSS"], "MB", 150.0),
        Figure("memory-peak", "the most until then", memory["VmHWM"], "MB"),
    ]
