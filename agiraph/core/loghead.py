"""The first line of a log whose beginning was put away, and what follows from it.

```
{"ts": "2026-07-31T21:04:11.003+00:00", "put_away": "_archive/events/2026-07-31.jsonl.gz", "bytes": 48210334}
```

`bytes` are all that were ever put away of the log. With them, places in a log are
counted as if nothing were missing, so they stay right when more of it goes.
"""  # noqa: E501  (a line of a log is one line)

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from agiraph.core.loglines import record_of
from agiraph.core.retention import part_order

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

HEAD_BYTES: Final = 1024  # at most, of the line; what is longer is none
_KEY: Final = "put_away"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the first line of a log; nothing where it is whole.

    Attributes:
        ts: of the last line that was put away.
        part: the name of the newest archive that counts.
        bytes: put away in all, from this and from earlier archives.
        size: of the head itself, with its line end.
    """

    ts: str = ""
    part: str = ""
    bytes: int = 0
    size: int = 0

    def place(self, offset: int) -> int:
        """The place in the whole log of an offset in the file."""
        return offset - self.size + self.bytes

    def offset(self, place: int) -> int:
        """The offset in the file of a place; below `size` where that was put away."""
        return place - self.bytes + self.size


WHOLE: Final = Head()


def head_of(beginning: bytes) -> Head:
    """The head that a log begins with.

    Args:
        beginning: its first `HEAD_BYTES`, or fewer.
    """
    line, end, _ = beginning.partition(b"\n")
    if not end or _KEY.encode() not in line:
        return WHOLE
    found = record_of(line) or {}
    archive, whole = found.get(_KEY), found.get("bytes")
    if not isinstance(archive, str) or not isinstance(whole, int) or whole < 0:
        return WHOLE
    part = PurePosixPath(archive).name
    if part_order(part) is None:
        return WHOLE
    return Head(str(found.get("ts", "")), part, whole, len(line) + 1)


def is_head(found: JsonObject) -> bool:
    """Whether a line of a log tells what was put away before it."""
    return _KEY in found


def head_line(ts: str, archive: str, put_away: int) -> bytes:
    """The line for the beginning of a log.

    Args:
        ts: of the last line that was put away.
        archive: its path below the agent's home.
        put_away: bytes in all.
    """
    said = {"ts": ts, _KEY: archive, "bytes": put_away}
    return json.dumps(said, ensure_ascii=False).encode() + b"\n"
