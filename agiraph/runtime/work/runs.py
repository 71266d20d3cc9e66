"""Runs: opened for a goal, divided into stages, ended with a result."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agiraph.core.board import open_nodes, state
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.event import EventType
from agiraph.model.run import Contract, Run, RunState, Stage
from agiraph.model.usage import Spend
from agiraph.runtime.people import approvals
from agiraph.runtime.together import together
from agiraph.runtime.work import publishing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.runtime.desk import Desk

CONTINUED = "its time is over; the work goes on in the next run"


async def open_run(desk: Desk) -> None:
    """Open the next run for the goal in force."""
    goal = desk.goal
    if goal is None:
        raise LookupError("a run is opened without a goal")
    await _nobody_left(desk)
    desk.forget_run()
    run = Run(
        name=_next_name(desk),
        state=RunState.OPEN,
        opened=desk.world.stamp(),
        goal=goal.body,
        goal_hash=desk.goal_digest,
        key=goal.settings.run,
    )
    before = desk.run
    desk.spend = Spend()  # what pages and the result say is what this run spent
    await desk.set_run(run)
    if before is not None and before.reason == CONTINUED:
        await carry_over(desk)
    folder = desk.home.run(run.name)
    inner = (folder.nodes, folder.workers, folder.messages, folder.scratch)
    await together(*(desk.world.pen.folder(path) for path in inner))
    desk.mail.load()
    await desk.records.event(EventType.AGENT_STARTED, desk.where())


async def next_run(desk: Desk) -> bool:
    """Where an endless run's time is over and nothing is open, go on in another.

    Returns:
        Whether it was: the new run has the old one's `scratch/`.
    """
    run = desk.run
    if run is None or not desk.run_open or open_nodes(desk.recorded):
        return False
    world, per = desk.world, desk.settings.run_per
    opened = datetime.fromisoformat(run.opened).astimezone(world.clock.zone())
    now = world.clock.now().astimezone(world.clock.zone())
    if _period(opened, per) == _period(now, per):
        return False
    await desk.set_run(
        replace(
            run,
            state=RunState.COMPLETED,
            ended=world.stamp(),
            reason=CONTINUED,
            summary=run.summary,
        )
    )
    await open_run(desk)
    return True


def _period(moment: datetime, per: str) -> tuple[int, ...]:
    """What tells one day, week or month from another."""
    if per == "week":
        year, week, _ = moment.isocalendar()
        return year, week
    days = (moment.year, moment.month, moment.day)
    return days if per == "day" else days[:2]


def goes_on(desk: Desk) -> bool:
    """Whether a crash came between the end of an endless run and the next one."""
    run = desk.run
    return (
        run is not None
        and run.state is RunState.COMPLETED
        and (run.reason == CONTINUED)
    )


async def carry_over(desk: Desk) -> None:
    """Bring the workbench of the run before into the newest one, once."""
    folder = desk.run_folder()
    reader, pen = desk.world.reader, desk.world.pen
    names = sorted(entry.name for entry in reader.entries(desk.home.runs))
    before = [name for name in names if name < folder.name and name[0] != "."]
    if not before or reader.entry(folder.scratch) is not None:
        return
    old = desk.home.run(before[-1])
    if reader.entry(old.scratch) is not None:
        await desk.world.durably(lambda: pen.move(old.scratch, folder.scratch))


async def _nobody_left(desk: Desk) -> None:
    """Wait until the loops of the run before are ended: they look at its board."""
    desk.opening = True
    desk.bell.ring()
    try:
        await desk.bell.until(lambda: not desk.loops)
    finally:
        desk.opening = False


def _next_name(desk: Desk) -> str:
    today = desk.world.today()
    try:
        names = {entry.name for entry in desk.world.reader.entries(desk.home.runs)}
    except NotThere:
        names = set()
    number = 1
    while (name := f"{today}-{number:02d}") in names and not _is_empty(desk, name):
        number += 1
    return name


def _is_empty(desk: Desk, name: str) -> bool:
    """Whether a crash came between a run's folder and its record."""
    try:
        return not desk.world.reader.entries(desk.home.run(name).path)
    except AgiraphError:
        return False


async def reopen(desk: Desk) -> None:
    """A node was added to a run that had ended: it goes on."""
    if desk.run is not None and not desk.run.state.open:
        await desk.set_run(replace(desk.run, state=RunState.REOPENED, ended=""))
        desk.mail.load()


async def end_run(
    desk: Desk, how: RunState, *, reason: str = "", summary: str = ""
) -> None:
    """Record that the run has ended, and say so."""
    if desk.run is None:
        return
    await desk.jobs.end()
    desk.next_cycle = None
    await desk.set_run(
        replace(
            desk.run,
            state=how,
            ended=desk.world.stamp(),
            reason=reason,
            summary=summary or desk.run.summary,
        )
    )
    await approvals.withdraw_of(desk, None, "the run has ended")
    await desk.write_board()
    await tell_end(desk, desk.run)


async def tell_end(desk: Desk, run: Run) -> None:
    """The event of a run's end, as its record has it."""
    words = run.reason or run.summary[:200]
    await desk.records.event(end_event(run), desk.where(), reason=words)


def end_event(run: Run) -> EventType:
    """What a run's end is called."""
    return {
        RunState.COMPLETED: EventType.AGENT_COMPLETED,
        RunState.FAILED: EventType.AGENT_FAILED,
    }.get(run.state, EventType.AGENT_STOPPED)


async def finish(desk: Desk, summary: str, artifacts: Sequence[str]) -> None:
    """Write the result, publish the run's scratch, end the run; twice is harmless."""
    folder = desk.run_folder()
    if publishing.has_content(desk, folder.scratch):
        await publishing.swap(desk, folder.scratch, folder.published)
    await write_output(desk, summary, artifacts)
    if desk.run is not None and desk.run.state.open:
        await _close_stage(desk, "")
        await end_run(desk, RunState.COMPLETED, summary=summary)


async def write_output(desk: Desk, summary: str, artifacts: Sequence[str]) -> None:
    """`_output.md`: the summary, links to the artifacts, paths and cost."""
    folder = desk.run_folder()
    parts = [summary.strip()]
    links = [f"- [{path}]({_link(path)})" for path in artifacts]
    if links:
        parts.append("## Artifacts\n\n" + "\n".join(links))
    parts.append("\n".join(["---", "", *_facts(desk)]))
    data = ("\n\n".join(parts) + "\n").encode()
    await desk.world.write(folder.output, data)


def _link(path: str) -> str:
    plain = path.removeprefix("run/").removeprefix("./")
    if plain.startswith("scratch/"):
        plain = "published/" + plain.removeprefix("scratch/")
    return posixpath.normpath(plain).replace(" ", "%20")


def _facts(desk: Desk) -> list[str]:
    folder = desk.run_folder()
    lines = [f"Run `{folder.path}`"]
    if publishing.has_content(desk, folder.published):
        lines.append(f"Files: `{folder.published}/`")
    done = [n for n in desk.nodes.values() if state(n, desk.nodes).ended]
    if done:
        lines.append(f"Nodes: {len(done)}; see [_board.md](_board.md)")
    spend = desk.spend
    cost = "cost unknown" if spend.cost_usd is None else f"${spend.cost_usd:.4f}"
    turns = f"{spend.turns} {'turn' if spend.turns == 1 else 'turns'}"
    lines.append(f"Spent: {turns}, {spend.usage.total:,} tokens, {cost}")
    return [f"- {line}" for line in lines]


async def reconvene(
    desk: Desk, number: int, assessment: str, title: str, contract: Contract
) -> None:
    """Close stage `number - 1` with an assessment and open stage `number`, once."""
    run = desk.run
    if run is None or any(stage.number == number for stage in run.stages):
        return
    await _close_stage(desk, assessment)
    run = desk.run
    if run is None:
        return
    stage = Stage(number, title, contract, opened=desk.world.stamp())
    await desk.set_run(replace(run, stages=(*run.stages, stage)))
    await desk.records.event(
        EventType.STAGE_STARTED, desk.where(), title=title, number=number
    )


async def _close_stage(desk: Desk, assessment: str) -> None:
    run = desk.run
    if run is None or not run.stages or run.stages[-1].closed:
        return
    last = replace(run.stages[-1], closed=desk.world.stamp(), assessment=assessment)
    await desk.set_run(replace(run, stages=(*run.stages[:-1], last)))
    await desk.records.event(
        EventType.STAGE_RECONVENED, desk.where(), assessment=assessment[:500]
    )
