"""The daemon: where settings, secrets, signals and adapters meet. Start, main, end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import sysconfig
import traceback
from typing import TYPE_CHECKING

from agiraph import __version__
from agiraph.clock import SystemClock
from agiraph.core import limits
from agiraph.mcp.host import SdkHost
from agiraph.model.agent import AgentState, TreeSettings
from agiraph.model.layout import MACHINE
from agiraph.notify.messenger import Outward
from agiraph.providers.models import ModelCatalog
from agiraph.runtime.bell import Bell
from agiraph.runtime.ledger import Ledger
from agiraph.runtime.places import Places
from agiraph.runtime.root.controller import Controller
from agiraph.runtime.root.post import PostRoom
from agiraph.runtime.root.seat import House
from agiraph.runtime.voice import Voice
from agiraph.runtime.world import World
from agiraph.tools.execution import LocalShell
from agiraph.tools.kit import shell_tools, tree_tools, web_tools
from agiraph.tools.processes import hide_environment
from agiraph.tree.attic import DiskAttic
from agiraph.tree.beneath import Beneath
from agiraph.tree.lease import ignore_lease_signals
from agiraph.tree.lock import TreeLock
from agiraph.tree.pen import DiskPen
from agiraph.tree.reader import DiskReader
from agiraph.tree.room import RealDisk
from agiraph.tree.shelf import SqliteShelf
from agiraph.tree.starts import Starts
from agiraph.tree.templates import furnishing
from agiraph.tree.whereabouts import DiskWhereabouts
from agiraph.watcher import FolderWatch
from agiraph.watcher.network import silent_disk
from agiraph.web.cache import PageCache
from agiraph.web.fetching import Fetcher
from agiraph.web.searching import WebSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agiraph.model.event import Event
    from agiraph.ports import Alarm, Tool
    from agiraph.tools.seen import LastSeen

DONE, FAILED, BAD_TREE, HELD, WAITS, INTERRUPTED = 0, 1, 4, 6, 8, 130

# Set to 1: look through the tree instead of being told, as in a folder that a virtual
# machine shares.
POLLING = "AGIRAPH_POLLING"
FOREGROUND = "AGIRAPH_FOREGROUND"

# Set to 1 by tests alone: pages may be fetched from this machine's own servers. No file
# of a tree can say so.
LOOPBACK = "AGIRAPH_TEST_LOOPBACK"

# Seconds for which a call is tried again in silence; then the work shows as held, with
# the reason, and is tried again at a slower pace.
PATIENCE = 20.0

# States in which one agent alone can go no further, and the exit code of each.
_ENDS = {
    AgentState.IDLE: DONE,
    AgentState.COMPLETED: DONE,
    AgentState.FAILED: FAILED,
    AgentState.STOPPED: FAILED,
    AgentState.FORKED: FAILED,
    AgentState.ELSEWHERE: FAILED,
    AgentState.BROKEN: BAD_TREE,
    AgentState.HELD: HELD,
    AgentState.PAUSED: HELD,
    AgentState.WAITING_FOR_HUMAN: WAITS,
}


class Daemon:
    """One daemon on one tree."""

    def __init__(
        self, root: str, *, log_format: str, only: str | None, until_done: bool
    ) -> None:
        """Nothing is opened yet; `only` and `until_done` are for `agiraph run`."""
        self._root = os.path.abspath(root)
        self._only = only
        self._until_done = until_done
        self._clock = SystemClock()
        self._voice = Voice(
            sys.stderr, self._clock, as_json=log_format == "json", quiet=False
        )
        self._starts = Starts(
            self._root, self._clock.now().timestamp(), self._voice.remark
        )
        self._shelf = SqliteShelf(self._root)
        self._stop = asyncio.Event()
        self._code = DONE

    async def main(self) -> int:
        """Work until a signal comes, or until the one agent can go no further."""
        self._catch_signals()
        world, watch = self._world(), self._watch()
        house = House(
            edges=lambda seen: self._edges(world, seen),
            furnish=furnishing,
            models=lambda settings: self._models(world, settings),
            only=self._only,
            version=__version__,
            alarm=_alarm,
        )
        self._voice.remark(f"watching {self._root} (process {os.getpid()})")
        try:
            self._starts.begin()
            await self._pen.remove_leftovers()
            await Controller(world, watch, house).run(self._stop)
        finally:
            await self._catalog.close()
            await self._pen.close()
        self._starts.end()
        self._voice.remark("ended; every step is recorded")
        return self._code

    # --- adapters

    def _world(self) -> World:
        self._pen = DiskPen(self._root, on_repair=self._voice.remark)
        reader = DiskReader(self._root, self._clock)
        environment = dict(os.environ)
        self._catalog = ModelCatalog(
            settings=TreeSettings(),
            environment=environment,
            clock=self._clock,
            patience=PATIENCE,
        )
        self._web(reader, environment)
        self._shell = LocalShell(
            Beneath(self._root), self._pen, environment, programs=_programs()
        )
        bell = Bell(self._clock)
        world = World(
            clock=self._clock,
            pen=self._pen,
            reader=reader,
            shell=self._shell,
            models=self._catalog,
            whereabouts=DiskWhereabouts.of(self._root, environment),
            disk=RealDisk(self._root),
            ledger=Ledger(),
            runs=Places(bell, lambda: world.settings.max_agents),
            bell=bell,
            say=self._said,
            remark=self._voice.remark,
            trace=self._trace,
            foreground=_seconds(
                environment.get(FOREGROUND), otherwise=limits.FOREGROUND
            ),
            root=self._root,
            stands=self._stands,
            tool_servers=SdkHost(self._root, environment, version=__version__),
            attic=DiskAttic(Beneath(self._root)),
            suspects=self._starts.held,
            released=self._starts.released,
        )
        world.notices = PostRoom(world, Outward(environment))
        return world

    def _web(self, reader: DiskReader, environment: Mapping[str, str]) -> None:
        self._pages = Fetcher(
            PageCache(reader, self._pen),
            self._clock,
            version=__version__,
            ca_file=environment.get("SSL_CERT_FILE", ""),
            loopback=environment.get(LOOPBACK) == "1",
        )
        self._search = WebSearch(self._clock, environment)

    def _watch(self) -> FolderWatch:
        silent = silent_disk(self._root)
        if silent:
            self._voice.remark(
                f"{self._root} lies on a disk of the kind {silent}, which does not "
                "tell of others' changes: it is looked through again and again"
            )
        polling = bool(silent) or os.environ.get(POLLING, "") not in ("", "0")
        return FolderWatch(self._root, report=self._voice.remark, polling=polling)

    def _edges(self, world: World, seen: LastSeen) -> Mapping[str, Tool]:
        tools = (
            *tree_tools(world.reader, world.pen, self._shelf, seen),
            *shell_tools(world.shell, self._root),
            *web_tools(
                self._pages, self._search, world.pen, lambda: world.settings.search
            ),
        )
        return {tool.spec.name: tool for tool in tools}

    def _models(self, world: World, settings: TreeSettings) -> None:
        self._catalog = self._catalog.with_settings(settings)
        world.models = self._catalog
        if settings.timezone is not None:
            world.clock = self._clock = SystemClock(settings.timezone)

    # --- what is told

    def _said(self, event: Event) -> None:
        self._voice.event(event)

    def _trace(self, bug: BaseException) -> None:
        """Keep the trace of a bug out of the person's sight, but not out of reach."""
        path = os.path.join(self._root, str(MACHINE), "faults.log")
        try:
            with open(path, "a", encoding="utf-8") as log:
                log.write(f"--- {self._clock.now().isoformat()}\n")
                log.writelines(traceback.format_exception(bug))
        except OSError:
            path = "nowhere: the disk does not take it"
        self._voice.remark(
            f"a fault in Agiraph itself: {type(bug).__name__}: {bug}; its trace is in "
            f"{path}"
        )

    def _stands(self, agent: str, state: AgentState) -> None:
        """One agent's state has changed; alone, it may be the end."""
        self._starts.at_work(agent, works=state is AgentState.WORKING)
        if self._until_done and agent == self._only and state in _ENDS:
            self._code = _ENDS[state]
            self._stop.set()

    # --- signals

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._end, DONE)
        loop.add_signal_handler(signal.SIGINT, self._end, INTERRUPTED)

    def _end(self, code: int) -> None:
        if self._stop.is_set():
            if code == INTERRUPTED:
                self._shell.end_at_once()
                self._starts.end()
                os._exit(INTERRUPTED)  # the second Ctrl-C ends it now
            return
        self._code = code
        self._voice.remark("ending; a second Ctrl-C ends it now")
        self._stop.set()


def _alarm(ring: Callable[[str], None]) -> Alarm:
    from agiraph.alarm import SchedulerAlarm  # noqa: PLC0415 - only where one is set

    return SchedulerAlarm(ring)


def serve(
    root: str,
    *,
    log_format: str = "text",
    only: str | None = None,
    until_done: bool = False,
) -> int:
    """Run the daemon in the foreground, and say by an exit code how it ended.

    Args:
        root: the tree's folder.
        log_format: `text` or `json`.
        only: work on this agent alone.
        until_done: end when that agent has ended, or needs a person.

    Raises:
        Taken: another daemon works on the tree; says who.
        NotThere, DiskRefused: the tree cannot be worked on; as they say.
    """
    hide_environment()
    ignore_lease_signals()
    with TreeLock.take(root, version=__version__, since=SystemClock().now()):
        daemon = Daemon(root, log_format=log_format, only=only, until_done=until_done)
        return asyncio.run(daemon.main())


def _seconds(said: str | None, *, otherwise: float) -> float:
    """What a variable of the environment says; anything but a number counts not."""
    try:
        return float(said or otherwise)
    except ValueError:
        return otherwise


def _programs() -> str:
    """The folder in which our own `agiraph` lies; empty where it is in none.

    A virtual environment need not be active for what is started from it.
    """
    ran = os.path.dirname(os.path.abspath(sys.argv[0]))
    beside = os.path.dirname(sys.executable)
    places = os.pathsep.join([ran, beside, sysconfig.get_path("scripts")])
    return os.path.dirname(shutil.which("agiraph", path=places) or "")
