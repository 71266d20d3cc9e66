"""What a restart does with each tool, killed before, in and after its effect.

```
python -m tests.crash.table                 # every tool, every moment
python -m tests.crash.table --tool publish
```

before: at the record of what is intended; after: at the record of the result, when the
effect is there; in: at a call from the one to the other. What only reads has no intent;
it is killed at the event that announces it instead. What parks is killed while parked.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.crash.point import Play, check_after, run_point
from tests.crash.rows import BY_TOOL, PARKED, ROWS, UNKNOWN
from tests.crash.scenario import Deed
from tests.crash.tidy import tidy_end

if TYPE_CHECKING:
    from tests.crash.doomed import Doomed
    from tests.crash.rows import Row

Fault = dict[str, Any]  # what `faulty` is told
MOMENTS = ("before", "in", "after", "parked")


def moments_of(row: Row) -> tuple[str, ...]:
    return MOMENTS if row.does == PARKED else MOMENTS[:3]


def calls_of(row: Row) -> list[str]:
    """The calls of an undisturbed run."""
    home = Path(tempfile.mkdtemp(prefix="agiraph-row-"))
    try:
        run_point(row.scenario, home, {"at": 0}, forget=False)
        return (home / "calls.log").read_text().splitlines()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def moment_of(row: Row, moment: str, lines: list[str], chance: random.Random) -> Fault:
    """The fault that kills at a moment, told by what is written and not by a number:
    how many calls there are before it differs from run to run.

    Args:
        lines: the calls of an undisturbed run; how long the step is, about.
    """
    mark = f'"tool": "{row.tool}"'
    record = '"kind": "intent"'
    announced = '"tool.called"'
    intended = any(record in line and mark in line for line in lines)
    intent = [record if intended else announced, mark]
    result = ['"role":"tool"', f'"name":"{row.tool}"']
    first, last = (_number_of(lines, words) for words in (intent, result))
    assert 0 < first < last, (row.tool, first, last)
    if moment == "before":
        return {"first": intent, "at": 1}
    if moment == "after":
        return {"first": result, "at": 1}
    return {"first": intent, "at": chance.randint(2, last - first + 1), "last": result}


def _number_of(lines: list[str], words: list[str]) -> int:
    """The first call whose line has all the words, from 1; 0 when none has."""
    of = (at for at, line in enumerate(lines, 1) if all(word in line for word in words))
    return next(of, 0)


def try_row(row: Row, moment: str, lines: list[str], chance: random.Random) -> None:
    """Kill at one moment, and hold the end against what the row says.

    Raises:
        AssertionError: a promise was broken.
    """
    home = Path(tempfile.mkdtemp(prefix="agiraph-row-"))
    forget = chance.random() < 0.5
    play: Doomed
    try:
        if moment == "parked":
            play = _killed_while_parked(row, home, forget=forget)
        else:
            fault = {**moment_of(row, moment, lines, chance), "do": "kill"}
            out = run_point(row.scenario, home, fault, forget=forget)
            assert out.struck, f"the kill did not come: {fault}"
            play = out.daemon
        found = [one for one in play.lines(row.log) if one.get("name") == row.tool]
        assert len(found) == 1, found
        unknown = row.does == UNKNOWN and moment != "before"
        assert bool(found[0].get("error")) == unknown, found
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _killed_while_parked(row: Row, home: Path, *, forget: bool) -> Doomed:
    def kill(daemon: Doomed) -> None:
        os.kill(daemon.pid, signal.SIGKILL)

    dropped, waited, *rest = row.scenario.deeds
    deeds = (dropped, Deed(waited.fact, kill), waited, *rest)
    play = Play(replace(row.scenario, deeds=deeds), home)
    try:
        play.daemon.begin()
        assert not play.until_end(), "it was not killed"
        check_after(play, home, forget=forget)
    finally:
        play.close()
    return play.daemon


def main(words: list[str]) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(description="the table of tools")
    parser.add_argument("--tool", choices=sorted(BY_TOOL))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args(words)
    chance = random.Random(args.seed)
    broken = tried = 0
    for row in (BY_TOOL[args.tool],) if args.tool else ROWS:
        said = []
        lines = calls_of(row)
        for moment in moments_of(row):
            tried += 1
            try:
                try_row(row, moment, lines, chance)
                said.append(moment)
            except Exception:  # noqa: BLE001 - told, and the table goes on
                broken += 1
                said.append(f"{moment}: BROKEN")
                traceback.print_exc()
        print(f"{row.tool:18} {row.does:50} {', '.join(said)}", flush=True)
    print(f"seed {args.seed}: {tried} kills, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    with tidy_end():
        code = main(sys.argv[1:])
    sys.exit(code)
