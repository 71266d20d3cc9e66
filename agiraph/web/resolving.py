"""The numbers behind a name, as the system's resolver gives them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""The IP addresses of a host, for a port; raises OSError where there are none."""


async def by_system(host: str, port: int) -> Sequence[str]:
    """All that the system's resolver knows, in its order, each once."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))
