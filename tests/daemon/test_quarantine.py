"""What goes wrong with one agent stays with that agent, and ends when it is mended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, hang
from tests.support.scripts import (
    at_gate,
    call,
    calls,
    done,
    drop,
    gate,
    open_gate,
    publish,
    speak,
)

if TYPE_CHECKING:
    from pathlib import Path


def damage(daemon: Daemon, pattern: str, number: int) -> bytes:
    """Spoil one line of a log, as a failing disk or an editor does; what it was."""
    path = daemon.path(pattern)
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    lines[number - 1] = lines[number - 1][: len(lines[number - 1]) // 2]
    path.write_bytes(b"\n".join(lines))
    return whole


def waiting(daemon: Daemon, agent: str) -> None:
    """An agent whose command waits at a gate."""
    speak(daemon, agent, [gate("go"), done("Done at last.")])
    drop(daemon, agent)
    at_gate(daemon, agent, "go")


def forget_deaths(daemon: Daemon) -> None:
    (daemon.root / ".agiraph/starts.json").unlink()


def test_a_damaged_line_quarantines_that_agent_alone_until_it_is_mended(
    tmp_path: Path,
) -> None:
    for log, number in (("conversation.jsonl", 2), ("_state/journal.jsonl", 1)):
        home = tmp_path / log.replace("/", "-")
        home.mkdir()
        daemon = Daemon(home, {})
        with daemon:
            waiting(daemon, "hurt")
            waiting(daemon, "well")
            daemon.kill()
            before = damage(daemon, f"hurt/{log}", number)
            daemon.start()
            page = daemon.until_there(f"hurt/{log}.error.md").read_text()
            assert f"Line {number}, column 1" in page
            assert "take the line out" in page
            assert "this agent does nothing; all others go on" in page
            daemon.until_state("hurt", "broken")
            assert (
                f"line {number} is damaged" in daemon.head("hurt/_status.md")["error"]
            )
            open_gate(daemon, "well", "go")
            daemon.until_state("well", "completed")
            assert len(daemon.lines("hurt/usage.jsonl")) == 1

            open_gate(daemon, "hurt", "go")
            daemon.path(f"hurt/{log}").write_bytes(before)
            daemon.until_state("hurt", "completed")
            daemon.until(
                lambda d=daemon, x=log: not d.there(f"hurt/{x}.error.md"),
                "the error page is gone",
            )
            assert "Done at last." in daemon.read("hurt/runs/*/_output.md")
            kinds = [event["type"] for event in daemon.events("hurt", "file.")]
            assert "file.error" in kinds
            assert "file.mended" in kinds


def test_a_damaged_conversation_of_a_worker_quarantines_its_agent(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {}) as daemon:
        node = call("create_work_node", id="part", task="A part.", worker="Ada")
        speak(
            daemon,
            "team",
            [calls(node, call("wait", nodes=["part"])), done()],
            part=[gate("go"), publish("All of it.")],
        )
        drop(daemon, "team")
        at_gate(daemon, "team", "go")
        daemon.kill()
        log = "team/runs/*/workers/Ada/conversation.jsonl"
        before = damage(daemon, log, 1)
        daemon.start()
        daemon.until_there(f"{log}.error.md")
        daemon.until_state("team", "broken")
        open_gate(daemon, "team", "go")
        daemon.path(log).write_bytes(before)
        daemon.until_state("team", "completed")
        assert daemon.read("team/runs/*/nodes/part/published/a.md") == "All of it.\n"


def test_a_line_taken_out_by_hand_mends_a_log_as_well(tmp_path: Path) -> None:
    with Daemon(tmp_path, {}) as daemon:
        waiting(daemon, "cut")
        daemon.kill()
        path = daemon.path("cut/_state/journal.jsonl")
        path.write_bytes(b"what is this\n" + path.read_bytes())
        daemon.start()
        daemon.until_state("cut", "broken")
        open_gate(daemon, "cut", "go")
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join(lines[1:]))
        daemon.until_state("cut", "completed")


def test_a_torn_end_is_cut_off_and_the_agent_goes_on(tmp_path: Path) -> None:
    with Daemon(tmp_path, {}) as daemon:
        waiting(daemon, "torn")
        daemon.kill()
        with daemon.path("torn/conversation.jsonl").open("ab") as log:
            log.write(b'{"role": "assi\0\0\0')
        open_gate(daemon, "torn", "go")
        daemon.start()
        daemon.until_state("torn", "completed")
        assert not daemon.there("torn/conversation.jsonl.error.md")
        daemon.lines("torn/conversation.jsonl")


def test_a_step_in_which_the_daemon_died_three_times_is_not_tried_again(
    tmp_path: Path,
) -> None:
    with Daemon(tmp_path, {}) as daemon:
        speak(daemon, "deadly", [gate("go"), done("Alive.")])
        drop(daemon, "deadly")
        at_gate(daemon, "deadly", "go")
        daemon.kill()
        # As three deaths within one step leave it: intended, and begun anew twice.
        log = daemon.path("deadly/conversation.jsonl")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        path = "scratch/a.md"
        lines[-1]["tool_calls"][0] |= {
            "name": "write_file",
            "arguments": {"path": path, "content": "x\n"},
        }
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        journal = daemon.path("deadly/_state/journal.jsonl")
        entries = [json.loads(line) for line in journal.read_text().splitlines()]
        step = {"ts": lines[-1]["ts"], "step": "coordinator/1.1.0"}
        entries = [each for each in entries if each["kind"] != "intent"]
        run = daemon.names("deadly/runs/*")[0]
        intent = {"kind": "intent", "tool": "write_file", "intent": {"run": run}}
        entries += [{**step, **intent}, *[{**step, "kind": "again"}] * 2]
        journal.write_text("".join(json.dumps(line) + "\n" for line in entries))
        forget_deaths(daemon)
        daemon.start()
        daemon.until_state("deadly", "broken")
        words = daemon.head("deadly/_status.md")["error"]
        assert "crashed 3 times in the same step (coordinator/1.1.0)" in words
        assert "agiraph resume deadly" in words
        assert len(daemon.lines("deadly/usage.jsonl")) == 1
        daemon.stop()
        daemon.start()
        daemon.until_state("deadly", "broken")

        code, _, said = daemon.run("resume", "deadly")
        assert code == 0
        assert "tried again" in said
        daemon.until_state("deadly", "completed")


def dies(daemon: Daemon, agent: str, server: ModelServer, times: int) -> None:
    """The daemon dies while the agent's model is being asked, so often."""
    for count in range(1, times + 1):
        daemon.until(lambda n=count: len(server.requests) >= n, "the model is asked")
        daemon.until_state(agent, "working")
        daemon.kill()
        daemon.start()


def test_the_agent_at_work_in_three_deaths_of_the_daemon_is_held(
    tmp_path: Path,
) -> None:
    with (
        ModelServer(lambda _: hang(600)) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        daemon.write("bad/GOAL.md", "Do it.\n")
        dies(daemon, "bad", server, 3)
        daemon.until_state("bad", "held")
        words = daemon.head("bad/_status.md")["waiting_for"]
        assert words.startswith("the daemon died again and again while this agent was")
        assert "agiraph resume bad" in words
        speak(daemon, "good", [done()])
        drop(daemon, "good")
        daemon.until_state("good", "completed")
        assert len(server.requests) == 3
        os.utime(daemon.root / "bad/GOAL.md")
        daemon.until(lambda: len(server.requests) == 4, "it is tried again")


def test_without_the_cache_nobody_is_held(tmp_path: Path) -> None:
    with (
        ModelServer(lambda _: hang(600)) as server,
        Daemon(tmp_path, server.environment()) as daemon,
    ):
        daemon.write("same/GOAL.md", "Do it.\n")
        dies(daemon, "same", server, 2)
        daemon.until(lambda: len(server.requests) >= 3, "the model is asked")
        daemon.kill()
        forget_deaths(daemon)
        daemon.start()
        daemon.until(lambda: len(server.requests) >= 4, "the model is asked again")
