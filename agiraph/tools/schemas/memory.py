"""The definitions of the tools that keep and find what was learned."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import define, flag, record, text

_PATH: Final = "MEMORY.md or a file below memory/; for a worker its memory.md."

MEMORY_WRITE: Final = define(
    "memory_write",
    "Keep something for later runs: write a whole memory file, or add to its end.",
    Who.ALL,
    Effect.OWN,
    record(
        {"path": text(_PATH), "content": text("The text to write.")},
        {"append": flag("Add to the end of the file. Default: false.")},
    ),
)
MEMORY_READ: Final = define(
    "memory_read",
    "Read a memory file, or list the memory folder.",
    Who.ALL,
    Effect.READS,
    record({"path": text(_PATH)}),
)
MEMORY_SEARCH: Final = define(
    "memory_search",
    "Find what memory holds on something: all of it while it is small, else the best "
    "matching sections.",
    Who.ALL,
    Effect.READS,
    record({"query": text("A few words to look for.")}),
)
