"""Several steps side by side, where each waits for the disk by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine


async def together(*steps: Coroutine[None, None, None]) -> None:
    """Do all of them; the first error ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for step in steps:
                group.create_task(step, name="one of several")
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
