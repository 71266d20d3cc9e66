"""A changed model or SOUL opens a new session, which carries the conversation on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, call
from tests.support.scripts import until_there

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_asked import Asked
    from tests.support.model_replies import Scripted

GATE = until_there("{}")


def script(asked: Asked) -> Scripted:
    """Three gates, then the end; so there is time to change things between."""
    if asked.turn <= 3:
        return call("bash", command=GATE.format(f"go{asked.turn}"))
    return call("finish", summary=f"done with {asked.model}")


def test_the_conversation_goes_on_under_another_model_and_another_soul(
    tmp_path: Path,
) -> None:
    with (
        ModelServer(script, new_sessions=True) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        (daemon.root / "a/inputs").mkdir(parents=True)
        daemon.write("a/SOUL.md", "You are terse.\n")
        goal = "---\nmodel: anthropic/claude-sonnet-4-5\n---\nCount.\n"
        daemon.write("a/GOAL.md", goal)
        daemon.until(lambda: len(server.requests) == 1, "the first call")
        daemon.write("a/SOUL.md", "You are wordy.\n")
        daemon.until(lambda: kept(daemon, "SOUL.md", "wordy"), "the soul is accepted")
        open_gate(daemon, 1)
        daemon.until(lambda: len(server.requests) == 2, "the second call")
        daemon.write(
            "a/GOAL.md", goal.replace("anthropic/claude-sonnet-4-5", "openai/gpt-5")
        )
        daemon.until(lambda: kept(daemon, "GOAL.md", "gpt-5"), "the model is accepted")
        open_gate(daemon, 2)
        daemon.until(lambda: len(server.requests) == 3, "the third call")
        daemon.write("a/GOAL.md", goal.replace("sonnet-4-5", "opus-4-5"))
        daemon.until(lambda: kept(daemon, "GOAL.md", "opus"), "the model is accepted")
        open_gate(daemon, 3)
        daemon.until_state("a", "completed")
        heads = [
            x for x in daemon.lines("a/conversation.jsonl") if x["role"] == "system"
        ]
    assert server.refusals == []
    first, second, third, last = server.requests
    assert "You are terse." in first.system
    assert "You are wordy." in second.system
    assert "You are terse." not in second.system
    assert first.model == second.model == "claude-sonnet-4-5"
    assert (third.model, third.wire) == ("gpt-5", "chat")
    assert last.model == "claude-opus-4-5"
    assert "Count." in last.first_user
    assert [asked.turn for asked in server.requests] == [1, 2, 3, 4]
    assert [head["session"] for head in heads] == [1, 2, 3, 4]
    assert len(list((tmp_path / "agents/a/runs").iterdir())) == 1


def kept(daemon: Daemon, name: str, words: str) -> bool:
    """Whether a version of a file with these words was accepted."""
    return words in daemon.read(f"a/_state/accepted/{name}")


def open_gate(daemon: Daemon, number: int) -> None:
    (daemon.root / f"a/inputs/go{number}").touch()
