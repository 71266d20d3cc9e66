"""Where this daemon is: machine and place; and what stands at other places of it."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import Good, read_owner
from agiraph.core.ownership import old_home
from agiraph.model.owner import Old, Spot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.owner import Owner

HOST_VARIABLE: Final = "AGIRAPH_HOST"
MACHINE_IDS: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_OWNER: Final = "_owner.yaml"
_MOST: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class DiskWhereabouts:
    """The port `Whereabouts` on a real machine.

    Attributes:
        host: the machine's id.
        machine: its name, for people.
        place: the tree's root, without links in it.
    """

    host: str
    machine: str
    place: str

    @classmethod
    def of(cls, root: str, environment: Mapping[str, str]) -> DiskWhereabouts:
        """Those of a tree on this machine."""
        machine = environment.get(HOST_VARIABLE) or socket.gethostname()
        return cls(host_id(environment), machine, os.path.realpath(root))

    def spot(self, agent: str) -> Spot:
        """Where an agent of this tree is."""
        return Spot(self.host, self.place, agent)

    def old(self, found: Owner, agent: str) -> Old:
        """What stands at the home that an owner file of an agent here names."""
        at = f"{self.place}/{agent}"
        # A tree that was moved whole has taken the original along.
        beside = Spot(self.host, self.place, found.spot.agent).home
        answers = {_stands(home, found, at) for home in {found.spot.home, beside}}
        for each in (Old.THERE, Old.SAME, Old.OTHER):
            if each in answers:
                return each
        return Old.GONE


def host_id(environment: Mapping[str, str]) -> str:
    """An id of this machine that stays the same when it gets another name.

    The system's machine id is confidential and must not be shown (machine-id(5)), so a
    hash of it is. Where there is none (some containers, macOS) the host's name serves;
    `AGIRAPH_HOST` goes before all, for containers whose name changes.
    """
    given = environment.get(HOST_VARIABLE)
    if given:
        return given
    for path in MACHINE_IDS:
        try:
            with open(path, encoding="ascii") as file:
                found = file.read(64).strip()
        except (OSError, ValueError):
            continue
        if len(found) == 32:
            return hashlib.sha256(f"agiraph:{found}".encode()).hexdigest()[:16]
    return socket.gethostname()


def _stands(home: str, found: Owner, at: str) -> Old:
    try:
        there = os.stat(home)
    except (OSError, ValueError):
        return Old.GONE
    if not stat.S_ISDIR(there.st_mode):
        return Old.GONE
    if _is_same(there, at):
        return Old.SAME
    return old_home(found, _owner(home), ran=os.path.isdir(f"{home}/_state"))


def _is_same(there: os.stat_result, at: str) -> bool:
    try:
        return os.path.samestat(there, os.stat(at))
    except OSError:
        return False


def _owner(home: str) -> Owner | None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(f"{home}/{_OWNER}", flags)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return None
            text = os.read(fd, _MOST).decode()
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return None
    read = read_owner(text)
    return read.value if isinstance(read, Good) else None
