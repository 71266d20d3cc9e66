"""Whom a change of a path concerns."""

from __future__ import annotations

import re
from typing import Final

from agiraph.model.layout import MACHINE

EVERYTHING: Final = "*"
THE_ROOT: Final = ""

# Written by the daemon alone, many times a minute: nobody waits for a hint of them.
_OURS: Final = frozenset(
    {
        "conversation.jsonl",
        "events.jsonl",
        "usage.jsonl",
        "_triggers.jsonl",
        "log.jsonl",
        "history.json",
        "_status.md",
        "_board.md",
        "_outbox.md",
        "_refs.json",
    }
)
_TEMPORARY: Final = re.compile(r"\..+\.agi-\d+-[0-9a-f]+\.tmp")


def names_of(path: str, root: str) -> set[str]:
    """Whom a change of a path concerns; nobody where it is our own doing."""
    if not path.startswith(root + "/"):
        return {EVERYTHING}
    first, *rest = path[len(root) + 1 :].split("/")
    if first == str(MACHINE):
        return set()
    last = rest[-1] if rest else first
    if _TEMPORARY.fullmatch(last) or (rest and last in _OURS):
        return set()
    return {first} if rest else {THE_ROOT, first}
