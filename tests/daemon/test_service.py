"""When a model's service fails: what a person reads, and how the work goes on."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import yaml

from tests.support.daemon import Daemon
from tests.support.model_server import KEY, ModelServer, call, fail

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_asked import Asked
    from tests.support.model_replies import Scripted

SONNET = "anthropic/claude-sonnet-4-5"


def drop(daemon: Daemon, agent: str, model: str = SONNET) -> None:
    (daemon.root / agent).mkdir(exist_ok=True)
    daemon.write(f"{agent}/GOAL.md", f"---\nmodel: {model}\n---\nDo {agent}.\n")


def page(daemon: Daemon, agent: str) -> str:
    return daemon.read(f"{agent}/_status.md")


def finish(asked: Asked) -> Scripted:
    _ = asked
    return call("finish", summary="done")


def test_a_refused_key_is_told_at_once_and_a_restart_with_a_good_one_goes_on(
    tmp_path: Path,
) -> None:
    with ModelServer(finish) as server:
        wrong = {"ANTHROPIC_API_KEY": "wrong-key-0123456789"}
        daemon = Daemon(tmp_path, server.environment() | wrong)
        with daemon:
            started = time.monotonic()
            drop(daemon, "key")
            daemon.until_state("key", "held")
            assert time.monotonic() - started < 15, "it is told at once"
            waits = daemon.head("key/_status.md")["waiting_for"]
            assert "ANTHROPIC_API_KEY was refused" in waits
            assert "401" in waits
            assert "Set ANTHROPIC_API_KEY to a valid key" in waits
            assert "wrong-key" not in page(daemon, "key") + daemon.log.read_text()
            assert "ANTHROPIC_API_KEY was refused" in daemon.log.read_text()
            _, out, _ = daemon.run("status", "key")
            assert "ANTHROPIC_API_KEY" in out
            # A model with another key needs no restart.
            drop(daemon, "key", "openai/gpt-5")
            daemon.until_state("key", "completed")
            drop(daemon, "later")
            daemon.until_state("later", "held")
        daemon.environment["ANTHROPIC_API_KEY"] = KEY
        with daemon:
            daemon.until_state("later", "completed")
        assert len(server.refusals) <= 3


def test_a_missing_key_names_the_variable(tmp_path: Path) -> None:
    with Daemon(tmp_path, {}) as daemon:
        drop(daemon, "none")
        daemon.until_state("none", "held")
        waits = daemon.head("none/_status.md")["waiting_for"]
        assert "ANTHROPIC_API_KEY" in waits
        assert "Set" in waits


def test_an_unknown_model_is_told_and_a_corrected_name_goes_on(tmp_path: Path) -> None:
    def script(asked: Asked) -> Scripted:
        if "sonet" in asked.model:
            return fail(404, message=f"model: {asked.model}")
        return finish(asked)

    with (
        ModelServer(script) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        drop(daemon, "model", "anthropic/claude-sonet-4-5")
        daemon.until_state("model", "held")
        waits = daemon.head("model/_status.md")["waiting_for"]
        assert "claude-sonet-4-5" in waits
        assert "Correct `model`" in waits
        drop(daemon, "model")
        daemon.until_state("model", "completed")
        assert len(daemon.names("model/runs/*")) == 1


def test_faults_that_pass_are_waited_out_and_lose_nothing(tmp_path: Path) -> None:
    """429 with Retry-After and 529: tried again, not before the service asked."""
    at: dict[str, list[float]] = {}

    def script(asked: Asked) -> Scripted:
        agent = asked.first_user.partition("Do ")[2].partition(".")[0]
        tries = at.setdefault(agent, [])
        tries.append(time.monotonic())
        if len(tries) > 1:
            return finish(asked)
        if agent == "rate":
            return fail(429, retry_after=1)
        return fail(529)

    with (
        ModelServer(script) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        for agent in ("rate", "busy"):
            drop(daemon, agent)
        for agent in ("rate", "busy"):
            daemon.until_state(agent, "completed")
            assert len(at[agent]) == 2
            assert len(daemon.lines(f"{agent}/usage.jsonl")) == 1
        assert at["rate"][1] - at["rate"][0] >= 1.0


def test_what_lasts_is_told_and_other_models_go_on_with_the_work(
    tmp_path: Path,
) -> None:
    """A network that is down, a service that is busy, one that asks for a long wait."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    def script(asked: Asked) -> Scripted:
        if asked.model == "gpt-5-busy":
            return fail(529)
        if asked.model == "gpt-5-slow":
            return fail(429, retry_after=600)
        return finish(asked)

    told = {
        "slow": ("lab/gpt-5-slow", "too many requests", "asked again later"),
        "busy": ("openai/gpt-5-busy", "busy or broken (529", "asked again later"),
        "down": (SONNET, f"127.0.0.1:{port} could not be reached", "tried again"),
    }
    with ModelServer(script) as server:
        base = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "LAB_KEY": KEY}
        lab = {
            "kind": "openai",
            "base_url": server.openai_url,
            "api_key_env": "LAB_KEY",
        }
        with Daemon(tmp_path, server.environment() | base) as daemon:
            settings = yaml.safe_dump({"providers": {"lab": lab}})
            daemon.write("agiraph.yaml", settings)
            for agent, (model, *_) in told.items():
                drop(daemon, agent, model)
            for agent, (_, *words) in told.items():
                daemon.until_state(agent, "held", seconds=60)
                waits = daemon.head(f"{agent}/_status.md")["waiting_for"]
                for word in words:
                    assert word in waits, f"{agent}: {waits}"
            for agent in ("busy", "down"):
                drop(daemon, agent, "openai/gpt-5")
                daemon.until_state(agent, "completed")
                assert len(daemon.names(f"{agent}/runs/*")) == 1
