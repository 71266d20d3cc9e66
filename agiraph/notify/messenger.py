"""Carries a parcel by the way that its channel names, as the port `Messenger`."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING, Final

from agiraph.errors import NotSent
from agiraph.model.notice import Desktop, Email, Program, Webhook
from agiraph.notify import mail, programs, webhook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.notice import Channel, Parcel

PATIENCE: Final = 20.0
_HOLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Outward:
    """Sends once; what is secret comes from the environment, never from the tree."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        patience: float = PATIENCE,
        platform: str = sys.platform,
    ) -> None:
        """`patience`: seconds that one parcel may take."""
        self._environment = environment
        self._patience = patience
        self._platform = platform

    async def send(self, channel: Channel, parcel: Parcel) -> None:
        """Send once.

        Raises:
            NotSent: it was refused, or took too long.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._send(channel, parcel)
        except TimeoutError:
            raise NotSent(f"it did not answer within {self._patience:g} s") from None

    async def _send(self, channel: Channel, parcel: Parcel) -> None:
        match channel.way:
            case Webhook() as way:
                token = self._value(way.token_env)
                address = _HOLE.sub(lambda hole: self._value(hole[1]), way.address)
                await webhook.post(address, way.format, token, parcel)
            case Email() as way:
                password = self._value(way.password_env)
                await mail.send(way, password, parcel, patience=self._patience)
            case Desktop():
                command = programs.desktop(self._platform, parcel)
                await programs.run(command, self._environment, parcel)
            case Program() as way:
                await programs.run(way.arguments, self._environment, parcel)

    def _value(self, name: str | None) -> str:
        if name is None:
            return ""
        value = self._environment.get(name, "")
        if not value:
            raise NotSent(f"the environment variable {name} of the daemon is not set")
        return value
