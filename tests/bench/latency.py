"""How soon a dropped goal is asked about, and a dropped message delivered."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

from tests.bench.gauge import Figure, middle, percentile
from tests.bench.house import daemon, drop, folder, light, until

if TYPE_CHECKING:
    from tests.bench.house import Light, Plan
    from tests.support.daemon import Daemon

SETTLING = 0.25


def measure(plan: Plan) -> list[Figure]:
    """Drop goals, then messages, one at a time into a daemon at rest."""
    times = 10 if plan.quick else 30
    with light() as server, folder(plan) as home, daemon(home, server) as at_work:
        _warm(at_work, server)
        goals = [_goal(at_work, server, number) for number in range(times)]
        plan.say(f"{times} goals dropped")
        mail = [_message(at_work, server, number) for number in range(times)]
        plan.say(f"{times} messages dropped")
    return [
        Figure("goal-median", "settled GOAL.md to request, median", *_ms(goals, 20)),
        Figure("goal-p99", "settled GOAL.md to request, p99", *_ms99(goals, 100)),
        Figure("mail-median", "_inbox/ rename to request, median", *_ms(mail, 100)),
        Figure("mail-p99", "_inbox/ rename to request, p99", *_ms99(mail, 200)),
    ]


def _ms(values: list[float], aim: float) -> tuple[float, str, float]:
    return middle(values) * 1000, "ms", aim


def _ms99(values: list[float], aim: float) -> tuple[float, str, float]:
    return percentile(values, 0.99) * 1000, "ms", aim


def _warm(at_work: Daemon, server: Light) -> None:
    """The first call loads the SDK, which is no latency of a daemon that runs."""
    drop(at_work, "warm", "messages/once", "mark-warm-0")
    _asked(server, "mark-warm-0")
    at_work.until_state("warm", "completed")
    time.sleep(1.0)


def _goal(at_work: Daemon, server: Light, number: int) -> float:
    mark = f"mark-goal-{number}"
    changed = drop(at_work, f"agent-{number:02}", "messages/once", f"Do {mark}.")
    asked = _asked(server, mark)
    at_work.until_state(f"agent-{number:02}", "completed")
    _pause()
    return asked - (changed + SETTLING)


def _message(at_work: Daemon, server: Light, number: int) -> float:
    mark = f"mark-mail-{number}"
    box = at_work.path("agent-00/_inbox")
    hidden = box / f".{mark}.tmp"
    hidden.write_text(f"Please note {mark}.\n", "utf-8")
    time.sleep(0.05)
    renamed = time.time()
    os.rename(hidden, box / f"{mark}.md")
    asked = _asked(server, mark)
    _pause()
    return asked - renamed


def _asked(server: Light, mark: str) -> float:
    until(lambda: mark in server.marks(), f"a request with {mark}")
    return server.marks()[mark]


def _pause() -> None:
    """At odd times, so that no step of the watcher is always met alike."""
    time.sleep(random.uniform(0.6, 0.8))
