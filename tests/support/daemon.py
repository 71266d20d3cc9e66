"""A real daemon as a process of its own, for tests, and waiting for facts on disk.

```python
with ModelServer(script) as server, Daemon(tmp_path, server.environment()) as daemon:
    daemon.write("news/GOAL.md", "Bring the news.\n")
    daemon.until_state("news", "completed")
    assert "news" in daemon.read("news/runs/*/_output.md")
```

It runs `agiraph up` on `tmp_path/agents` with a clean environment (no keys but those
given), in a session of its own, its voice in `tmp_path/daemon.log`. Leaving the block
ends it by SIGTERM and fails the test if it does not end cleanly.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # seconds; a fact that has not come by then will not come
LOOK = 0.02  # seconds between two looks at the disk
ENDING = 15.0  # seconds for a clean end

Found = TypeVar("Found")


def until(
    fact: Callable[[], Found | None],
    what: str,
    *,
    seconds: float = PATIENCE,
    told: Callable[[], str] = str,
) -> Found:
    """Wait until `fact` answers with something true, and give that back.

    Args:
        fact: looks at the disk; what it raises of OSError or ValueError (a file that
            is not there yet) counts as not yet.
        what: what is waited for, for the words of a failure.
        told: more words for a failure.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = fact()
        except (OSError, ValueError, KeyError, yaml.YAMLError):
            found = None
        if found:
            return found
        if time.monotonic() > deadline:
            msg = f"waited {seconds:g} s in vain: {what}\n{told()}"
            raise AssertionError(msg)
        time.sleep(LOOK)


def clean_environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """What a process of a test sees: no key, no home and no proxy of the machine's."""
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / ".state"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "TMPDIR": str(home),
        "PYTHONPATH": str(PROJECT),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONFAULTHANDLER": "1",
        "NO_PROXY": "*",
        "AGIRAPH_FOREGROUND": "600",  # gates hold the coordinator, however long
    }
    return environment | dict(more)


class Tree:
    """What a person or a script sees of a tree; paths are relative to its root."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, pattern: str) -> Path:
        """The one path that a glob fits; a plain path need not exist.

        `news/runs/*/_output.md` is right while there is one run.
        """
        if "*" not in pattern:
            return self.root / pattern
        found = sorted(self.root.glob(pattern))
        if len(found) != 1:
            msg = f"{len(found)} paths fit {pattern}: {[str(p) for p in found]}"
            raise FileNotFoundError(msg)
        return found[0]

    def there(self, pattern: str) -> bool:
        return any(self.root.glob(pattern))

    def names(self, pattern: str) -> list[str]:
        """The names of all that fits a glob, in order."""
        return sorted(path.name for path in self.root.glob(pattern))

    def read(self, pattern: str) -> str:
        return self.path(pattern).read_text("utf-8")

    def write(self, pattern: str, text: str) -> Path:
        """Write a file whole, as a careful program does: beside it, then renamed."""
        path = self.path(pattern)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_text(text, "utf-8")
        beside.replace(path)
        return path

    def append(self, pattern: str, text: str) -> None:
        """As `echo >>` does."""
        with self.path(pattern).open("a", encoding="utf-8") as file:
            file.write(text)

    def edit(self, pattern: str, old: str, new: str) -> None:
        """Replace what stands there once, as a person with an editor does."""
        text = self.read(pattern)
        assert text.count(old) == 1, f"{old!r} is not there once: {text}"
        self.write(pattern, text.replace(old, new))

    def head(self, pattern: str) -> dict[str, Any]:
        """The frontmatter of a Markdown file."""
        text = self.read(pattern)
        opening, _, rest = text.partition("---\n")
        if opening or "\n---" not in rest:
            return {}
        return dict(yaml.safe_load(rest.partition("\n---")[0] + "\n") or {})

    def state(self, pattern: str) -> str:
        """The `status:` of an agent (`news`), or of a node or worker by its folder."""
        return str(self.head(f"{pattern}/_status.md").get("status", ""))

    def lines(self, pattern: str) -> list[dict[str, Any]]:
        """The objects of a log, one a line; a line that does not parse is an error."""
        text = self.read(pattern)
        until_whole = time.monotonic() + 2
        while text and not text.endswith("\n") and time.monotonic() < until_whole:
            time.sleep(0.01)  # one write(2) is seen page by page while it goes on
            text = self.read(pattern)
        assert not text or text.endswith("\n"), f"{pattern} ends in half a line"
        return [json.loads(line) for line in text.splitlines()]

    def events(self, agent: str, kind: str = "", **about: Any) -> list[dict[str, Any]]:
        """The events of an agent, by type (or its prefix, `node.`) and what they name.

        `events("news", "node.failed", node="a")`
        """
        return [
            event
            for event in self.lines(f"{agent}/events.jsonl")
            if event["type"].startswith(kind)
            and all(event.get(key) == value for key, value in about.items())
        ]


class Daemon(Tree):
    """A daemon on a tree, as a process.

    Args:
        home: a folder of the test's own; the tree is `agents/` in it.
        environment: what the process sees beside the clean base.
        arguments: more words for `agiraph up`.
    """

    def __init__(
        self, home: Path, environment: Mapping[str, str], *arguments: str
    ) -> None:
        super().__init__(home / "agents")
        self.home = home
        self.root.mkdir(parents=True, exist_ok=True)
        self.log = home / "daemon.log"
        self.environment = clean_environment(home, environment)
        self.module = "agiraph"
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    # --- its life

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        elif self._process is not None:
            assert self.stop() == 0, self.told()

    def start(self) -> None:
        """Start it, and wait until it watches the tree."""
        assert self._process is None, "it is running"
        words = [sys.executable, "-m", self.module, "up", "--agents", str(self.root)]
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*words, *self._arguments],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.until(lambda: self._says_it_watches(before), "the daemon watches")

    def _says_it_watches(self, before: int) -> bool:
        code = self._process and self._process.poll()
        assert code is None, f"the daemon ended at once, with {code}: {self.told()}"
        return b"watching" in self.log.read_bytes()[before:]

    @property
    def pid(self) -> int:
        assert self._process is not None, "it is not running"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end by a signal; its exit code."""
        assert self._process is not None, "it is not running"
        self._process.send_signal(number)
        return self.ended()

    def ended(self, seconds: float = ENDING) -> int:
        """Wait until it has ended by itself; its exit code."""
        assert self._process is not None, "it is not running"
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            msg = f"the daemon did not end in {seconds:g} s\n{self.told()}"
            raise AssertionError(msg) from None
        self._process = None
        return code

    def kill(self) -> None:
        """End it at once, as a crash or a power cut does. Only the daemon's own id."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(ENDING)
            self._process = None

    def run(self, *words: str, seconds: float = PATIENCE) -> tuple[int, str, str]:
        """A command line of Agiraph's on this tree: exit code, output, errors."""
        done = subprocess.run(
            [sys.executable, "-m", "agiraph", *words],
            cwd=self.home,
            env=self.environment | {"AGIRAPH_AGENTS": str(self.root)},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    # --- waiting

    def until(
        self,
        fact: Callable[[], Found | None],
        what: str,
        *,
        seconds: float = PATIENCE,
    ) -> Found:
        """As the function, with the daemon's own words in a failure."""
        return until(fact, what, seconds=seconds, told=self.told)

    def until_state(self, pattern: str, *states: str, seconds: float = PATIENCE) -> str:
        """Wait until an agent, a node or a worker has one of these states."""
        return self.until(
            lambda: self.state(pattern) if self.state(pattern) in states else None,
            f"{pattern} is {' or '.join(states)}",
            seconds=seconds,
        )

    def until_there(self, pattern: str, *, seconds: float = PATIENCE) -> Path:
        """Wait until the one path that fits exists."""
        self.until(lambda: self.there(pattern), f"{pattern} is there", seconds=seconds)
        return self.path(pattern)

    def until_event(
        self, agent: str, kind: str, *, seconds: float = PATIENCE, **about: Any
    ) -> dict[str, Any]:
        """Wait for the first event of this type that is about these."""
        return self.until(
            lambda: next(iter(self.events(agent, kind, **about)), None),
            f"{kind} of {agent} {about or ''}",
            seconds=seconds,
        )

    def told(self) -> str:
        """The daemon's own words, its faults, and how everything stands."""
        pages = sorted(self.root.glob("*/**/_status.md"))
        stand = [f"{p.relative_to(self.root)}: {_first(p)}" for p in pages]
        said = [self.log, self.root / ".agiraph/faults.log"]
        ends = [p.read_text("utf-8", "replace")[-4000:] for p in said if p.exists()]
        return "\n".join([*stand, *ends])


def _first(page: Path) -> str:
    return " ".join(page.read_text("utf-8").split("\n")[1:12])
