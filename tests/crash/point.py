"""One point of a sweep: a scenario, a crash in it, and whether all went on well."""

from __future__ import annotations

import logging
import shutil
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.crash.doomed import Doomed
from tests.crash.invariants import check_crashed, check_end, check_recorded, check_whole
from tests.crash.scenario import AGENT
from tests.support.model_server import ModelServer
from tests.support.web import WebServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.scenario import Scenario

LONGEST = 90.0  # seconds until a run must have come to its end, on a slow machine
LOOK = 0.02


@dataclass(frozen=True)
class Outcome:
    """How a point went.

    Attributes:
        struck: whether the fault came; False when the run had fewer calls.
        place: the call and the path that it struck.
    """

    struck: bool
    place: str
    daemon: Doomed


class Play:
    """Plays a scenario on one tree, over as many lives of the daemon as it takes."""

    def __init__(self, scenario: Scenario, home: Path) -> None:
        # A client that is killed is no news.
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        self.scenario = scenario
        self.server = ModelServer(scenario.script(home / "effects"))
        self.server.__enter__()
        self._web = WebServer(scenario.web)
        self._web.__enter__()
        (home / "web").write_text(self._web.url)
        world = self.server.environment() | self._web.environment()
        self.daemon = Doomed(home, world)
        (self.daemon.root / AGENT / "inputs").mkdir(parents=True)
        self.daemon.module = scenario.module
        for path, text in {**scenario.people, **scenario.grown}.items():
            self.daemon.write(path, text)
        self._left = list(scenario.deeds)

    def close(self) -> None:
        self.daemon.kill()
        self.server.stop()
        self._web.__exit__(None, None, None)

    def until_end(self) -> bool:
        """Do what a person does until the run has ended; False when the daemon died."""
        deadline = time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            if self.daemon.dead:
                return False
            if not self._step() and self._ended():
                return True
            time.sleep(LOOK)
        raise AssertionError(f"it came to no end\n{self.daemon.told()}")

    def _step(self) -> bool:
        """Whether a deed is left."""
        while self._left:
            deed = self._left[0]
            try:
                now = deed.fact(self.daemon)
            except FileNotFoundError:
                now = False
            if not now:
                return True
            self._left.pop(0)  # first: a daemon that dies of it does not undo it
            deed.do(self.daemon)
        return False

    def _ended(self) -> bool:
        try:
            return self.daemon.state(AGENT) in ("completed", "failed", "broken")
        except (OSError, ValueError):
            return False


def run_point(
    scenario: Scenario, home: Path, fault: dict[str, Any], *, forget: bool
) -> Outcome:
    """Let the daemon die at one call, start it again, and check everything.

    Args:
        forget: delete `.agiraph/` before the restart.

    Raises:
        AssertionError: a promise was broken.
    """
    log = home / "calls.log"
    fault = {**fault, "log": str(log), "versions": str(home / "versions")}
    if scenario.arm:
        fault["arm"] = str(home / scenario.arm)
    play = Play(scenario, home)
    try:
        play.daemon.begin(fault)
        if play.until_end():
            play.daemon.terminate()
        code = check_after(play, home, forget=forget)
    finally:
        play.close()
    return Outcome(code == -9, struck_at(log), play.daemon)


def check_after(play: Play, home: Path, *, forget: bool) -> int:
    """A daemon has died: look at what it left, start it again, and check the end.

    Returns:
        How it died: its exit code.
    """
    daemon = play.daemon
    code = daemon.bury()
    assert code in (0, -signal.SIGKILL), f"it ended by itself: {daemon.told()}"
    copy = daemon.snapshot("crashed")
    check_crashed(copy, play.server, home / "effects")
    check_whole(play.scenario, copy, home / "versions")
    if forget:
        shutil.rmtree(daemon.root / ".agiraph", ignore_errors=True)
    daemon.start()
    if not play.until_end():
        assert daemon.bury() == 0, f"it died by itself: {daemon.told()}"
        daemon.start()  # the person ended it only now
        assert play.until_end(), f"it died by itself: {daemon.told()}"
    assert daemon.stop() == 0, daemon.told()
    check_recorded(copy, daemon)
    check_end(play.scenario, daemon, play.server, kills=1)
    return code


def struck_at(log: Path) -> str:
    """The call that was struck, by the injector's own record."""
    lines = log.read_text().splitlines() if log.exists() else []
    struck = [line for line in lines if line.endswith(" FAULT")]
    return struck[-1].removesuffix(" FAULT").partition(" | ")[0] if struck else ""
