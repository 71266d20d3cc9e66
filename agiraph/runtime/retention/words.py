"""What the daemon's log says of what was put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.ports import PutAway


def away(what: str, made: PutAway) -> str:
    """That it was.

    Args:
        what: the thing with its verb, such as `runs/2026-03-01-01 is`.
        made: what became of it.
    """
    return (
        f"{what} put away as {made.archive} ({made.before:,} bytes, now {made.after:,})"
    )
