"""Watching in a process of its own, led by lines: for limits and rights of a process.

```
python -m tests.support.watching ROOT [--nobody]
```

It reads lines from its input: `watch NAME FOLDER…` (a group and its folders below
ROOT), `most NUMBER` (how many watches its user namespace may have), `end`. It writes a
line of JSON for each hint and each report. With `--nobody` it gives up root's rights.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path, PurePosixPath
from queue import Empty, Queue
from typing import Any, Self

import watchfiles  # noqa: F401 - before the rights to read it are given up

from agiraph.watcher import FolderWatch

LIMIT = Path("/proc/sys/user/max_inotify_watches")
NOBODY = 65534
PATIENCE = 30.0
PROJECT = Path(__file__).resolve().parents[2]


class Watching:
    """The process, from a test's side."""

    def __init__(self, root: Path, *words: str, own_limits: bool = False) -> None:
        head = ["unshare", "-U", "-r"] if own_limits else []
        self._process = subprocess.Popen(
            [*head, sys.executable, "-m", "tests.support.watching", str(root), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )
        self._said: Queue[dict[str, Any]] = Queue()
        self.told: list[dict[str, Any]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def say(self, *words: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def hears(self, key: str, what: str) -> str:
        """Wait for a hint (`hint`) or a report (`words`) that holds this."""
        while True:
            try:
                line = self.next()
            except Empty:
                raise AssertionError(f"no {key} with {what!r}: {self.told}") from None
            if what in line.get(key, ()):
                return str(line[key])

    def next(self) -> dict[str, Any]:
        """The next line that it says."""
        line = self._said.get(timeout=PATIENCE)
        self.told.append(line)
        return line

    def forget(self) -> None:
        """What was heard so far is old."""
        while not self._said.empty():
            self.told.append(self._said.get())

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(json.loads(line))


def own_limits() -> bool:
    """Whether a process may have a limit of watches of its own here."""
    try:
        done = subprocess.run(
            ["unshare", "-U", "-r", "sh", "-c", f"echo 9 > {LIMIT}"],
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        return False
    return done.returncode == 0


async def main(root: str) -> None:
    """Do as the lines say."""
    loop = asyncio.get_running_loop()
    watch = FolderWatch(root, report=lambda words: tell(words=words))

    def order(line: str) -> None:
        name, *rest = line.split()
        if name == "watch":
            watch.folders(rest[0], [PurePosixPath(each) for each in rest[1:]])
        elif name == "most":
            LIMIT.write_text(rest[0])
        tell(done=line.strip())

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(order, line)

    threading.Thread(target=read, daemon=True).start()
    async for names in watch.hints():
        tell(hint=sorted(names))


def tell(**said: object) -> None:
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    if "--nobody" in sys.argv and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    asyncio.run(main(sys.argv[1]))
