"""A sweep that is ended by Ctrl-C or SIGTERM ends its daemons and leaves no folder."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def tidy_end() -> Iterator[None]:
    """In here every temporary folder is made in one, which goes when it is left.

    It stays where something was kept in it.
    """
    before, top = tempfile.tempdir, Path(tempfile.mkdtemp(prefix="agiraph-sweep-"))

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        for _ in range(2):  # a thread may have begun a daemon meanwhile
            kill_all_in(top)
            shutil.rmtree(top, ignore_errors=True)
        os._exit(128 + number)  # the threads would wait for what is gone

    handlers = {each: signal.signal(each, end) for each in ENDS}
    tempfile.tempdir = str(top)
    try:
        yield
    finally:
        tempfile.tempdir = before
        for each, handler in handlers.items():
            signal.signal(each, handler)
        with suppress(OSError):
            top.rmdir()


def kill_all_in(top: Path) -> None:
    """Kill every process that works below a folder; only where there is a /proc."""
    for pid in processes_in(top):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def processes_in(top: Path) -> list[int]:
    """Who works below a folder, this process left out."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            pid = int(link.parent.name)
            if pid != os.getpid() and f"{link.readlink()}/".startswith(f"{top}/"):
                found.append(pid)
    return found
