"""The coordinator answers whoever writes, whatever else goes on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.cast import cast, told
from tests.support.model_server import ModelServer, call, hang, say
from tests.support.scripts import until_there
from tests.support.trace import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.daemon import Daemon
    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

GATE = f"{until_there('go')}; echo it is through"
LATE = 30.0


def coordinator(asked: Asked) -> Scripted:
    """It starts two workers and a command that takes long, and talks meanwhile."""
    begun = [call("create_work_node", id=name, task="Think.") for name in "ab"]
    heard = told(asked)
    if not asked.calls:
        return [*begun, call("bash", command=GATE)]
    if "Enough." in asked.last_user:
        return [
            *(call("cancel_node", node_id=name, reason="enough") for name in "ab"),
            call("finish", summary="Enough."),
        ]
    return say(f"You wrote {heard.count('[message from human]')} times.")


@pytest.fixture
def daemon(tmp_path: Path, manner: Manner) -> Iterator[Daemon]:
    script = cast(coordinator=coordinator, a=[hang(300)], b=[hang(300)])
    with ModelServer(script) as server:
        daemon = manner.daemon(tmp_path, server, {"AGIRAPH_FOREGROUND": "5"})
        daemon.write("desk/GOAL.md", "---\nmodel: lab/desk\n---\nA goal.\n")
        with daemon:
            yield daemon
        check(daemon, "desk", server, unanswered=2)


def writes(daemon: Daemon, times: int) -> float:
    """Drop a message; seconds until its answer stands in the outbox."""
    begun = time.monotonic()
    daemon.write(f"desk/_inbox/{times}.md", f"How far are you ({times})?\n")
    answer = f"You wrote {times} times."
    outbox = "desk/_outbox.md"
    daemon.until(lambda: answer in daemon.read(outbox), answer, seconds=LATE)
    return time.monotonic() - begun


def test_it_answers_while_all_workers_are_busy_and_its_own_command_runs(
    daemon: Daemon,
) -> None:
    daemon.until_state("desk/runs/*/nodes/a", "running", seconds=LATE)
    daemon.until_state("desk/runs/*/nodes/b", "running", seconds=LATE)
    at_once = writes(daemon, 1)  # its command stands in front for a second yet
    behind = writes(daemon, 2)
    assert "goes on in the background as job 1" in daemon.read(
        "desk/conversation.jsonl"
    )

    (daemon.root / "desk/inputs").mkdir()
    (daemon.root / "desk/inputs/go").touch()
    reported = "it is through"
    talk = "desk/conversation.jsonl"
    daemon.until(lambda: reported in daemon.read(talk), reported, seconds=LATE)
    daemon.write("desk/_inbox/end.md", "Enough.\n")
    daemon.until_state("desk", "completed", seconds=LATE)

    after_its_end = writes(daemon, 4)
    assert len(daemon.names("desk/runs/*")) == 1  # to chat opens no run
    print(
        f"answered in {at_once:.2f} s behind a command that had just begun, in "
        f"{behind:.2f} s with everyone busy, in {after_its_end:.2f} s after the end"
    )


def test_a_command_that_a_crash_cut_off_is_told_of_once_and_leaves_nothing(
    tmp_path: Path,
    manner: Manner,
) -> None:
    def loses(asked: Asked) -> Scripted:
        if not asked.calls:
            return call("bash", command="echo $$ > pid; sleep 600")
        if "[job 1]" in told(asked):
            return call("finish", summary="Its outcome is unknown.")
        return say("I wait for it.")

    with ModelServer(cast(coordinator=loses)) as server:
        daemon = manner.daemon(tmp_path, server, {"AGIRAPH_FOREGROUND": "0.5"})
        daemon.write("desk/GOAL.md", "---\nmodel: lab/desk\n---\nA goal.\n")
        talk = "desk/conversation.jsonl"
        with daemon:
            waits = "I wait for it."
            daemon.until(lambda: waits in daemon.read(talk), waits, seconds=LATE)
            pid = int(daemon.read("desk/runs/*/scratch/pid"))
            daemon.kill()
            daemon.start()
            daemon.until_state("desk", "completed", seconds=LATE)

        assert daemon.read(talk).count("interrupted by a restart") == 1
        assert not runs(pid)


def runs(pid: int) -> bool:
    """Whether a process is alive; one that nobody has waited for yet is not."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self").exists():
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
