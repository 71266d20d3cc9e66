"""The seams between the runtime and the world; each says what it may not do."""

from __future__ import annotations

from agiraph.ports.clock import Alarm, Clock
from agiraph.ports.model import ModelFacts, Models, Provider
from agiraph.ports.news import Messenger, Watch
from agiraph.ports.shell import Command, Finished, Shell
from agiraph.ports.tool import Intent, Seat, Tool
from agiraph.ports.tree import (
    Attic,
    Disk,
    Entry,
    EntryKind,
    Pen,
    PutAway,
    Reader,
    Seen,
    Shelf,
    Sight,
    Whereabouts,
)

__all__ = [
    "Alarm",
    "Attic",
    "Clock",
    "Command",
    "Disk",
    "Entry",
    "EntryKind",
    "Finished",
    "Intent",
    "Messenger",
    "ModelFacts",
    "Models",
    "Pen",
    "Provider",
    "PutAway",
    "Reader",
    "Seat",
    "Seen",
    "Shelf",
    "Shell",
    "Sight",
    "Tool",
    "Watch",
    "Whereabouts",
]
