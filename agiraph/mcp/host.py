"""Starts tool servers by the SDK of their protocol, which is loaded when needed."""

from __future__ import annotations

import asyncio
import importlib
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from agiraph.core.expansion import expanded, unfilled
from agiraph.errors import ToolRefused
from agiraph.model.layout import MACHINE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from agiraph.mcp.session import Session
    from agiraph.model.server import ServerSettings


class SdkHost:
    """Opens sessions with tool servers. Passes no key on but those that are named."""

    def __init__(
        self, root: str, environment: Mapping[str, str], *, version: str
    ) -> None:
        """For the tree at `root`; `environment` is the daemon's, for `${VAR}`."""
        self._root = root
        self._environment = environment
        self._version = version

    @asynccontextmanager
    async def open(
        self, settings: ServerSettings, agent: str
    ) -> AsyncIterator[Session]:
        """A server, for as long as the context lasts.

        Raises:
            ToolRefused: it cannot be had; says what to do.
        """
        whole = expanded(settings, self._environment)
        try:
            sdk: Any = await asyncio.to_thread(
                importlib.import_module, "agiraph.mcp.session"
            )
        except ImportError:
            raise ToolRefused(
                "it needs the extra `mcp`: pip install 'agiraph[mcp]'"
            ) from None
        place = sdk.Place(
            folder=os.path.join(self._root, agent),
            log=os.path.join(self._root, str(MACHINE), f"mcp-{settings.name}.log"),
            marks={"AGIRAPH_ROOT": self._root, "AGIRAPH_AGENT": agent},
            version=self._version,
            hide=lambda text: unfilled(text, settings, self._environment),
        )
        async with sdk.opened(whole, place) as session:
            yield session
