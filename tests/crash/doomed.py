"""A daemon that is to die, and what a person does meanwhile and afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.support.daemon import Daemon

if TYPE_CHECKING:
    from pathlib import Path

STRACED = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat"
STRACED += ",mkdir,mkdirat,rmdir,ftruncate,link,linkat,syncfs"


class Doomed(Daemon):
    """Started with a fault, by `faulty` or by strace; killed like any other process."""

    def begin(self, fault: dict[str, Any] | None = None) -> None:
        """Start it without waiting; a fault that names `strace` is injected by it."""
        assert self._process is None, "it is running"
        words = ["-m", self.module, "up", "--agents", str(self.root)]
        environment = dict(self.environment)
        head: list[str] = []
        if fault and "strace" in fault:
            head = straced(fault, self.home / "strace.log")
        elif fault:
            words[1] = "tests.crash.faulty"
            environment["FAULT"] = json.dumps({**fault, "module": self.module})
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*head, sys.executable, *words],
                cwd=self.home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def dead(self) -> bool:
        """Whether it was started and has ended."""
        return self._process is not None and self._process.poll() is not None

    def bury(self) -> int:
        """Its exit code; minus 9 is what a kill leaves."""
        assert self._process is not None
        code = self._process.wait(10)
        self._process = None
        return code

    def terminate(self) -> None:
        """Ask it to end, without waiting."""
        assert self._process is not None
        self._process.terminate()

    def snapshot(self, name: str) -> Path:
        """A copy of the tree as a crash left it."""
        copy = self.home / name
        shutil.copytree(self.root, copy, symlinks=True)
        return copy


def straced(fault: dict[str, Any], log: Path) -> list[str]:
    """The words before a command that has strace inject a fault.

    The daemon is strace's grandchild here (`-D`), so that its process id stays ours.
    """
    call, number = fault["strace"], fault["at"]
    return [
        *("strace", "-D", "-f", "-qq", "-o", str(log), "-e", f"trace={call}"),
        *("-e", f"inject={call}:{fault['do']}:when={number}"),
    ]
