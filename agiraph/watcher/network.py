"""Whether a folder lies where the kernel tells nothing of others' changes."""

from __future__ import annotations

import os
from typing import Final

# inotify(7): remote changes on network file systems are not told.
_SILENT: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "vboxsf"}
)
_MOUNTS: Final = "/proc/self/mountinfo"


def silent_disk(root: str, mounts: str = _MOUNTS) -> str:
    """The kind of a disk that must be polled; empty where events come by themselves."""
    try:
        with open(mounts, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    kind = _kind_of(os.path.realpath(root), lines)
    return kind if kind in _SILENT or kind.startswith("fuse") else ""


def _kind_of(path: str, lines: list[str]) -> str:
    """The file system of the deepest mount point above a path."""
    best, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = fields[4].replace("\\040", " ")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind
