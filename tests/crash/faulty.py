"""Agiraph as it ships, in a process whose disk fails, or that dies, at a chosen call.

```
FAULT='{"at": 17, "do": "kill"}' python -m tests.crash.faulty up --agents DIR
```

Every call of this process that changes the disk is counted, over all its threads, in
the order in which they are made: so each of them can be a point of a sweep. (strace
counts for each thread alone, and pen threads share the work as it comes.) Nothing of
Agiraph is replaced: `os` and the C library are, below it. `test_kill_sweep` compares
the count with what strace sees of the same run.

FAULT is an object:

    at: the number of the call, from 1; 0 and absent never
    do: kill (at that call), after (just after it), torn (when half of a write is
        done), short (a write takes one byte less), or the name of an errno
    calls: names that count (default: all of CALLS)
    times: for how many calls an errno or `short` lasts, default 1
    lasts: or for how many seconds
    arm: a path; calls count only from when it is there
    first: words; calls count only from the first one whose line has them all
    last: words; a call whose line has them all is struck, if none was before it
    module: what is run, default agiraph
    versions: a file that gets the hash of each file that is about to get a name: of
        each version that its writer had finished
    log: a file that gets one line for each counted call: its number, its name, what
        it is about, how a write begins, and the word FAULT where it was struck
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import itertools
import json
import os
import runpy
import shutil  # noqa: F401  it looks at import whether `os` can work by folders
import signal
import stat
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Names in `os` that change the disk; renameat2 and syncfs are asked of the C library.
CALLS = (
    "write",
    "pwrite",
    "fsync",
    "fdatasync",
    "rename",
    "replace",
    "unlink",
    "remove",
    "mkdir",
    "rmdir",
    "link",
    "ftruncate",
    "renameat2",
    "syncfs",
)
SHOWN = 4000  # bytes of a write that its line shows
OPENS = ("open",)  # counted only where `calls` names it: for EMFILE and EACCES
_real_write, _real_open = os.write, os.open


class Fault:
    """What is to happen, and how many calls there were."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.at = int(order.get("at", 0))
        self.do = str(order.get("do", "kill"))
        self.calls = frozenset(order.get("calls") or CALLS)
        self.times = int(order.get("times", 1))
        self.lasts = order.get("lasts")
        self.arm = order.get("arm")
        self._first = [str(word) for word in order.get("first") or ()]
        self._last = [str(word) for word in order.get("last") or ()]
        self._count = itertools.count(1)
        self._lock = threading.Lock()
        self._until: float | None = None
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        log, versions = order.get("log"), order.get("versions")
        self._log = _real_open(log, flags, 0o644) if log else -1
        self._versions = _real_open(versions, flags, 0o644) if versions else -1

    def hit(self, name: str, where: object, data: object = b"") -> bool:
        """Count a call; whether the fault strikes it."""
        if name not in self.calls:
            return False
        if self.arm and not os.access(self.arm, os.F_OK):
            return False
        line = f"{name} {_shown(where)}"
        if isinstance(data, bytes | memoryview) and data:
            line += f" | {bytes(data[:SHOWN])!r}"
        with self._lock:
            if self._first and not _has(line, self._first):
                return False
            self._first = []
            number = next(self._count)
            struck = self._strikes(number)
            if self._last and _has(line, self._last):
                self._last = []
                struck = struck or number < self.at
        self._note(f"{number} {line}{' FAULT' if struck else ''}\n")
        return struck

    def named(self, name: object, folder: int | None) -> None:
        """Note what a file holds that is about to be given a name; not of a folder."""
        if self._versions < 0 or not isinstance(name, str | bytes):
            return
        try:
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(about.st_mode):
                return
            fd = _real_open(name, os.O_RDONLY, dir_fd=folder)
        except OSError:
            return
        with os.fdopen(fd, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
            _real_write(self._versions, f"{digest}\n".encode())

    def _strikes(self, number: int) -> bool:
        if not self.at or number < self.at:
            return False
        if self.lasts is None:
            return number < self.at + self.times
        if self._until is None:
            self._until = time.monotonic() + float(self.lasts)
        return time.monotonic() < self._until

    def _note(self, line: str) -> None:
        if self._log >= 0:
            _real_write(self._log, line.encode())


def _has(line: str, words: list[str]) -> bool:
    return all(word in line for word in words)


def _shown(where: object) -> str:
    """A path, or what a descriptor leads to."""
    if isinstance(where, int):
        try:
            return os.readlink(f"/proc/self/fd/{where}")
        except OSError:
            return f"fd {where}"
    return os.fsdecode(where) if isinstance(where, str | bytes) else str(where)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)  # the signal is on its way; nothing more is done meanwhile


def refusal(fault: Fault) -> OSError:
    number = getattr(errno, fault.do)
    return OSError(number, os.strerror(number))


def watched(fault: Fault, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `os` that counts, and fails when it is its turn."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if name in ("rename", "replace", "link"):
            fault.named(args[0], kwargs.get("src_dir_fd"))
        if not fault.hit(name, args[0], args[1] if name == "write" else b""):
            return real(*args, **kwargs)
        match fault.do:
            case "kill":
                die()
            case "after":
                real(*args, **kwargs)
                die()
            case "torn":
                if name == "write":
                    real(args[0], memoryview(args[1])[: max(1, len(args[1]) // 2)])
                die()
            case "short" if name == "write" and len(args[1]) > 1:
                return real(args[0], memoryview(args[1])[:-1])
            case "short":
                return real(*args, **kwargs)
        raise refusal(fault)

    return call


def watched_c(fault: Fault, name: str, real: Callable[..., int]) -> Callable[..., int]:
    """The same for a function of the C library, which tells by errno."""

    def call(*args: Any) -> int:
        where = args[3].value if name == "renameat2" else args[0].value
        if name == "renameat2":
            fault.named(args[1].value, args[0].value)
        if not fault.hit(name, where):
            return real(*args)
        if fault.do in ("kill", "torn"):
            die()
        if fault.do == "after":
            real(*args)
            die()
        if fault.do == "short":
            return real(*args)
        ctypes.set_errno(getattr(errno, fault.do))
        return -1

    return call


def watched_open(fault: Fault) -> Callable[..., int]:
    """`os.open`; only the tree's files, so that Python itself may load its modules."""
    real = os.open

    def call(path: Any, *args: Any, **kwargs: Any) -> int:
        if fault.hit("open", path):
            raise refusal(fault)
        return real(path, *args, **kwargs)

    return call


def install(fault: Fault) -> None:
    """From here on every call counts."""
    for name in CALLS:
        if hasattr(os, name):
            setattr(os, name, watched(fault, name, getattr(os, name)))
    if "open" in fault.calls:
        os.open = watched_open(fault)  # type: ignore[assignment]
    looked_up = ctypes.CDLL.__getattr__

    def look_up(library: ctypes.CDLL, name: str) -> Any:
        found = looked_up(library, name)
        if name not in ("renameat2", "syncfs"):
            return found
        wrapped = watched_c(fault, name, found)
        setattr(library, name, wrapped)
        return wrapped

    ctypes.CDLL.__getattr__ = look_up  # type: ignore[method-assign]


if __name__ == "__main__":
    order = json.loads(os.environ.pop("FAULT", "{}"))
    install(Fault(order))
    sys.argv[0] = "agiraph"
    module = order.get("module", "agiraph")
    runpy.run_module(module, run_name="__main__", alter_sys=True)
