"""The coordinator's long commands: they go on behind its back, and each reports once.

A job is on record before the coordinator is told of it, and its report before that is
told; so a restart tells of each job once: how it ended, or that nobody knows.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.brief import shortened
from agiraph.core.limits import JOBS_AT_ONCE
from agiraph.errors import AgiraphError, ToolRefused
from agiraph.model.event import EventType
from agiraph.model.names import COORDINATOR
from agiraph.model.tool import ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine
    from pathlib import PurePosixPath

    from agiraph.runtime.desk import Desk

    # Made where it is awaited, so that what never begins leaves nothing behind.
    Work = Callable[[], Coroutine[None, None, None]]

JOB, REPORT, TOLD = "job: ", "job report: ", "job told"
HASTE = 10.0  # where a message waits, a command has this part of its time in front
_LOST = ToolResult("a fault in Agiraph itself ended it; look what it did", error=True)


@dataclass(slots=True)
class Job:
    """One command.

    Attributes:
        command: for people; kept: where its whole output stands, as its model says it.
        number: 0 while the coordinator waits for it.
    """

    step: str
    command: str
    keep: PurePosixPath
    kept: str
    begun: float
    number: int = 0
    task: asyncio.Task[None] | None = None
    outcome: ToolResult | AgiraphError = field(default=_LOST)


class Jobs:
    """What the coordinator has running, and what it was not told of yet."""

    def __init__(self, desk: Desk) -> None:
        """Nothing runs; `begin` is given by whoever owns the tasks."""
        self._desk = desk
        self._running: dict[str, Job] = {}
        self._reports: dict[str, str] = {}
        self.begin: Callable[[str, Work], asyncio.Task[None]]

    @property
    def any(self) -> bool:
        """Whether a job goes on, or has something to report."""
        return bool(self._running or self._reports)

    def running(self) -> list[str]:
        """What goes on, a line for each."""
        now = self._desk.world.clock.monotonic()
        return [
            f"job {job.number}, for {now - job.begun:.0f} s: {job.command}"
            for job in self._running.values()
        ]

    def reports(self) -> dict[str, str]:
        """What is to be told: id -> words."""
        return {_id(step): words for step, words in self._reports.items()}

    def ids(self, step: str) -> tuple[str, ...]:
        """The report that a step's own result makes needless, once it is recorded."""
        return (_id(step),) if step in self._reports else ()

    async def told(self, ids: Collection[str]) -> None:
        """Note which reports are recorded in the conversation."""
        for step in [step for step in self._reports if _id(step) in ids]:
            await self._desk.journal.mark(step, TOLD)
            self._reports.pop(step, None)

    async def recall(self) -> None:
        """After a restart: the open run's jobs of which nothing was told."""
        desk = self._desk
        if desk.run is None or not desk.run_open:
            return
        for step, what in desk.journal.marks(JOB):
            number, _, run = what.partition(" ")
            if run != desk.run.name or desk.journal.marked(step, TOLD):
                continue
            unknown = f"[job {number}] {prompts.words('interrupted').strip()}"
            words = desk.journal.mark_of(step, REPORT)
            self._reports.setdefault(step, words or unknown)

    # --- one command

    async def run(
        self, job: Job, work: Coroutine[None, None, ToolResult]
    ) -> ToolResult:
        """The command's result; where it takes long, the word that it goes on.

        Raises:
            AgiraphError: as the command raises, while it is waited for.
        """
        if len(self._running) >= JOBS_AT_ONCE:
            work.close()
            raise ToolRefused(
                f"{JOBS_AT_ONCE} commands go on in the background already; wait until "
                "one has ended"
            )
        job.task = self.begin(f"command {job.step}", partial(self._do, job, work))
        try:
            await self._in_front(job, job.task)
        except asyncio.CancelledError:
            await _ended([job.task])
            raise
        if not job.task.done():
            return await self._behind(job)
        if isinstance(job.outcome, AgiraphError):
            raise job.outcome
        return job.outcome

    async def _in_front(self, job: Job, task: asyncio.Task[None]) -> None:
        """Until it has ended, or has taken as long as somebody who waits may wait."""
        desk, most = self._desk, self._desk.world.foreground
        for seconds, over in (
            (most / HASTE, task.done),
            (most, lambda: task.done() or desk.mail.has(COORDINATOR)),
        ):
            await desk.bell.until(over, deadline=job.begun + seconds)

    async def _behind(self, job: Job) -> ToolResult:
        desk = self._desk
        job.number = 1 + max(
            (int(what.partition(" ")[0]) for _, what in desk.journal.marks(JOB)),
            default=0,
        )
        self._running[job.step] = job
        desk.active.add(f"job {job.number}")
        run = desk.run.name if desk.run else ""
        await desk.journal.mark(job.step, f"{JOB}{job.number} {run}")
        return ToolResult(
            f"goes on in the background as job {job.number}; you are told when it "
            f"ends. What it says is in {job.kept} meanwhile."
        )

    async def _do(self, job: Job, work: Coroutine[None, None, ToolResult]) -> None:
        try:
            job.outcome = await work
        except AgiraphError as fault:
            job.outcome = fault
        except asyncio.CancelledError:
            job.outcome = ToolResult(prompts.words("cut_off").strip(), error=True)
            raise
        finally:
            if job.number:
                await self._report(job)
            self._desk.bell.ring()

    async def _report(self, job: Job) -> None:
        desk, told = self._desk, job.outcome
        content = told.content if isinstance(told, ToolResult) else str(told)
        if desk.world.reader.entry(job.keep) is None:
            data = content.encode("utf-8", "replace") + b"\n"
            await desk.world.write(job.keep, data)
        seconds = desk.world.clock.monotonic() - job.begun
        words = (
            f"[job {job.number} ended after {seconds:.0f} s, its output is in "
            f"{job.kept}] {job.command}\n{content}"
        )
        await desk.journal.mark(job.step, f"{REPORT}{words}")
        self._reports[job.step] = words
        self._running.pop(job.step, None)
        desk.active.discard(f"job {job.number}")
        await desk.records.event(
            EventType.TOOL_ENDED,
            desk.where(),
            tool="bash",
            step=job.step,
            job=job.number,
            about=job.command,
            error=not isinstance(told, ToolResult) or told.error,
        )

    # --- their end

    def cut_off(self) -> None:
        """End what goes on as at a shutdown; each says so in its report."""
        for job in self._running.values():
            if job.task is not None:
                job.task.cancel()

    async def end(self) -> int:
        """End what goes on, since its run ends, and tell nothing of it; how many."""
        jobs = list(self._running.values())
        await _ended([job.task for job in jobs if job.task is not None])
        await self.told(self.reports())
        return len(jobs)


def shown(command: str) -> str:
    """A command as people are told it: one short line."""
    return shortened(" ".join(command.split()), 120)


def _id(step: str) -> str:
    return f"job:{step}"


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
