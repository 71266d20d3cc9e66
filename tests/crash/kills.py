"""Kills at random moments of a run with two workers whose commands leave traces.

```
python -m tests.crash.kills --kills 200 --seed 7
```

Each worker runs one command after the other until it is told that it is enough; each
command adds a line of its own to a file outside the tree. At the end no line stands
there twice, and none is missing whose caller was not told that its command was cut off.
The models' server refuses whatever changes an earlier part of a conversation.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.doomed import Doomed
from tests.crash.invariants import CUT_OFF, check_end, conversations, whole_lines
from tests.crash.scenario import AGENT, GOAL, RUN, Scenario
from tests.crash.tidy import tidy_end
from tests.support import cast as acting
from tests.support.cast import cast
from tests.support.model_server import ModelServer, call, say

if TYPE_CHECKING:
    from tests.support.cast import Part
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

WORKERS = ("left", "right")
LONGEST = 90.0


class Enough:
    """Whether the workers are to hand in what they have."""

    def __init__(self) -> None:
        self.now = False


def play_of(enough: Enough, effects: Path) -> dict[str, Part]:
    """Who says what; how far each is, its own conversation tells."""

    def coordinator(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return [
                call(
                    "create_work_node",
                    id=name,
                    task="Leave traces.",
                    worker=name.title(),
                    max_turns=100_000,
                )
                for name in WORKERS
            ]
        known = acting.told(asked)
        if all(f"[node {name} completed" in known for name in WORKERS):
            return call("finish", summary="Both have left their traces.")
        return say("I wait for both.")

    def worker(asked: Asked) -> Scripted:
        last = asked.results[-1] if asked.results else None
        if last is not None and last.name == "write_file":
            return call("publish", summary="These are my traces.")
        if enough.now:
            return call("write_file", path="scratch/t.md", content="traces\n")
        line = f"{asked.node}-{asked.turn}"
        pause = 0.02 * (asked.turn % 5)
        words = f"echo {line} >> {effects}; sleep {pause:g}; echo {line} is done"
        return call("bash", command=words)

    return {"coordinator": coordinator, **dict.fromkeys(WORKERS, worker)}


def commands(daemon: Doomed) -> tuple[list[str], list[str]]:
    """The traces that commands were to leave, and those whose command was cut off."""
    asked, cut = [], []
    for path in conversations(daemon.root):
        lines: dict[str, str] = {}
        for line in whole_lines(path):
            for each in line.get("tool_calls", ()):
                if each["name"] == "bash":
                    trace = json.dumps(each["arguments"]).split()[2]
                    lines[each["id"]] = trace
                    asked.append(trace)
            told = line["content"] if line.get("name") == "bash" else ""
            if any(words in told for words in CUT_OFF):
                cut.append(lines[line["call_id"]])
    return asked, cut


def run_kills(home: Path, kills: int, chance: random.Random) -> str:
    """Kill it so many times; a sentence on what came of it.

    Raises:
        AssertionError: a promise was broken.
    """
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # killed clients are no news
    enough, effects = Enough(), home / "effects"
    with ModelServer(cast(**play_of(enough, effects))) as server:
        daemon = Doomed(home, server.environment())
        try:
            daemon.write(f"{AGENT}/GOAL.md", GOAL)
            for _ in range(kills):
                daemon.start()
                wait_a_while(daemon, effects, chance)
                assert not daemon.dead, f"it died by itself: {daemon.told()}"
                daemon.kill()
                if chance.random() < 0.5:
                    shutil.rmtree(daemon.root / ".agiraph", ignore_errors=True)
            enough.now = True
            daemon.start()
            daemon.until_state(AGENT, "completed", seconds=LONGEST)
            assert daemon.stop() == 0, daemon.told()
        finally:
            daemon.kill()
        check_end(SCENARIO, daemon, server, kills=kills)
        return _traces(daemon, effects) + f", {len(server.requests)} model calls"


def wait_a_while(daemon: Doomed, effects: Path, chance: random.Random) -> None:
    """Until a few more traces are there and a moment has passed; now and then less."""
    if chance.random() < 0.2:
        time.sleep(chance.uniform(0.05, 1.0))
        return
    before = effects.stat().st_size if effects.exists() else 0
    more, until = chance.randint(1, 40), time.monotonic() + 6.0
    while time.monotonic() < until and not daemon.dead:
        if effects.exists() and effects.stat().st_size >= before + more:
            break
        time.sleep(0.01)
    time.sleep(chance.uniform(0.0, 0.1))


def _traces(daemon: Doomed, effects: Path) -> str:
    done = Counter(effects.read_text().split() if effects.exists() else [])
    asked, cut = commands(daemon)
    assert len(set(asked)) == len(asked), "a call was made twice"
    missing = [trace for trace in asked if not done[trace] and trace not in cut]
    assert not missing, f"missing without a word: {missing}"
    unasked = [trace for trace in done if trace not in asked]
    assert not unasked, f"done, but never asked for: {unasked}"
    return f"{len(asked)} commands, {len(done)} traces, {len(cut)} cut off and told"


def _holds(daemon: Doomed) -> None:
    for name in WORKERS:
        assert daemon.read(f"{RUN}/nodes/{name}/published/t.md") == "traces\n"


SCENARIO = Scenario("kills", lambda file: cast(), (), _holds)


def main(words: list[str]) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(description="random kills")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args(words)
    home = Path(tempfile.mkdtemp(prefix="agiraph-kills-"))
    print(f"seed {args.seed}, in {home}", flush=True)
    said = run_kills(home, args.kills, random.Random(args.seed))
    print(f"seed {args.seed}: {args.kills} kills, 0 broken: {said}")
    shutil.rmtree(home, ignore_errors=True)
    return 0


if __name__ == "__main__":
    with tidy_end():
        code = main(sys.argv[1:])
    sys.exit(code)
