"""Events that come while what their trigger began before is still at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.runtime.test_triggers import arm, at_rest, finished, later, told
from tests.support.inside import call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

NEWS = "{id: drop, type: on_event, event: file.changed, filter: {path: 'inputs/**'}, "
DROP = NEWS + "action: {type: wake_agent, task: There is a file.}}"
RUNNING, OVERTAKEN = "skipped still running", "skipped overtaken"


async def dropped(a: Inside, *names: str) -> None:
    """Files come, and are seen."""
    for name in names:
        a.write(f"inputs/{name}", f"{name}\n")
    await later(a, 100)
    await later(a, 100)


def wakes(a: Inside) -> int:
    return a.model.heard(COORDINATOR).count("[trigger drop")


async def at_work(a: Inside, *more: str) -> None:
    """An agent that a file has woken, and whose wake is at work."""
    await finished(a, DROP, *more)
    await dropped(a, "one.csv")
    await a.asked(COORDINATOR, 2)
    assert told(a, "drop") == ["fired"]


async def test_what_comes_while_the_wake_is_at_work_is_told_once_it_has_ended(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await at_work(a)
        a.write("inputs/two.csv", "2\n")
        a.clock.ahead += 100
        await a.agent.look()
        assert a.desk.watchful  # its rest asks for a look
        await dropped(a, "three.csv")
        assert told(a, "drop") == ["fired", OVERTAKEN]
        a.model.says(COORDINATOR, say("I have read the first."))
        await at_rest(a)
        await a.asked(COORDINATOR, 3)
        assert wakes(a) == 2
        a.model.says(COORDINATOR, say("And the others."))
        await at_rest(a)
        await later(a, 7200)
        assert told(a, "drop") == ["fired", OVERTAKEN, "fired put off"]
        assert a.model.asked(COORDINATOR) == 3


async def test_files_that_come_together_wake_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(a, DROP)
        await dropped(a, "one.csv", "two.csv", "three.csv")
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("I have read them."))
        await at_rest(a)
        await later(a, 100)
        assert told(a, "drop") == ["fired", RUNNING, RUNNING]
        assert a.model.asked(COORDINATOR) == 2


async def test_what_was_put_off_is_told_once_over_restarts(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await at_work(a)
        await dropped(a, "two.csv")
        await a.restart()
        await a.asked(COORDINATOR, 1)  # of the new daemon's model
        a.model.says(COORDINATOR, say("Read."), say("Read."))
        await at_rest(a)
        assert told(a, "drop") == ["fired", "fired put off"]
        await at_rest(a)
        assert a.told().count("[trigger drop") == 2
        # As though the daemon had been killed before the line was written.
        lines = (a.home / "_triggers.jsonl").read_text().splitlines(keepends=True)
        (a.home / "_triggers.jsonl").write_text("".join(lines[:-1]))
        await a.restart()
        await a.look()
        assert told(a, "drop") == ["fired", "fired put off"]
        assert a.told().count("[trigger drop") == 2


async def test_what_was_put_off_for_an_entry_that_is_gone_is_skipped(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await at_work(a)
        await dropped(a, "two.csv")
        arm(a)
        await a.look()
        assert told(a, "drop") == ["fired", "skipped it was taken away, or changed"]
        a.model.says(COORDINATOR, say("Read."))
        await at_rest(a)
        await later(a, 3600)
        assert wakes(a) == 1


async def test_what_was_put_off_waits_for_the_end_of_a_pause(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await at_work(a)
        await dropped(a, "two.csv")
        a.write("PAUSE", "")
        await a.look()
        a.model.says(COORDINATOR, say("Read."))
        await later(a, 3600)
        assert told(a, "drop") == ["fired"]
        (a.home / "PAUSE").unlink()
        await a.look()
        await a.until(lambda: told(a, "drop") == ["fired", "fired put off"])


async def test_what_an_agent_does_while_awake_does_not_wake_it_again(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        task = "action: {type: wake_agent, task: Somebody writes.}"
        mail = f"{{id: mail, type: on_event, event: message.sent, {task}}}"
        await finished(a, mail)
        a.write("_inbox.md", "Hello?\n")
        await a.look()
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, call("send_message", to="human", content="Hello."))
        await a.asked(COORDINATOR, 3)
        await a.look()
        assert told(a, "mail") == ["fired", RUNNING]
        a.model.says(COORDINATOR, say("Done."))
        await at_rest(a)
        await later(a, 3600)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 3)
        assert told(a, "mail") == ["fired", RUNNING]


async def test_a_command_runs_again_for_what_came_while_it_ran(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        wait = "until [ -e go ]; do sleep 0.02; done; ls $AGIRAPH_INPUTS >> seen"
        await finished(a, f'{NEWS}action: {{type: run_command, command: "{wait}"}}}}')
        await dropped(a, "one.csv")
        a.go()
        await a.until((a.run / "outputs/trigger-drop.txt").exists)
        await dropped(a, "two.csv")
        await dropped(a, "three.csv")
        assert told(a, "drop") == [OVERTAKEN]
        (a.run / "scratch/go").touch()
        await a.until(lambda: len(told(a, "drop")) == 2)
        await a.look()
        await a.until(lambda: len(told(a, "drop")) == 3)
        assert sorted(told(a, "drop")) == ["fired", "fired put off", OVERTAKEN]
        assert a.text("scratch/seen").count("three.csv") >= 1


async def test_a_node_runs_again_for_what_came_while_it_was_at_work(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        arm(a, NEWS + "action: {type: run_node, node: n}}")
        a.model.says(COORDINATOR, calls(node("n", hold=True)), say("I wait."))
        await a.begin(limits={"timeout": "10h"})
        await a.until(lambda: a.state("n") == "pending")
        await dropped(a, "one.csv")
        await a.asked("n")
        await dropped(a, "two.csv")
        assert told(a, "drop") == ["fired"]
        a.model.says("n", publish("once"))
        await a.until(lambda: a.events("node.completed", node="n"))
        await later(a, 100)
        assert told(a, "drop") == ["fired", "fired put off"]
        await a.asked("n", 2)
