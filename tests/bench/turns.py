"""What a turn costs, beside a bare httpx loop and the SDKs that make the same calls."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.bench.gauge import Figure, middle
from tests.bench.house import daemon, drop, folder, light
from tests.support.daemon import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.house import Light, Plan
    from tests.support.daemon import Daemon

WIRES = ("messages", "chat", "responses", "gemini")
LENGTHS = (10, 50, 200)
AIM = 2.0
Cost = tuple[float, float]


def measure(plan: Plan) -> list[Figure]:
    """Rounds of daemon, httpx loop and SDK after each other, on every wire."""
    found: list[Figure] = []
    with light() as server, folder(plan) as home, daemon(home, server) as at_work:
        for wire in WIRES:
            _daemon(at_work, server, wire, 10, "warm")
        for wire in WIRES:
            for turns in LENGTHS:
                rounds = _rounds(turns, quick=plan.quick)
                costs = [
                    _round(at_work, server, wire, turns, number)
                    for number in range(rounds)
                ]
                found += _figures(wire, turns, costs)
                plan.say(f"{wire}, {turns} turns")
    return found


def _rounds(turns: int, *, quick: bool) -> int:
    if quick:
        return 1
    return 7 if turns == 10 else 3


def _round(
    at_work: Daemon, server: Light, wire: str, turns: int, number: int
) -> dict[str, Cost]:
    ours = _daemon(at_work, server, wire, turns, str(number))
    first = at_work.home / f"first-{wire}.json"
    first.write_bytes(server.first(f"{wire}/turns-{turns}"))
    found = {"agiraph": ours, "httpx": _bare("httpx", server, wire, turns, first)}
    if wire != "gemini":  # its SDK takes no conversation as it goes over the wire
        found["sdk"] = _bare("sdk", server, wire, turns, first)
    return found


def _figures(wire: str, turns: int, costs: list[dict[str, Cost]]) -> list[Figure]:
    found = []
    what = f"{wire}, {turns} turns"
    for name in costs[0]:
        wall = middle([cost[name][0] for cost in costs])
        cpu = middle([cost[name][1] for cost in costs])
        note = f"wall {wall:.2f} ms"
        found.append(
            Figure(
                f"{wire}-{turns}-{name}", f"{what}, {name}", cpu, "ms CPU", None, note
            )
        )
    over = middle([cost["agiraph"][1] - cost["httpx"][1] for cost in costs])
    name, words = f"{wire}-{turns}-over", f"{what}, over httpx"
    return [*found, Figure(name, words, over, "ms CPU", AIM)]


def _daemon(at_work: Daemon, server: Light, wire: str, turns: int, number: str) -> Cost:
    agent = f"{wire}-{turns}-{number}"
    server.watch(at_work.pid)
    drop(at_work, agent, f"{wire}/turns-{turns}", "Read the lines.")
    at_work.until_state(agent, "completed", seconds=120)
    return _cost(server.notes(), turns)


def _bare(kind: str, server: Light, wire: str, turns: int, first: Path) -> Cost:
    words = [kind, wire, str(turns), server.base, str(first)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.client", *words],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    server.watch(process.pid)
    process.communicate("go\n", timeout=300)
    return _cost(server.notes(), turns)


def _cost(notes: list[dict[str, Any]], turns: int) -> Cost:
    """Wall and CPU in ms for each turn, from the first request to the last."""
    assert len(notes) == turns, f"{len(notes)} requests instead of {turns}"
    steps = (turns - 1) / 1000
    wall = notes[-1]["at"] - notes[0]["at"]
    return wall / steps, (notes[-1]["cpu"] - notes[0]["cpu"]) / steps
