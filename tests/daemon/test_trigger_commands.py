"""What a trigger's command finds, of a daemon that runs as a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.daemon import Daemon
from tests.support.scripts import done, drop, say, speak

if TYPE_CHECKING:
    from pathlib import Path

UPKEEP = (
    "- {id: upkeep, type: delayed, delay: 1s, "
    "action: {type: run_command, command: agiraph tidy a}}\n"
)


def test_an_agent_is_tidied_by_a_trigger_where_no_environment_is_active(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {"PATH": "/usr/bin:/bin"}) as daemon:
        speak(daemon, "a", [done(), say("Tidied.")])
        drop(daemon, "a")
        daemon.until_state("a", "completed")
        daemon.write("a/MEMORY.md", "Chips are made of sand.\n")
        daemon.write("a/triggers.yaml", UPKEEP)
        daemon.until_there("a/_triggers.jsonl")
        line = daemon.until(lambda: daemon.lines("a/_triggers.jsonl"), "it has fired")
        output = daemon.read("a/runs/*/outputs/trigger-upkeep.txt")
        assert (line[0]["outcome"], line[0].get("reason")) == ("fired", None), output
        assert "Asked a to tidy its memory" in output
        kept = daemon.read("a/memory/.before/*/MEMORY.md")
        assert kept == "Chips are made of sand.\n"
        daemon.until(
            lambda: "Tidied." in daemon.read("a/conversation.jsonl"), "it is tidied"
        )
