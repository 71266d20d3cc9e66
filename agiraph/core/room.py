"""Whether a disk has room for new work, before it has none for what is under way."""

from __future__ import annotations

from dataclasses import dataclass

from agiraph.core.limits import DISK_ENOUGH, DISK_FLOOR, FILES_ENOUGH, FILES_FLOOR

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Room:
    """What a disk has left: bytes, and names for new files; None is unknown."""

    bytes: int | None
    files: int | None


def crowded(room: Room, *, was: bool) -> str:
    """Why a disk takes no new work, in words; empty when it does.

    What is under way keeps the room below the floor for its records. Work goes on well
    above it, so that it does not begin and park in turns.

    Args:
        was: whether it took none before.
    """
    least, most = (DISK_ENOUGH, FILES_ENOUGH) if was else (DISK_FLOOR, FILES_FLOOR)
    if room.bytes is not None and room.bytes < least:
        return (
            f"the disk is nearly full: {room.bytes // MIB} MiB left; everything waits, "
            f"and goes on by itself when {DISK_ENOUGH // MIB} MiB are free"
        )
    if room.files is not None and room.files < most:
        return (
            f"the disk has nearly no names left for new files ({room.files} inodes); "
            f"everything waits, and goes on by itself when {FILES_ENOUGH} are free"
        )
    return ""
