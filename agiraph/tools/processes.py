"""Finding and ending the processes that a command leaves, and hiding our own secrets.

A process may leave its group (`setsid`), but it keeps the environment that it was
started with; on Linux the marks in it, read from /proc (proc(5)), find what killpg(2)
misses, also after the daemon that started it is gone.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GRACE: Final = 2.0
_FIRST_LOOK: Final = 0.005
_LATER_LOOKS: Final = 0.1
_ROUNDS: Final = 20
_PR_SET_DUMPABLE: Final = 4  # prctl(2)
_GONE: Final = (b"Z", b"X")


def hide_environment() -> bool:
    """Keep other processes of this user from reading ours: /proc, ptrace, core dumps.

    Linux only; elsewhere nothing happens and the answer is False.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


def left(group: int | None, marks: Mapping[str, str]) -> frozenset[int]:
    """Living processes that are in a group, or carry all of the marks.

    Args:
        group: a process group, or None to go by the marks only.
        marks: variables of the environment, name -> value.
    """
    if not sys.platform.startswith("linux"):
        return frozenset() if group is None else _group_alone(group)
    wanted = {f"{name}={value}".encode() for name, value in marks.items()}
    return frozenset(
        pid for pid in _pids() if pid != os.getpid() and _is_ours(pid, group, wanted)
    )


def marked(name: str, marks: Mapping[str, str]) -> frozenset[str]:
    """What living processes that carry all of the marks have for another one.

    Args:
        name: of that mark.
    """
    if not sys.platform.startswith("linux"):
        return frozenset()
    wanted = {f"{key}={value}".encode() for key, value in marks.items()}
    beginning = f"{name}=".encode()
    return frozenset(
        os.fsdecode(each.removeprefix(beginning))
        for carried in map(_environment, _pids())
        if wanted <= carried
        for each in carried
        if each.startswith(beginning)
    )


async def end(group: int | None, marks: Mapping[str, str]) -> int:
    """Ask what is left to end, then end it; how many processes there were.

    Cancelled meanwhile, it still ends the group, without asking.
    """
    try:
        found = await asyncio.to_thread(left, group, marks)
        if not found:
            return 0
        _send(found, group, signal.SIGTERM)
        await _wait_until_gone(group, marks)
    except asyncio.CancelledError:
        if group is not None:
            kill(group)
        raise
    for _ in range(_ROUNDS):
        rest = await asyncio.to_thread(left, group, marks)
        if not rest:
            break
        _send(rest, group, signal.SIGKILL)
        await asyncio.sleep(_LATER_LOOKS)
    return len(found)


def kill(group: int) -> None:
    """Kill a process group without asking."""
    _send(frozenset(), group, signal.SIGKILL)


async def _wait_until_gone(group: int | None, marks: Mapping[str, str]) -> None:
    # Real time, not the Clock's: processes take no notice of a clock for tests.
    pause, left_over = _FIRST_LOOK, GRACE
    while left_over > 0:
        await asyncio.sleep(pause)
        if not await asyncio.to_thread(left, group, marks):
            return
        left_over -= pause
        pause = min(2 * pause, _LATER_LOOKS)


def _send(pids: frozenset[int], group: int | None, number: signal.Signals) -> None:
    if group is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _group_alone(group: int) -> frozenset[int]:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return frozenset()
    return frozenset({group})


def _pids() -> Iterator[int]:
    with os.scandir("/proc") as names:
        for name in names:
            if name.name.isdigit():
                yield int(name.name)


def _is_ours(pid: int, group: int | None, wanted: set[bytes]) -> bool:
    try:
        state, its_group = _state(pid)
        if state in _GONE:
            return False
        if its_group == group:
            return True
        return bool(wanted) and wanted <= _environment(pid)
    except OSError:
        return False  # it ended, or belongs to someone else


def _environment(pid: int) -> frozenset[bytes]:
    """What a process was started with; nothing where it ended, or is another's."""
    try:
        return frozenset(_read(pid, "environ").split(b"\0"))
    except OSError:
        return frozenset()


def _state(pid: int) -> tuple[bytes, int]:
    # The name in brackets may hold spaces and brackets itself: the last one counts.
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return (fields[0], int(fields[2])) if len(fields) > 2 else (b"X", 0)


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()
