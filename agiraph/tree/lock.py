"""One daemon for a tree: who has it is a lock that the kernel gives back by itself."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from agiraph.errors import NotThere, YourError
from agiraph.model.layout import DAEMON, LOCK, MACHINE
from agiraph.tree import disk
from agiraph.tree.faults import told

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

_TRIES: Final = 10  # somebody who only asks holds the lock for microseconds
_PAUSE: Final = 0.02
_FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon at work on a tree; the fields are empty where it has not said."""

    pid: int = 0
    host: str = ""
    version: str = ""
    since: str = ""

    def __str__(self) -> str:
        if not self.pid:
            return "a daemon that is just starting"
        return f"a daemon (process {self.pid} on {self.host}, since {self.since})"


class Taken(YourError):
    """Another daemon is at work on the tree.

    Attributes:
        holder: who.
    """

    def __init__(self, root: str, holder: Holder) -> None:
        super().__init__(
            f"{root} is in use by {holder}; stop that one first, or choose another "
            "folder"
        )
        self.holder = holder


class TreeLock:
    """The right to work on a tree, held until `release` or the end of the process.

    The lock file is never deleted: a daemon that waits at a deleted one and a daemon
    that makes a new one would both believe that they are alone.
    """

    def __init__(self, root: str, fd: int) -> None:
        self._root = root
        self._fd = fd

    @classmethod
    def take(cls, root: str, *, version: str, since: datetime) -> TreeLock:
        """Take the tree and say in `.agiraph/daemon.json` who has it.

        Raises:
            Taken: another daemon is at work on it.
            NotThere: there is no such folder.
            Full, ReadOnly, DiskFault: as they say.
        """
        try:
            lock = cls(root, _open_lock(root))
            try:
                _lock_or_raise(lock._fd, root)
                lock._introduce(version, since)
            except BaseException:
                lock.release()
                raise
        except FileNotFoundError as error:
            raise NotThere(f"{root} is not there; make the folder first") from error
        except OSError as error:
            raise told(error, f"{root}/{LOCK}", writing=True) from error
        return lock

    def holds(self) -> bool:
        """Whether the lock file is still the one of its name: it may be deleted."""
        try:
            here = os.lstat(f"{self._root}/{LOCK}")
            return self._fd >= 0 and os.path.samestat(here, os.fstat(self._fd))
        except OSError:
            return False

    def release(self) -> None:
        """Give the tree back; more than once does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> TreeLock:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _introduce(self, version: str, since: datetime) -> None:
        me = Holder(
            os.getpid(), socket.gethostname(), version, since.isoformat("T", "seconds")
        )
        words = json.dumps(asdict(me), indent=1) + "\n"
        folder = os.open(f"{self._root}/{MACHINE}", os.O_RDONLY | os.O_DIRECTORY)
        try:
            disk.replace(folder, DAEMON.name, words.encode(), DAEMON)
        finally:
            os.close(folder)


def holder(root: str) -> Holder | None:
    """Who is at work on a tree, without disturbing; None when nobody is."""
    try:
        fd = os.open(f"{root}/{LOCK}", os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _introduced(root)
    except OSError:
        return None  # a disk without locks: nobody could have taken one
    finally:
        os.close(fd)
    return None


def _open_lock(root: str) -> int:
    with suppress(FileExistsError):
        os.mkdir(f"{root}/{MACHINE}")
        _keep_out_of_git(f"{root}/{MACHINE}")
    return os.open(f"{root}/{LOCK}", os.O_RDWR | os.O_CREAT | _FLAGS, 0o644)


def _keep_out_of_git(folder: str) -> None:
    """What belongs to this machine alone is not put under version control."""
    with suppress(OSError), open(f"{folder}/.gitignore", "x", encoding="utf-8") as file:
        file.write("*\n")


def _lock_or_raise(fd: int, root: str) -> None:
    for _ in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
                raise
            raise YourError(
                f"{root} lies on a disk that has no locks, so nothing would keep a "
                "second daemon away; choose a folder on a local disk"
            ) from error
        else:
            return
    raise Taken(root, _introduced(root))


def _introduced(root: str) -> Holder:
    try:
        with open(f"{root}/{DAEMON}", "rb") as file:
            said = json.loads(file.read(64 * 1024))
    except (OSError, ValueError):
        return Holder()
    if not isinstance(said, dict):
        return Holder()
    pid = said.get("pid")
    words = (str(said.get(key, "")) for key in ("host", "version", "since"))
    return Holder(pid if isinstance(pid, int) else 0, *words)
