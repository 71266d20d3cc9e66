"""The tools on files, memory, commands and the web, ready to be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.tools.bash import Bash
from agiraph.tools.files import EditFile, ListFiles, ReadFile, WriteFile
from agiraph.tools.memory import MemoryRead, MemorySearch, MemoryWrite
from agiraph.tools.refs import ReadRef
from agiraph.tools.web import Pages, Search, WebFetch, WebSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.agent import SearchSettings
    from agiraph.ports import Pen, Reader, Shelf, Shell, Tool
    from agiraph.tools.seen import LastSeen


def tree_tools(
    reader: Reader, pen: Pen, shelf: Shelf, seen: LastSeen
) -> tuple[Tool, ...]:
    """The file and memory tools.

    Args:
        reader, pen: the tree; shelf: the index over memory.
        seen: what each loop saw last; the runtime notes there what briefs show.
    """
    return (
        ReadFile(reader, seen),
        WriteFile(reader, pen, seen),
        EditFile(reader, pen, seen),
        ListFiles(reader),
        ReadRef(reader),
        MemoryWrite(reader, pen, seen),
        MemoryRead(reader, seen),
        MemorySearch(reader, seen, shelf),
    )


def shell_tools(shell: Shell, root: str) -> tuple[Tool, ...]:
    """The tools that start commands; `root` is the tree's, as an absolute path."""
    return (Bash(shell, root),)


def web_tools(
    pages: Pages, search: Search, pen: Pen, settings: Callable[[], SearchSettings]
) -> tuple[Tool, ...]:
    """The tools that reach the web.

    Args:
        pages, search: who fetches and searches.
        pen: writes what is kept in `outputs/`.
        settings: `search:` of agiraph.yaml, as it is at a call.
    """
    return (WebSearch(search, settings), WebFetch(pages, pen))
