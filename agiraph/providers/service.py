"""A model's service as the port `Provider`: render, post, hear."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.providers import local
from agiraph.providers.headroom import headroom
from agiraph.providers.transcript import Transcripts
from agiraph.providers.vanguard import Vanguard

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.model.conversation import Answer, Request
    from agiraph.providers.connection import Connection
    from agiraph.providers.faults import Service as Named
    from agiraph.providers.wire import Wire


class WireProvider:
    """Asks every model of one account over one wire."""

    def __init__(self, connection: Connection, wire: Callable[[Named], Wire]) -> None:
        self._connection = connection
        self._wire = wire
        # A server on this machine has no cache for which anybody pays.
        near = local.is_loopback(connection.account.base_url)
        self._vanguard = None if near else Vanguard(time.monotonic)
        self._transcripts: dict[str, tuple[Wire, Transcripts]] = {}

    async def ask(self, request: Request) -> Answer:
        """One whole answer; raises ProviderFault."""
        wire, transcripts = self._spoken(request.model)
        body = transcripts.body(request)
        hearing = wire.hearing(request, len(body))
        service = self._connection.account.service(request.model)
        call = await self._vanguard.go(request) if self._vanguard is not None else None
        try:
            headers = await self._connection.converse(
                wire.path, body, hearing, service, begun=call.begun if call else None
            )
        finally:
            if call is not None:
                call.over()
        answer = hearing.answer()
        rooms = headroom(headers, answer.usage)
        return replace(answer, headroom=rooms) if rooms else answer

    async def close(self) -> None:
        """Let go of the connections, for all who share the account."""
        await self._connection.close()

    def _spoken(self, model: str) -> tuple[Wire, Transcripts]:
        if model not in self._transcripts:
            wire = self._wire(self._connection.account.service(model))
            self._transcripts[model] = (wire, Transcripts(wire))
        return self._transcripts[model]
