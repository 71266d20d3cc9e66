"""The cycles of an agent that does not end, as its conversation has them on record.

A mark stands among the ids of what was delivered: so it is there after a restart, and
in a conversation that was cut down.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK: Final = "cycle"
_ENDED, _BEGUN = "ended", "begun"


def ended(run: str, moment: datetime) -> str:
    """The id of the result that ends a cycle."""
    return f"{_MARK}:{run}:{_ENDED}:{moment.isoformat()}"


def begun(run: str, moment: datetime) -> str:
    """The id of the notice that begins one."""
    return f"{_MARK}:{run}:{_BEGUN}:{moment.isoformat()}"


def is_mark(ident: str) -> bool:
    """Whether an id is one of these."""
    return ident.startswith(f"{_MARK}:")


def newest(ids: Iterable[str], run: str) -> str:
    """The last mark of a run; empty where there is none."""
    mine = [ident for ident in ids if ident.startswith(f"{_MARK}:{run}:")]
    return mine[-1] if mine else ""


def waits_since(ids: Iterable[str], run: str) -> datetime | None:
    """When a run's last cycle ended; None where the next has begun, or none ended."""
    _, found, mark = newest(ids, run).partition(f":{run}:{_ENDED}:")
    return datetime.fromisoformat(mark) if found else None
