"""The exit codes, and the errors of the CLI that carry one."""

from __future__ import annotations

from enum import IntEnum

from agiraph.errors import AgiraphError, NotThere, ReadOnly, YourError
from agiraph.model.agent import AgentState


class Code(IntEnum):
    """How a command ended, for scripts."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    BAD_TREE = 4
    NO_DAEMON = 5
    HELD = 6
    LOCKED = 7
    WAITS = 8
    INTERRUPTED = 130


class Refused(YourError):
    """A command that cannot be done as it was typed; the code says why."""

    code = Code.FAILED


class Misused(Refused):
    """The words of the command do not fit together."""

    code = Code.USAGE


class NotFound(Refused):
    """Nothing has the name that was typed."""

    code = Code.NOT_FOUND


class BadTree(Refused):
    """A file or folder of the tree cannot be used as it is."""

    code = Code.BAD_TREE


class NoDaemon(Refused):
    """The command needs a daemon, and none runs on this tree."""

    code = Code.NO_DAEMON


_OF_STATE = {
    AgentState.COMPLETED: Code.DONE,
    AgentState.IDLE: Code.DONE,
    AgentState.FAILED: Code.FAILED,
    AgentState.BROKEN: Code.BAD_TREE,
    AgentState.STOPPED: Code.FAILED,
    AgentState.ELSEWHERE: Code.FAILED,
    AgentState.FORKED: Code.FAILED,
    AgentState.HELD: Code.HELD,
    AgentState.PAUSED: Code.HELD,
    AgentState.WAITING_FOR_HUMAN: Code.WAITS,
}


def code_of_state(state: str) -> Code:
    """The exit code for an agent whose work went as far as it can by itself."""
    try:
        return _OF_STATE.get(AgentState(state), Code.FAILED)
    except ValueError:
        return Code.FAILED


def code_of_error(error: AgiraphError) -> Code:
    """The exit code for an error that reached the edge of the CLI."""
    from agiraph.tree.lock import Taken

    if isinstance(error, Refused):
        return error.code
    if isinstance(error, Taken):
        return Code.LOCKED
    if isinstance(error, ReadOnly):
        return Code.BAD_TREE
    return Code.NOT_FOUND if isinstance(error, NotThere) else Code.FAILED
