"""Keeps watches on all folders that are wanted, in a thread of its own.

Two nets: the old one is large and stays, the young one is armed anew for each new
folder. What replaces a net is armed before that one ends.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from agiraph.watcher.afterlook import Afterlook, is_new
from agiraph.watcher.alive import EVERY, Cookie, watches
from agiraph.watcher.hinting import EVERYTHING, THE_ROOT, names_of
from agiraph.watcher.net import Identity, Net, identity_of, watchable
from agiraph.watcher.trouble import Trouble, plainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.watcher.wanted import Wanted

_DRAIN: Final = 0.5  # seconds for which a net that was replaced still catches
_GATHER: Final = 0.02  # seconds in which new folders are gathered before arming
_YOUNG: Final = 256  # folders; arming costs 10 microseconds each, and holds the GIL
_YOUNG_MOST: Final = 1024
_QUIET: Final = 5.0
_LONG_QUIET: Final = 60.0  # then one net is enough: each costs 0.1 % of a core
_ROOT_CHECK: Final = 5.0
_BLIND_HINT: Final = 2.0
_ARM_TRIES: Final = 4
_ARM_SHARE: Final = 10.0  # arming takes a tenth of the time at most
_ARM_WAIT: Final = 1.0
# The kernel drops what does not fit into its queue (16,384 events by default), and the
# word of it does not reach us: inotify(7), and watchfiles passes on no event without a
# path. So whenever that may have come about, everything is looked at.
_FLOOD: Final = 2_000  # paths in one batch
_STANDSTILL: Final = 3.0  # seconds for which this process was stopped, or asleep


class Minder:
    """Keeps the nets whole, in a thread of its own.

    Two nets: the old one is large and stays, the young one is armed anew for each new
    folder. What replaces a net is armed before that one ends.
    """

    def __init__(
        self,
        wanted: Wanted,
        *,
        polling: bool,
        hint: Callable[[frozenset[str]], None],
        report: Callable[[str], None],
    ) -> None:
        self._wanted = wanted
        self._polling = polling
        self._hint = hint
        self._report = report
        self._old: Net | None = None
        self._young: Net | None = None
        self._leaving: list[tuple[float, Net]] = []
        self._torn: list[tuple[Net, str]] = []
        self._root: Identity | None = None
        self._trouble = Trouble()
        self._afterlook = Afterlook()
        self._expected = 0.0
        self._armed_at = 0.0
        self._arm_next = 0.0
        self._root_due = 0.0
        self._count_due = 0.0
        self._blind_due = 0.0
        self._cookie = Cookie(wanted.root)
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._mind, name="watch-minder", daemon=True
        )

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def wake(self) -> None:
        """Look at what is wanted, now."""
        self._wake.set()

    def stop(self) -> None:
        """Have all threads end within a step or two; returns at once."""
        self._stopping.set()
        self._wake.set()

    def join(self) -> None:
        """Wait for the end of all threads."""
        self._thread.join(timeout=2.0)

    def _mind(self) -> None:
        self._arm_all()
        while not self._stopping.is_set():
            patience = self._patience()
            self._expected = time.monotonic() + patience
            self._wake.wait(patience)
            self._wake.clear()
            if self._stopping.wait(_GATHER):
                break
            self._round(time.monotonic())
        nets = [net for _, net in self._leaving] + [
            net for net in (self._old, self._young) if net
        ]
        for net in nets:
            net.stop()
        for net in nets:
            net.join()

    def _patience(self) -> float:
        if self._trouble.blind:
            return min(_BLIND_HINT, self._trouble.wait(time.monotonic()))
        now = time.monotonic()
        patience = _DRAIN if self._leaving else _ROOT_CHECK
        patience = min(patience, self._afterlook.wait(now))
        if not self._polling:
            patience = min(patience, self._cookie.wait(now))
        if self._wanted.has_news:
            patience = min(patience, max(0.0, self._arm_next - now))
        return patience

    def _round(self, now: float) -> None:
        if now > self._expected + _STANDSTILL:
            self._hint(frozenset({EVERYTHING}))
        self._let_go(now)
        self._notice_torn(now)
        if now >= self._root_due:
            self._check_root(now)
        if not self._trouble.blind and not self._polling:
            self._prove(now)
        if self._trouble.blind:
            self._grope(now)
            return
        if again := self._afterlook.due(now):
            self._hint(again)
        if now >= self._arm_next:
            self._arm_new(now)
        self._tidy(now)

    def _prove(self, now: float) -> None:
        """Silence proves nothing: a cookie must be heard, and no watch be missing."""
        if not self._cookie.missed(now):
            return
        self._report(
            f"watching {self._wanted.root} went deaf; it is armed anew and everything "
            "is looked at"
        )
        self._arm_all()

    def _count(self) -> None:
        """Arm anew where the kernel lists fewer watches than stand in the nets."""
        nets = [net for net in (self._old, self._young) if net]
        listed = watches()
        if listed is None or self._polling or self._trouble.blind or self._leaving:
            return
        there = sum(net.still_there() for net in nets)
        if listed < there:
            self._report(f"{there - listed} watches were lost; all are armed anew")
            self._arm_all()

    def _grope(self, now: float) -> None:
        """While nothing is heard: have everything looked at, and try again."""
        if now >= self._blind_due:
            self._blind_due = now + _BLIND_HINT
            self._hint(frozenset({EVERYTHING}))
        if self._root is None:
            if identity_of(self._wanted.root) is not None:
                self._arm_all()
        elif self._trouble.wait(now) <= 0:
            self._arm_all()

    def _let_go(self, now: float) -> None:
        for _, net in [pair for pair in self._leaving if pair[0] <= now]:
            net.stop()
        self._leaving = [pair for pair in self._leaving if pair[0] > now]

    def _notice_torn(self, now: float) -> None:
        torn, self._torn = self._torn, []
        live = [words for net, words in torn if net in (self._old, self._young)]
        if live:
            self._go_blind(live[0], now)

    def _check_root(self, now: float) -> None:
        self._root_due = now + _ROOT_CHECK
        if not self._trouble.blind and identity_of(self._wanted.root) != self._root:
            self._arm_all()
        elif now >= self._count_due:
            self._count_due = now + EVERY
            self._count()

    def _go_blind(self, words: str, now: float) -> None:
        delay = self._trouble.begin(now)
        self._report(
            f"watching {self._wanted.root} failed: {plainer(words)}. It is looked "
            f"through every {_BLIND_HINT:.0f} s instead; watching is tried again in "
            f"{delay:.0f} s"
        )
        self._blind_due = now + _BLIND_HINT
        self._hint(frozenset({EVERYTHING}))

    def _arm_all(self) -> None:
        """Put one net over all that is wanted, then have everything looked at."""
        now = time.monotonic()
        self._wanted.lately()  # all are armed now
        self._root = identity_of(self._wanted.root)
        if self._root is None:
            self._leave(self._old, self._young)
            self._old = self._young = None
            self._go_blind("the folder is gone", now)
            return
        net = self._net(self._wanted.all)
        if net is not None:
            self._leave(self._old, self._young)
            self._old, self._young = net, None
            self._trouble.end(now)
            self._hint(frozenset({EVERYTHING}))

    def _arm_new(self, now: float) -> None:
        """Watch what groups asked for lately and is not watched yet.

        Once it stands, all of them are looked at, and those with folders that are new
        again a second later.
        """
        groups = {
            name: [path for path in paths if not self._stands(path)]
            for name, paths in self._wanted.lately().items()
        }
        new = {path for paths in groups.values() for path in paths}
        if not new:
            return
        young = set(self._young.folders) if self._young else set()
        if len(young | new) > _YOUNG_MOST:
            self._merge()
        else:
            net = self._net(lambda: young | new)
            if net is None:
                return
            self._leave(self._young)
            self._young = net
        self._armed_at = now
        self._hint(frozenset(name for name, paths in groups.items() if paths))
        wall = time.time()
        fresh = {
            n for n, paths in groups.items() if any(is_new(p, wall) for p in paths)
        }
        self._afterlook.want(fresh, time.monotonic())

    def _tidy(self, now: float) -> None:
        """Make one net of two, and drop what is wanted no more, once quiet."""
        quiet = now - self._armed_at
        if quiet < _QUIET or self._young is None:
            return
        if quiet > _LONG_QUIET or len(self._young.folders) > _YOUNG:
            self._merge()
            self._armed_at = now

    def _merge(self) -> None:
        net = self._net(self._wanted.all)
        if net is not None:
            self._leave(self._old, self._young)
            self._old, self._young = net, None

    def _stands(self, path: str) -> bool:
        """Whether a folder needs no arming: watched as it is, or not to be watched."""
        here = watchable(path)
        nets = (net for net in (self._old, self._young) if net)
        return here is None or any(net.holds(path, here) for net in nets)

    def _net(self, paths: Callable[[], set[str]]) -> Net | None:
        """Arm; a folder that goes away in between is left out. None: went blind.

        Arming holds up all other threads, so many folders that come one by one, as
        at the start of a large tree, are armed in ever larger portions.
        """
        began = time.monotonic()
        net = self._try_net(paths)
        now = time.monotonic()
        self._arm_next = now + min(_ARM_SHARE * (now - began), _ARM_WAIT)
        return net

    def _try_net(self, paths: Callable[[], set[str]]) -> Net | None:
        words = ""
        for _ in range(_ARM_TRIES):
            found = {path: watchable(path) for path in paths()}
            there = {path: here for path, here in found.items() if here}
            try:
                return Net(
                    there, polling=self._polling, caught=self._caught, torn=self._tore
                )
            except FileNotFoundError as error:
                words = str(error)
            except (OSError, RuntimeError) as error:
                words = str(error)
                break
        self._go_blind(words, time.monotonic())
        return None

    def _leave(self, *nets: Net | None) -> None:
        until = time.monotonic() + _DRAIN
        self._leaving += [(until, net) for net in nets if net]

    def _caught(self, paths: set[str]) -> None:
        """From a net's thread: turn paths into names."""
        names: set[str] = {EVERYTHING} if len(paths) >= _FLOOD else set()
        doubted: set[str] = set()
        root = self._wanted.root
        for path in paths:
            if path == self._cookie.path:
                self._cookie.heard()
                continue
            if path == root:
                self._root_due = 0.0
                names.add(THE_ROOT)
                doubted.add(THE_ROOT)
                continue
            concerned = names_of(path, root)
            names |= concerned
            if self._doubt(path):
                doubted |= concerned
        if doubted:
            self._wanted.doubt(doubted)
            self._wake.set()
        if names:
            self._hint(frozenset(names))

    def _doubt(self, path: str) -> bool:
        """Whether a change was that of a watched folder itself, seen from above."""
        nets = [net for net in (self._old, self._young) if net]
        return any(net.doubt(path) for net in nets)

    def _tore(self, net: Net, words: str) -> None:
        self._torn.append((net, words))
        self._wake.set()
