"""An event loop without real time, threads or sockets: the same seed, the same order.

Time jumps to the next timer whenever nothing is ready. What would run in a thread runs
on the loop, a little later; a cancelled caller does not stop it, as with threads.
"""

from __future__ import annotations

import asyncio
import contextvars
import selectors
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Executor
    from datetime import tzinfo

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MOST_ROUNDS = 20_000
_ROUND = 1e-6


class Standstill(RuntimeError):
    """Nothing is ready and no timer runs: everybody waits for somebody else."""


class Treadmill(RuntimeError):
    """Many rounds were run, and no moment passed: somebody goes round in circles."""


class CountedFuture(asyncio.Future[Any]):
    """A future whose place in a set does not hang on where it lies in memory."""

    def __init__(self, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._number = loop.next_number() if isinstance(loop, VirtualLoop) else 0

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class CountedTask(asyncio.Task[Any]):
    """Likewise for tasks."""

    def __init__(
        self, coro: Coroutine[Any, Any, Any], *, loop: VirtualLoop, **kwargs: Any
    ) -> None:
        self._number = loop.next_number()
        self.born_in = contextvars.copy_context()
        super().__init__(coro, loop=loop, **kwargs)
        # A daemon that is killed leaves tasks behind; that is no news.
        self._log_destroy_pending = False

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class _Jump(selectors.SelectSelector):
    """Never waits: it moves the loop's clock instead."""

    loop: VirtualLoop
    rounds = 0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Standstill("nothing is ready, and nobody waits for a moment")
        self.loop.now += _ROUND  # as all that is done takes time
        if timeout > 0:
            self.loop.now += timeout
            self.rounds = 0
        self.rounds += 1
        if self.rounds > MOST_ROUNDS:
            ready = [repr(handle)[:300] for handle in self.loop._ready]  # type: ignore[attr-defined]
            raise Treadmill(
                f"{MOST_ROUNDS} rounds without a moment passing; ready: {ready}"
            )
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time is virtual, from 0; `jitter` draws how long threads take."""

    def __init__(self, jitter: random.Random, *, thread: float = 0.002) -> None:
        self.now = 0.0
        self._jitter = jitter
        self._thread = thread
        self._numbers = count()
        jump = _Jump()
        jump.loop = self
        super().__init__(jump)
        self.set_task_factory(_task)

    def next_number(self) -> int:
        """A number for each future and task of this loop."""
        return next(self._numbers)

    def time(self) -> float:
        return self.now

    def create_future(self) -> asyncio.Future[Any]:
        return CountedFuture(loop=self)

    def run_in_executor(  # type: ignore[override]  # a future, whatever the executor
        self,
        executor: Executor | None,
        func: Callable[..., Any],
        *args: Any,
    ) -> asyncio.Future[Any]:
        done = self.create_future()
        self.call_later(self._jitter.uniform(0, self._thread), _run, done, func, args)
        return done


def _run(
    done: asyncio.Future[Any], func: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    try:
        result = func(*args)
    except Exception as error:  # noqa: BLE001 - handed on to whoever waits
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)


def _task(
    loop: VirtualLoop, coro: Coroutine[Any, Any, Any], **kwargs: Any
) -> CountedTask:
    return CountedTask(coro, loop=loop, **kwargs)


class VirtualClock:
    """The port `Clock` on the time of a virtual loop."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return START + timedelta(seconds=self._loop.now)

    def monotonic(self) -> float:
        return self._loop.now

    def zone(self) -> tzinfo:
        return UTC

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
