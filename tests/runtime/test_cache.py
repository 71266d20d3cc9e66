"""A long conversation is almost all read from the cache, by the server's own count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agiraph.model.agent import ProviderSettings, TreeSettings
from agiraph.providers.models import ModelCatalog
from tests.support.inside import Inside, inside
from tests.support.model_server import ModelServer, call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

TURNS = 50
MODELS = {
    "messages": "anthropic/claude-sonnet-5-5",
    "responses": "responding/gpt-5.4",
}
A_PAGE = "The lamp was lit at dusk, and the log says so. " * 45  # about 700 tokens


def script(asked: Asked) -> Scripted:
    """Writes a page a turn, and ends."""
    if asked.number > TURNS:
        return call("finish", summary="Written.")
    return call("write_file", path=f"scratch/{asked.number:03d}.md", content=A_PAGE)


def catalog(a: Inside, server: ModelServer) -> ModelCatalog:
    responding = ProviderSettings(
        "responding",
        "openai",
        base_url=server.openai_url,
        wire_api="responses",
        api_key_env="OPENAI_API_KEY",
    )
    return ModelCatalog(
        settings=TreeSettings(providers=(responding,)),
        environment=server.environment(),
        clock=a.clock,
    )


def usage(a: Inside) -> list[dict[str, int]]:
    path = a.home / "usage.jsonl"
    text = path.read_text("utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("wire", sorted(MODELS))
async def test_in_fifty_turns_with_all_that_happens_95_percent_is_read_from_the_cache(
    tmp_path: Path, wire: str
) -> None:
    with ModelServer(script) as server:
        async with inside(tmp_path) as a:
            a.model = models = catalog(a, server)  # type: ignore[assignment]  # the real ones
            a.world.models = models
            models.heard = lambda _: ""  # type: ignore[attr-defined]  # for its words
            try:
                await _long_run(a, MODELS[wire])
            finally:
                await models.close()
    assert server.refusals == []
    calls = usage(a)
    read = sum(each["cache_read"] for each in calls)
    sent = read + sum(each["input"] + each["cache_write"] for each in calls)
    assert len(calls) >= TURNS
    assert read / sent >= 0.95, f"{read / sent:.1%} of {sent} tokens"


async def _long_run(a: Inside, model: str) -> None:
    await a.begin("Keep the log.", model=model)
    await a.until(lambda: len(usage(a)) >= 10)
    a.write("MEMORY.md", "# Memory\n\nThe harbour is called Aben.\n")
    await a.look()
    await a.until(lambda: len(usage(a)) >= 18)
    a.write("_inbox.md", "How far are you?\n")
    await a.look()
    await a.until(lambda: "How far are you?" in a.told())
    a.clock.ahead += 86_400.0  # another day
    await a.until(lambda: len(usage(a)) >= 26)
    await a.restart()
    a.write("memory/knowledge/lamps.md", "Lamps burn oil.\n")
    await a.look()
    await a.until(lambda: len(usage(a)) >= 38)
    a.write("GOAL.md", f"---\nmodel: {model}\nreflection: false\n---\nKeep it well.\n")
    await a.look()
    await a.until(lambda: "agent.completed" in a.events("agent."))
    assert "Keep it well." in a.told()
    assert len({line["session"] for line in a.lines() if line["role"] == "system"}) == 1
