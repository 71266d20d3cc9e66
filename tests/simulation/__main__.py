"""Run seeds of the simulation: `python -m tests.simulation --seeds 1000`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.run import simulate

SLOWEST = 60  # seconds of CPU for one seed; most take less than one


def main() -> int:
    """Run the seeds; 1 when one of them failed."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Sets of texts are walked through in an order that hangs on this.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(
            sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        )
    asked = _arguments()
    if asked.seed is not None:
        return _one(asked.seed, verbose=asked.verbose)
    return _many(range(asked.first, asked.first + asked.seeds), asked.jobs)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="this seed alone, with its story")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verbose", action="store_true", help="every disk operation")
    return parser.parse_args()


def _one(seed: int, *, verbose: bool) -> int:
    told = simulate(seed, verbose=verbose)
    print("\n".join(told.log))
    return _say(seed, told.broken)


def _quietly(seed: int) -> tuple[int, list[str], tuple[int, int, int, float]]:
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, SLOWEST)
    try:
        told = simulate(seed)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return seed, told.broken, (told.crashes, told.calls, told.letters, told.virtual)


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"more than {SLOWEST} s of CPU: it goes round in circles")


def _many(seeds: range, jobs: int) -> int:
    started, failed = time.monotonic(), 0
    sums = [0.0, 0.0, 0.0, 0.0]
    with ProcessPoolExecutor(jobs) as pool:
        for seed, broken, counts in pool.map(_quietly, seeds, chunksize=4):
            failed += _say(seed, broken)
            sums = [one + more for one, more in zip(sums, counts, strict=True)]
    took = time.monotonic() - started
    crashes, calls, letters, virtual = sums
    print(
        f"{len(seeds)} seeds ({seeds.start} to {seeds.stop - 1}), {failed} failed; "
        f"{crashes:.0f} crashes, {calls:.0f} model calls, {letters:.0f} letters, "
        f"{virtual / 3600:.1f} hours in {took:.0f} s"
    )
    return 1 if failed else 0


def _say(seed: int, broken: list[str]) -> int:
    if not broken:
        return 0
    for words in broken[:6]:
        print(f"  {words}")
    print(f"FAILED: python -m tests.simulation --seed {seed}", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
