"""A disk that fails for a while, at any call: nothing is lost, and work goes on.

```
python -m tests.crash.errors --points 500 --seed 7
```

At a call of a run, drawn at random, the disk begins to refuse, for two seconds and
every call of that kind, or for all of them; or writes take fewer bytes than they were
given. The daemon must not end; within ten seconds after the fault has passed the run
must be on its way; and at its end all must hold that holds without a fault.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.crash.faulty import CALLS
from tests.crash.invariants import check_end, leftovers
from tests.crash.point import Play, struck_at
from tests.crash.scenarios import BY_NAME
from tests.crash.sweep import count_calls
from tests.crash.tidy import tidy_end

if TYPE_CHECKING:
    from tests.crash.scenario import Scenario

KINDS = ("ENOSPC", "EIO", "EACCES", "EDQUOT", "EROFS", "EMFILE", "short")
SCENARIOS = ("drop", "inbox", "tools", "publish", "question", "trigger", "ageing")
LASTS = 2.0
RESUMES = 10.0
STARTS = 15  # the first calls are those of the start: see `early`
USUAL = 12.0  # seconds that a run takes at most where nothing fails, on a busy machine


@dataclass(frozen=True)
class Trial:
    """One fault: where it begins, what it is, and which calls it strikes."""

    scenario: Scenario
    at: int
    kind: str
    calls: tuple[str, ...]

    def fault(self, log: Path) -> dict[str, Any]:
        fault = {"at": self.at, "do": self.kind, "lasts": LASTS, "log": str(log)}
        return fault | {"calls": list(self.calls)}

    def __str__(self) -> str:
        words = f"--scenario {self.scenario.name} --at {self.at} --kind {self.kind}"
        return f"{words} --calls {','.join(self.calls)}"


def try_trial(trial: Trial, home: Path, *, usual: float = USUAL) -> bool:
    """Let the disk fail for a while; whether the fault struck.

    Args:
        usual: seconds that the run may take at most where nothing fails.

    Raises:
        AssertionError: a promise was broken.
    """
    log = home / "calls.log"
    play = Play(trial.scenario, home)
    daemon = play.daemon
    begun = time.monotonic()
    try:
        daemon.begin(trial.fault(log))
        assert play.until_end(), f"the daemon ended: {daemon.told()}"
        took = time.monotonic() - begun
        assert took < usual + LASTS + RESUMES, f"it took {took:.0f} s"
        daemon.until(lambda: _is_over(begun), "the fault is over")
        assert daemon.stop() == 0, daemon.told()
        daemon.start()  # takes away what could not be taken away
        daemon.until(lambda: not leftovers(daemon), "leftovers are gone")
        assert daemon.stop() == 0, daemon.told()
        check_end(trial.scenario, daemon, play.server, kills=0)
    finally:
        play.close()
    return bool(struck_at(log))


def _is_over(begun: float) -> bool:
    return time.monotonic() > begun + LASTS + 1.0


def draw(names: tuple[str, ...], count: int, chance: random.Random) -> list[Trial]:
    """So many trials from these scenarios."""
    sizes = {name: len(count_calls(BY_NAME[name])) for name in names}
    trials = []
    for _ in range(count):
        name = chance.choice(names)
        kind = chance.choice(KINDS)
        calls = ("write",) if kind == "short" else tuple(CALLS)
        most = sizes[name]
        if kind == "EMFILE":
            calls, most = ("open",), 2 * most
        elif kind != "short" and chance.random() < 0.5:
            calls = chance.choice((("write",), ("fsync", "fdatasync"), ("rename",)))
            most //= 3
        trials.append(Trial(BY_NAME[name], chance.randint(STARTS, most), kind, calls))
    return trials


def main(words: list[str]) -> int:
    """The command line; see the module's text."""
    args = _parser().parse_args(words)
    chance = random.Random(args.seed)
    names = (args.scenario,) if args.scenario else SCENARIOS
    if args.at:
        calls = tuple(args.calls.split(",")) if args.calls else CALLS
        trials = [Trial(BY_NAME[args.scenario], args.at, args.kind, calls)]
    else:
        trials = draw(names, args.points, chance)
    until = time.monotonic() + args.seconds
    said: Counter[str] = Counter()

    def one(trial: Trial) -> None:
        if time.monotonic() > until:
            return
        home = Path(tempfile.mkdtemp(prefix="agiraph-fault-"))
        try:
            struck = try_trial(trial, home)
            said["struck"] += struck
        except Exception:  # noqa: BLE001 - a broken point is told, and the sweep goes on
            said["broken"] += 1
            print(f"BROKEN {trial} in {home}\n{traceback.format_exc()}", flush=True)
            if args.keep:
                home = home / "nowhere"
        said["tried"] += 1
        if said["tried"] % 50 == 0:
            print(f"{said['tried']} of {len(trials)}", flush=True)
        shutil.rmtree(home, ignore_errors=True)

    with ThreadPoolExecutor(args.jobs) as crew:
        list(crew.map(one, trials))
    tried, struck, broken = said["tried"], said["struck"], said["broken"]
    print(f"seed {args.seed}: {tried} faults, {struck} struck, {broken} broken")
    return 1 if broken else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="the error sweep")
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=86400.0)
    parser.add_argument("--scenario", choices=SCENARIOS)
    parser.add_argument("--at", type=int, help="one fault only")
    parser.add_argument("--kind", choices=KINDS, default="EIO")
    parser.add_argument("--calls", default="")
    parser.add_argument("--keep", action="store_true", help="keep broken trees")
    return parser


if __name__ == "__main__":
    with tidy_end():
        code = main(sys.argv[1:])
    sys.exit(code)
