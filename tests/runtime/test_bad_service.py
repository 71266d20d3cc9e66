"""Whatever is wrong with a service, `_status.md` says what to do about it."""

from __future__ import annotations

import importlib
import socket
from typing import TYPE_CHECKING, NoReturn

import pytest

from agiraph.clock import SystemClock
from agiraph.model.agent import TreeSettings
from agiraph.providers.models import ModelCatalog
from tests.support.inside import Inside, inside
from tests.support.model_server import (
    Asked,
    ModelServer,
    Scripted,
    cut,
    error_event,
    fail,
    page,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Loaded here, so that no wait of a test is spent on it.
for package in ("anthropic", "openai", "google.genai"):
    importlib.import_module(package)

WIRES = ("anthropic/claude-sonnet-5-5", "gemini/gemini-3.8-flash", "openai/gpt-5.4")
FAULTS: dict[str, tuple[Callable[[Asked], Scripted], str]] = {
    "wrong key": (
        lambda _: fail(401, message="invalid key"),
        "_API_KEY to a valid key in the daemon's environment",
    ),
    "unknown model": (
        lambda _: fail(404, message="model: no such"),
        "`agiraph models` lists what can be used",
    ),
    "a proxy's page": (lambda _: page(), "Check the base URL, and any proxy or login"),
    "a truncated stream": (
        lambda _: cut(say("half an"), 1),
        "check the network and the base URL if this lasts",
    ),
    "an error in a good answer": (
        lambda _: error_event("insufficient_quota", "no credit left"),
        "Add credit there, or name a model of another provider",
    ),
    "429 for two hours": (
        lambda _: fail(429, retry_after=7200, message="slow down"),
        "has had too many requests",
    ),
    "more than the window": (
        lambda _: fail(400, message="prompt is too long: 300000 tokens"),
        "take a model with a larger window",
    ),
}


async def shown(a: Inside, words: str) -> str:
    """The status page, once it says so."""
    status = a.home / "_status.md"

    def says() -> bool:
        return status.exists() and words in status.read_text("utf-8")

    await a.until(says)
    return status.read_text("utf-8")


def catalog(server: ModelServer, **more: str) -> ModelCatalog:
    return ModelCatalog(
        settings=TreeSettings(),
        environment=server.environment() | more,
        clock=SystemClock(),
        patience=0.0,
    )


@pytest.mark.parametrize("model", WIRES)
@pytest.mark.parametrize("what", sorted(FAULTS))
async def test_the_status_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, model: str, what: str
) -> None:
    script, words = FAULTS[what]
    with ModelServer(script) as server:
        async with inside(tmp_path) as a:
            a.world.models = models = catalog(server)
            await a.begin(model=model)
            told = await shown(a, words)
        await models.close()
    assert model.partition("/")[0] in told
    assert "Traceback" not in told


@pytest.mark.parametrize("model", WIRES)
async def test_a_service_that_is_not_there_is_told_with_its_address(
    tmp_path: Path, model: str
) -> None:
    with ModelServer(lambda _: "never") as server:
        pass
    async with inside(tmp_path) as a:
        a.world.models = models = catalog(server)
        await a.begin(model=model)
        told = await shown(a, "check the network and the base URL if this lasts")
        assert server.base_url in told
    await models.close()


@pytest.mark.parametrize("model", WIRES)
async def test_a_name_that_leads_nowhere_is_told(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    urls = {
        f"{name}_BASE_URL": "http://models.invalid/v1"
        for name in ("ANTHROPIC", "OPENAI", "GEMINI")
    }
    with ModelServer(lambda _: "never") as server:
        async with inside(tmp_path) as a:
            a.world.models = models = catalog(server, **urls)
            await a.begin(model=model)
            told = await shown(a, "Name or service not known")
            assert "check the network and the base URL" in told
        await models.close()
