from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from agiraph.clock import SystemClock
from agiraph.model.agent import ProviderSettings, TreeSettings
from agiraph.providers.models import ModelCatalog

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tests.support.model_server import ModelServer

MODELS = {
    "messages": "anthropic/claude-sonnet-5-5",
    "chat": "openai/gpt-5.4",
    "responses": "responding/gpt-5.4",
    "gemini": "gemini/gemini-3.8-flash",
}


@pytest.fixture(params=sorted(MODELS))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(wire: str) -> str:
    return MODELS[wire]


@pytest.fixture
def catalog() -> Callable[..., object]:
    """A catalog whose services are one model server; faults come out at once."""

    @asynccontextmanager
    async def open_catalog(
        server: ModelServer, *, patience: float = 0.0, stream: bool = True, **more: str
    ) -> AsyncIterator[ModelCatalog]:
        settings = TreeSettings(
            providers=(
                ProviderSettings(
                    "responding",
                    "openai",
                    base_url=server.openai_url,
                    wire_api="responses",
                    api_key_env="OPENAI_API_KEY",
                    stream=stream,
                ),
                *(
                    ProviderSettings(kind, kind, stream=stream)
                    for kind in ("anthropic", "openai", "gemini")
                ),
            )
        )
        made = ModelCatalog(
            settings=settings,
            environment=server.environment() | more,
            clock=SystemClock(),
            patience=patience,
        )
        try:
            yield made
        finally:
            await made.close()

    return open_catalog
