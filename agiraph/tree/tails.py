"""Cutting off what a crash left at the end of a log.

An append that never reached the disk leaves half a line, or NUL bytes where the length
was recorded and the content was not (seen on ext4).
"""

from __future__ import annotations

import json
import os

_CHUNK = 64 * 1024


def mend(fd: int, *, json_lines: bool) -> int:
    """Make an open log end with a whole line.

    A last line that only lacks its newline gets one. Returns how many bytes were cut.

    Args:
        fd: open for reading and appending.
        json_lines: each line is a JSON object, so that a torn one can be told.
    """
    size = os.fstat(fd).st_size
    keep = size
    while keep:
        start, line = _last_line(fd, keep)
        if b"\0" not in line and line.endswith(b"\n"):
            break
        if b"\0" not in line and (not json_lines or _is_object(line)):
            os.write(fd, b"\n")
            break
        keep = start
    if keep < size:
        os.ftruncate(fd, keep)
    return size - keep


def _last_line(fd: int, end: int) -> tuple[int, bytes]:
    """Where the last line before `end` starts, and its bytes, newline included."""
    start = end
    line = b""
    while start > 0:
        step = min(_CHUNK + len(line), start)
        piece = os.pread(fd, step, start - step)
        found = piece.rfind(b"\n", 0, len(piece) - (1 if start == end else 0))
        if found >= 0:
            return start - step + found + 1, piece[found + 1 :] + line
        line = piece + line
        start -= step
    return 0, line


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
