"""Whether a daemon works on a tree, and which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.cli import render

if TYPE_CHECKING:
    from agiraph.cli.read import Files


@dataclass(frozen=True, slots=True)
class DaemonView:
    """The daemon of a tree; pid, version and since as far as it wrote them down."""

    running: bool
    pid: int | None = None
    host: str = ""
    version: str = ""
    since: str = ""

    @property
    def words(self) -> str:
        """A sentence for people."""
        if not self.running:
            return "The daemon is not running: nothing moves. `agiraph up` starts it."
        known = [f"pid {self.pid}"] if self.pid else []
        known += [f"since {render.moment(self.since)}"] if self.since else []
        more = f" ({', '.join(known)})" if known else ""
        return f"The daemon is running{more}."


def daemon_of(files: Files) -> DaemonView:
    """The daemon at work on a tree, asked of its lock."""
    from agiraph.tree.lock import holder

    found = holder(files.root)
    if found is None:
        return DaemonView(running=False)
    return DaemonView(True, found.pid or None, found.host, found.version, found.since)
