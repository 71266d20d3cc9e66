"""The eight manners of speaking to a model: four wires, as streams or in one piece.

`pytest tests/scenarios` tells each story in one of them, by the table `SAMPLE`;
`--wires all` tells each in all of them, `--wires gemini,gemini-whole` in these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.daemon import Daemon
from tests.support.model_server import KEY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.model_server import ModelServer

CLAUDE, GPT = "anthropic/claude-sonnet-4-5", "openai/gpt-4o"
GEMINI = "gemini/gemini-3.8-flash"
MODELS = {
    "messages": CLAUDE,
    "chat": GPT,
    "responses": "lab/gpt-5.4",
    "gemini": GEMINI,
}
_KINDS = {"messages": "anthropic", "gemini": "gemini"}


@dataclass(frozen=True)
class Manner:
    """One wire, and whether answers are streamed.

    Every tree has the providers anthropic, openai (Chat Completions), gemini and lab;
    the last speaks this manner's own wire, whatever its models are called.
    """

    wire: str
    stream: bool

    def __str__(self) -> str:
        return self.wire if self.stream else f"{self.wire}-whole"

    @property
    def model(self) -> str:
        """A model of this wire: what agents without one of their own get."""
        return MODELS[self.wire]

    def settings(
        self, server: ModelServer, *, lab: Mapping[str, Any] | None = None, **more: Any
    ) -> str:
        """An agiraph.yaml whose models are all the server's.

        Args:
            lab: more settings of the provider `lab`; None takes one away.
            more: further keys of the file.
        """
        own = self._provider(server, self.wire, "LAB_KEY") | dict(lab or {})
        providers = {
            "anthropic": self._provider(server, "messages", "ANTHROPIC_API_KEY"),
            "openai": self._provider(server, "chat", "OPENAI_API_KEY"),
            "gemini": self._provider(server, "gemini", "GEMINI_API_KEY"),
            "lab": {key: value for key, value in own.items() if value is not None},
        }
        return yaml.safe_dump({"model": self.model, "providers": providers} | more)

    def daemon(
        self,
        home: Path,
        server: ModelServer,
        environment: Mapping[str, str] | None = None,
        settings: str | None = None,
    ) -> Daemon:
        """A daemon, not started yet, whose models are the server's."""
        keys = server.environment() | {"LAB_KEY": KEY}
        daemon = Daemon(home, keys | dict(environment or {}))
        daemon.write("agiraph.yaml", settings or self.settings(server))
        return daemon

    def _provider(self, server: ModelServer, wire: str, key: str) -> dict[str, Any]:
        openai = wire in ("chat", "responses")
        return {
            "kind": _KINDS.get(wire, "openai"),
            "base_url": server.openai_url if openai else server.base_url,
            "api_key_env": key,
            "wire_api": wire,
            "stream": self.stream,
        }


MANNERS = {
    str(manner): manner
    for manner in (Manner(wire, stream) for wire in MODELS for stream in (True, False))
}

# In which manner each file of scenarios runs when none is asked for; others: messages.
SAMPLE = {
    "test_smoke": "messages",
    "test_by_text": "chat-whole",
    "test_collaboration": "messages",
    "test_compaction": "messages",
    "test_front_desk": "gemini",
    "test_human_loop": "messages",
    "test_infinite": "responses",
    "test_infinite_web": "gemini-whole",
    "test_memory": "responses-whole",
    "test_messaging": "chat",
    "test_money_and_people": "chat-whole",
    "test_multi_turn": "messages-whole",
    "test_odd_models": "gemini",
    "test_recursive": "responses",
    "test_setbacks": "chat",
    "test_stages": "messages-whole",
    "test_strategies": "responses-whole",
}


def chosen(wires: str, story: str) -> list[Manner]:
    """The manners that a file of scenarios is to run in.

    Args:
        wires: what stands behind `--wires`: "", all, or names with commas between.
        story: the file's name without its ending.

    Raises:
        ValueError: no manner has such a name.
    """
    if wires == "all":
        return list(MANNERS.values())
    names = [name.strip() for name in wires.split(",") if name.strip()]
    unknown = [name for name in names if name not in MANNERS]
    if unknown:
        msg = f"--wires {','.join(unknown)}: it may be all, or {', '.join(MANNERS)}"
        raise ValueError(msg)
    return [MANNERS[name] for name in names or [SAMPLE.get(story, "messages")]]
