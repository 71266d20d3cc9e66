"""Long commands of the coordinator go on in the background, and each reports once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.narration import QUIET, narrate
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR
from tests.support.inside import Inside, call, inside, say
from tests.support.scripts import until_there

if TYPE_CHECKING:
    from pathlib import Path

GATE = f"echo begun; {until_there('go')}; echo ended"
LONG = call("bash", command=GATE)


async def behind(a: Inside) -> None:
    """Begin, with a command that has gone on in the background."""
    a.world.foreground = 0.3
    a.model.says(COORDINATOR, LONG, say("I wait for it."))
    await a.begin()
    await a.asked(COORDINATOR, 2)
    await a.until(lambda: "I wait for it." in said(a))


def said(a: Inside) -> list[str]:
    """What the coordinator has said, as it is on record."""
    return [line["content"] for line in a.lines() if line["role"] == "assistant"]


async def test_a_long_command_goes_on_and_its_end_is_told_with_its_output(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        [result] = a.results("bash")
        assert result.startswith("goes on in the background as job 1;")
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        assert a.states[-1].value == "working"
        assert "job 1, for " in a.desk.jobs.running()[0]

        a.write("inputs/go", "")
        await a.asked(COORDINATOR, 3)
        told = a.told()
        assert told.count("[job 1 ended after") == 1
        assert "exit code 0\nbegun\nended" in told
        [kept] = (a.run / "outputs").iterdir()
        assert "begun\nended" in kept.read_text()
        assert f"outputs/{kept.name}" in told


async def test_the_end_of_a_job_is_in_the_log(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        assert a.events("tool.") == ["tool.called", "tool.result"]

        a.write("inputs/go", "")
        await a.until(lambda: "tool.ended" in a.events("tool."))
        (ended,) = [event for event in a.said if event.type is EventType.TOOL_ENDED]
        assert narrate(ended).startswith("job 1 of coordinator ended: echo begun; ")
        assert ended.type not in QUIET
        assert ended.data["error"] is False


async def test_a_short_command_is_waited_for(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, call("bash", command="echo at once"))
        await a.begin()
        await a.asked(COORDINATOR, 2)

        assert a.results("bash") == ["exit code 0\nat once\n"]
        assert not (a.run / "outputs").is_dir() or not list(
            (a.run / "outputs").iterdir()
        )


async def test_a_person_who_writes_is_answered_while_a_command_runs(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, LONG)
        await a.begin()
        await a.until(lambda: "tool.called" in a.events("tool."))
        a.write("_inbox/hello.md", "How far are you?\n")
        a.model.says(COORDINATOR, say("It still runs."))
        await a.look()
        outbox = a.home / "_outbox.md"
        await a.until(lambda: outbox.exists() and "It still" in outbox.read_text())

        assert "goes on in the background" in a.results("bash")[0]
        assert "begun" in next((a.run / "outputs").iterdir()).read_text()


async def test_a_wait_ends_with_the_job(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.world.foreground = 0.3
        a.model.says(COORDINATOR, LONG, call("wait"))
        await a.begin()
        await a.until(
            lambda: (
                a.events("tool.")
                == ["tool.called", "tool.result"] * 1 + ["tool.called"]
            )
        )
        a.write("inputs/go", "")
        await a.asked(COORDINATOR, 3)

        assert "[job 1 ended" in a.told()


async def test_after_a_restart_a_job_is_told_of_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        a.desk.jobs.cut_off = lambda: None  # type: ignore[method-assign]
        mark = a.desk.journal.mark

        async def too_late(step: str, what: str) -> None:
            if not what.startswith("job report"):  # as though it had been killed
                await mark(step, what)

        a.desk.journal.mark = too_late  # type: ignore[method-assign]
        a.model.says(COORDINATOR, say("I see."))
        await a.restart()
        await a.until(lambda: "[job 1] interrupted by a restart" in a.told())
        await a.until(lambda: "I see." in said(a))
        await a.restart()
        await a.stays(lambda: a.told().count("[job 1]") == 1)


async def test_a_shutdown_says_that_the_command_was_cut_off(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        await a.restart()
        await a.asked(COORDINATOR, 3)

        assert a.told().count("[job 1 ended after") == 1
        assert "Cut off:" in a.told()


async def test_commands_end_with_their_run(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        a.write("_inbox/enough.md", "Enough.\n")
        a.model.says(COORDINATOR, call("finish", summary="Enough."))
        await a.look()
        await a.until(lambda: a.supervising is not None and a.supervising.done())

        assert "were ended with it: 1." in a.results("finish")[0]
        asked = a.model.asked(COORDINATOR)
        await a.restart()
        assert "[job 1" not in a.told()
        assert a.model.asked(COORDINATOR) == asked


async def test_a_stopped_run_ends_its_commands(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await behind(a)
        a.write("STOP", "")
        await a.look()
        await a.until(lambda: a.supervising is not None and a.supervising.done())

        assert "agent.stopped" in a.events()
        assert not a.desk.jobs.any


async def test_so_many_at_once_and_no_more(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.world.foreground = 0.05
        a.model.says(COORDINATOR, *[LONG] * 9, say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 10)

        assert a.results("bash")[-1].startswith("8 commands go on in the background")
