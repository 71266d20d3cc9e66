"""`.agiraph/starts.json`: how the daemon's last lives ended, and with whom at work.

A cache of this machine: without it nothing is held back.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from agiraph.core.breaker import Life, recent, suspects
from agiraph.model.layout import MACHINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME: Final = "starts.json"
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
        self._told = told
        self._at_work: set[str] = set()
        lives, before, held = _read(self._path)
        if before is not None:
            lives = (*lives, Life(now, before))
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
            Life(life.ended, life.at_work - {agent}) for life in self._lives
        )
        self._write()

    def begin(self) -> None:
        """From now on a death counts."""
        self._write()

    def end(self) -> None:
        """This life ends cleanly: nothing counts any more."""
        self._put({"lives": [], "at_work": None, "held": []})

    def _write(self) -> None:
        lives = [{"ended": x.ended, "at_work": sorted(x.at_work)} for x in self._lives]
        self._put(
            {
                "lives": lives,
                "at_work": sorted(self._at_work),
                "held": sorted(self.held),
            }
        )

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
        at_work = found["at_work"]
        return (
            tuple(
                Life(float(x["ended"]), _names(x["at_work"])) for x in found["lives"]
            ),
            None if at_work is None else _names(at_work),
            _names(found["held"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return (), None, frozenset()


def _names(found: Iterable[object]) -> frozenset[str]:
    return frozenset(str(name) for name in found)
