"""Kill the daemon at every call that changes the disk, and look at what comes of it.

```
python -m tests.crash.sweep --points 2000 --seed 7        # the full sweep
python -m tests.crash.sweep --scenario publish --at 41 --do torn --keep
python -m tests.crash.sweep --by strace --points 200 --seed 7
```

The calls of each scenario are counted first (or with strace, for each thread alone);
then points are drawn from all of them, without repeats, until there are none left: a
point is a call and a way to die there, at it, just after it, or in the middle of a
write. It prints the seed, every broken point with the line that repeats it, and the
sum; its exit code is 1 when a point was broken.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.doomed import STRACED
from tests.crash.point import run_point
from tests.crash.scenarios import ALL, BY_NAME
from tests.crash.tidy import tidy_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.crash.scenario import Scenario

DEATHS = ("kill", "after", "torn")
NEVER = 65535  # the largest number that strace takes


@dataclass(frozen=True)
class Point:
    """Where to die; `call` is set where strace injects the kill."""

    scenario: Scenario
    at: int
    do: str
    forget: bool
    call: str = ""

    def fault(self) -> dict[str, object]:
        if self.call:
            return {"strace": self.call, "at": self.at, "do": "signal=KILL"}
        return {"at": self.at, "do": self.do}

    def __str__(self) -> str:
        words = f"--scenario {self.scenario.name} --at {self.at}"
        words += f" --by strace --call {self.call}" if self.call else f" --do {self.do}"
        return words + (" --forget" if self.forget else "")


@dataclass(frozen=True)
class Tried:
    """A point and what came of it; `broken` is empty when all held."""

    point: Point
    struck: bool
    place: str
    broken: str


def count_calls(scenario: Scenario) -> list[str]:
    """The calls of an undisturbed run, as the injector names them."""
    home = Path(tempfile.mkdtemp(prefix="agiraph-count-"))
    try:
        run_point(scenario, home, {"at": 0}, forget=False)
        return (home / "calls.log").read_text().splitlines()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def count_straced(scenario: Scenario) -> Counter[str]:
    """The most calls of each kind that one thread of an undisturbed run makes."""
    home = Path(tempfile.mkdtemp(prefix="agiraph-count-"))
    fault = {"strace": STRACED, "at": NEVER, "do": "signal=KILL"}
    try:
        run_point(scenario, home, fault, forget=False)
        text = (home / "strace.log").read_text()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    threads = Counter(re.findall(r"^(\d+) +(\w+)\(", text, re.MULTILINE))
    most: Counter[str] = Counter()
    for (_, call), count in threads.items():
        most[call] = max(most[call], count)
    return most


def points_of(scenario: Scenario, chance: random.Random) -> Iterator[Point]:
    """Every point of a scenario; a write has a middle to die in too."""
    for line in count_calls(scenario):
        number, name, _ = line.split(" ", 2)
        for do in DEATHS if name == "write" else DEATHS[:2]:
            yield Point(scenario, int(number), do, chance.random() < 0.5)


def straced_points(scenario: Scenario, chance: random.Random) -> Iterator[Point]:
    for call, most in count_straced(scenario).items():
        for number in range(1, most + 1):
            yield Point(scenario, number, "kill", chance.random() < 0.5, call)


def try_point(point: Point, *, keep: bool = False) -> Tried:
    """Run one point in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="agiraph-crash-"))
    try:
        out = run_point(point.scenario, home, point.fault(), forget=point.forget)
    except Exception:  # noqa: BLE001 - a broken point is told, and the sweep goes on
        if not keep:
            shutil.rmtree(home, ignore_errors=True)
        else:
            print(f"kept: {home}", flush=True)
        return Tried(point, struck=True, place="", broken=traceback.format_exc())
    shutil.rmtree(home, ignore_errors=True)
    return Tried(point, out.struck, out.place, "")


def draw(
    scenarios: tuple[Scenario, ...], count: int, chance: random.Random, *, strace: bool
) -> list[Point]:
    """So many points, from all scenarios alike."""
    found = straced_points if strace else points_of
    pool = [point for scenario in scenarios for point in found(scenario, chance)]
    print(f"{len(pool)} points in {len(scenarios)} scenarios", flush=True)
    chance.shuffle(pool)
    return pool[:count]


def sweep(points: list[Point], *, jobs: int, keep: bool, seconds: float) -> list[Tried]:
    """Try them all, some at a time, as long as there is time."""
    until = time.monotonic() + seconds
    done: list[Tried] = []

    def one(point: Point) -> None:
        if time.monotonic() > until:
            return
        tried = try_point(point, keep=keep)
        done.append(tried)
        if tried.broken:
            print(f"BROKEN {point}\n{tried.broken}", flush=True)
        elif len(done) % 50 == 0:
            print(f"{len(done)} of {len(points)}", flush=True)

    with ThreadPoolExecutor(jobs) as crew:
        list(crew.map(one, points))
    return done


def main(words: list[str]) -> int:
    """The command line; see the module's text."""
    args = _parser().parse_args(words)
    chance = random.Random(args.seed)
    strace = args.by == "strace"
    scenarios = (BY_NAME[args.scenario],) if args.scenario else ALL
    if args.at:
        do = args.do or "kill"
        points = [Point(scenarios[0], args.at, do, args.forget, args.call)]
    else:
        points = draw(scenarios, args.points, chance, strace=strace)
    done = sweep(points, jobs=args.jobs, keep=args.keep, seconds=args.seconds)
    broken = sum(bool(tried.broken) for tried in done)
    struck = sum(tried.struck for tried in done)
    print(
        f"seed {args.seed}: {len(done)} points, {struck} killed the daemon, "
        f"{broken} broken"
    )
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="the kill sweep")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=86400.0)
    parser.add_argument("--scenario", choices=sorted(BY_NAME))
    parser.add_argument("--by", choices=("count", "strace"), default="count")
    parser.add_argument("--at", type=int, help="one point only")
    parser.add_argument("--do", choices=DEATHS)
    parser.add_argument("--call", default="")
    parser.add_argument("--forget", action="store_true", help="delete .agiraph/")
    parser.add_argument("--keep", action="store_true", help="keep broken trees")
    return parser


if __name__ == "__main__":
    with tidy_end():
        code = main(sys.argv[1:])
    sys.exit(code)
