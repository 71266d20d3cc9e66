"""`.agiraph/starts.json`: how the daemon's last lives ended, and with whom at work.

A cache of this machine: without it nothing is held back.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from agiraph.core.breaker import Life, recent, suspects
from agiraph.model.layout import MACHINE, Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME: Final = "starts.json"
_AT: Final = "at_work"
_MOST: Final = 1024 * 1024


class Starts:
    """This life of the daemon, and what is known of those before it."""

    def __init__(self, root: str, now: float, told: Callable[[str], None]) -> None:
        """Begin a life; nothing is written yet.

        Args:
            root: the tree's folder.
            now: seconds since 1970.
            told: is told once when the file cannot be written.
        """
        self._path = f"{root}/{MACHINE}/{_NAME}"
        self._root = root
        self._told = told
        self._at_work: set[str] = set()
        lives, before, held = _read(self._path)
        if before is not None:
            marks = {agent: self._on_record(agent) for agent in before}
            lives = (*lives, Life(now, marks))
        self._lives = recent(lives, now)
        self.held = held | suspects(self._lives)

    def at_work(self, agent: str, *, works: bool) -> None:
        """Note whether an agent is at work; on record before its next step."""
        if works == (agent in self._at_work):
            return
        (self._at_work.add if works else self._at_work.discard)(agent)
        self._write()

    def released(self, agent: str) -> None:
        """A person lets a held agent try again: what was counted against it is gone."""
        self.held -= {agent}
        self._lives = tuple(
            Life(life.ended, {a: n for a, n in life.at_work.items() if a != agent})
            for life in self._lives
        )
        self._write()

    def begin(self) -> None:
        """From now on a death counts."""
        self._write()

    def end(self) -> None:
        """This life ends cleanly: nothing counts any more."""
        self._put({"lives": [], "at_work": None, "held": []})

    def _write(self) -> None:
        lives = [
            {"ended": life.ended, "at_work": dict(life.at_work)} for life in self._lives
        ]
        self._put(
            {
                "lives": lives,
                "at_work": sorted(self._at_work),
                "held": sorted(self.held),
            }
        )

    def _on_record(self, agent: str) -> int:
        """How much an agent's models have said: the size of their calls' log."""
        try:
            return os.stat(f"{self._root}/{Home(agent).usage}").st_size
        except OSError:
            return 0

    def _put(self, said: dict[str, object]) -> None:
        # No fsync: it is for a daemon that dies, not for a machine that does.
        beside = f"{self._path}.tmp"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                json.dump(said, file)
            os.replace(beside, self._path)
        except OSError as error:
            self._told(f"{self._path} cannot be written ({error.strerror})")
            self._told = lambda _: None


def _read(
    path: str,
) -> tuple[tuple[Life, ...], frozenset[str] | None, frozenset[str]]:
    """Past lives, who was at work in the last (None: it ended well), who is held."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_MOST))
        at_work = found[_AT]
        lives = tuple(
            Life(float(life["ended"]), {str(a): int(n) for a, n in life[_AT].items()})
            for life in found["lives"]
        )
        return (
            lives,
            None if at_work is None else _names(at_work),
            _names(found["held"]),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return (), None, frozenset()


def _names(found: Iterable[object]) -> frozenset[str]:
    return frozenset(str(name) for name in found)
