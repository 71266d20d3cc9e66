"""A daemon that was stopped while a flood of files came misses nothing."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from tests.support.cast import cast
from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, call, say

if TYPE_CHECKING:
    from pathlib import Path

# More events than the kernel keeps (16,384), three for each file.
FLOOD = int(os.environ.get("AGIRAPH_FLOOD", "8000"))


def test_what_came_behind_a_queue_that_had_overflowed_is_found(tmp_path: Path) -> None:
    script = cast(coordinator=[call("finish", summary="Done."), say("I heard you.")])
    with (
        ModelServer(script) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        for name in ("ada", "ben"):
            daemon.write(f"{name}/GOAL.md", "---\nmodel: openai/gpt-4o\n---\nDo it.\n")
            daemon.until_state(name, "completed")
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            for number in range(FLOOD):
                daemon.path(f"ada/_inbox/.{number}").write_text("")
            daemon.append("ben/_inbox.md", "Do you hear me?\n")
        finally:
            os.kill(daemon.pid, signal.SIGCONT)

        daemon.until(
            lambda: "Do you hear me?" in daemon.read("ben/conversation.jsonl"),
            "it is heard, long before everything is looked through anyway",
            seconds=40,
        )
