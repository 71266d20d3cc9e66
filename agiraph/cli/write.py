"""Writing into the tree for people, by the tree's own pen."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from agiraph.cli.codes import Misused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import PurePosixPath

    from agiraph.ports import Pen


def with_pen(root: str, work: Callable[[Pen], Awaitable[None]]) -> None:
    """Do some writing, from beginning to end; raises as the pen does."""
    from agiraph.tree.pen import DiskPen

    async def whole() -> None:
        pen = DiskPen(root)
        try:
            await work(pen)
        finally:
            await pen.close()

    asyncio.run(whole())


def put(root: str, path: PurePosixPath, text: str) -> None:
    """Write one file whole."""
    data = encoded(text)
    with_pen(root, lambda pen: pen.write(path, data))


def take_away(root: str, path: PurePosixPath) -> None:
    """Remove one file; nothing when it is not there."""
    with_pen(root, lambda pen: pen.remove(path))


def touch(root: str, path: PurePosixPath) -> None:
    """Give a file the time of now; what it says stays."""
    os.utime(f"{root}/{path}", follow_symlinks=False)


def move(root: str, source: PurePosixPath, target: PurePosixPath) -> None:
    """Rename a file or folder, never over something."""
    with_pen(root, lambda pen: pen.move(source, target))


def clear(root: str, folder: PurePosixPath) -> None:
    """Take a folder away with all that is in it; links in it are not followed."""
    from agiraph.tree.attic import DiskAttic
    from agiraph.tree.beneath import Beneath

    DiskAttic(Beneath(root)).clear(folder)


def encoded(text: str) -> bytes:
    """A text that a person typed, as bytes.

    Raises:
        Misused: it holds bytes that are no UTF-8 (the shell passes them on).
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Misused(
            f"the text is not UTF-8 at character {error.start + 1}; "
            "the daemon reads nothing else."
        ) from error
