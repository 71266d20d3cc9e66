"""The port `Alarm`, by APScheduler: it rings at moments of the machine's wall clock.

What is due is decided elsewhere, and on record there; APScheduler keeps the time. It
sleeps on the clock that stands still while the machine does, so it is woken now and
then to look at the wall.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.asyncio import AsyncIOScheduler

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

LOOK_EVERY: Final = 20  # seconds until a suspend or a clock that was set is noticed
LOOK: Final = "look at the wall clock"


class SchedulerAlarm:
    """One date job for each agent, and one that looks at the clock."""

    def __init__(self, ring: Callable[[str], None]) -> None:
        """Begin at once, in the loop that runs; `ring` is told for whom it rings."""
        self._ring = ring
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={
                "coalesce": True,
                "misfire_grace_time": None,  # late is better than never
                "max_instances": 1,
            },
        )
        self._scheduler.add_job(
            self._look, "interval", seconds=LOOK_EVERY, id=LOOK, replace_existing=True
        )
        self._scheduler.start()

    def set(self, name: str, at: datetime) -> None:
        """Ring for an agent at a moment; of one agent only the last one set counts."""
        self._scheduler.add_job(
            self._rung,
            "date",
            run_date=at.astimezone(UTC),
            args=(name,),
            id=f"agent {name}",
            replace_existing=True,
        )

    def clear(self, name: str) -> None:
        """Ring no more for an agent."""
        try:
            self._scheduler.remove_job(f"agent {name}")
        except JobLookupError:
            return  # it has rung, or was never set

    async def close(self) -> None:
        """Let go of the jobs."""
        self._scheduler.shutdown(wait=False)

    # Coroutines, so that no thread is started for them.

    async def _rung(self, name: str) -> None:
        self._ring(name)

    async def _look(self) -> None:
        """APScheduler works out anew how long to sleep whenever a job has run."""
