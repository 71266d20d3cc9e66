"""Commands: who starts them, and how they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Command:
    """A command for a shell.

    Attributes:
        folder: where it runs, relative to the root; it may write there only.
        timeout: seconds.
        keep: where its whole output goes, relative to the root.
        variables: added to the scrubbed environment, name -> value.
        agent: whose it is, to find it again after a crash.
        of_person: whether `agiraph` is found on its PATH, as in a person's terminal.
        keeps_all: whether the output is kept where `head` holds all of it, too.
    """

    text: str
    folder: PurePosixPath
    timeout: float
    keep: PurePosixPath
    variables: Mapping[str, str]
    agent: str
    of_person: bool = False
    keeps_all: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes:
        code: exit code, or None when it was ended at its limit.
        head, tail: the output's ends, as text; size: of the whole, in bytes.
    """

    code: int | None
    head: str
    tail: str
    size: int
    seconds: float


class Shell(Protocol):
    """Starts commands. The only one who starts processes."""

    async def run(self, command: Command) -> Finished:
        """Run to its end or its limit; the whole process group is ended then.

        Raises:
            DiskRefused: nothing was started; what fails later may not be told so.
        """

    async def end_left_behind(self, agent: str) -> int:
        """End the process groups that a dead daemon left behind; how many."""
