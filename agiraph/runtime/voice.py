"""The daemon's log: one readable line for each thing that happens, or JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TextIO

from agiraph.core.codec import event_to_json
from agiraph.core.narration import QUIET, narrate

if TYPE_CHECKING:
    from agiraph.model.event import Event
    from agiraph.ports import Clock


class Voice:
    """Writes to one stream; a reader that has gone away is no reason to stop."""

    def __init__(
        self, stream: TextIO, clock: Clock, *, as_json: bool, quiet: bool
    ) -> None:
        """`quiet` says nothing at all."""
        self._stream = stream
        self._clock = clock
        self._json = as_json
        self._quiet = quiet

    def event(self, event: Event) -> None:
        """Say what happened."""
        if self._json:
            stamp = self._clock.now().isoformat(timespec="milliseconds")
            said = dict(event_to_json(event, stamp))
            self._line(
                json.dumps({**said, "message": narrate(event)}, ensure_ascii=False)
            )
        elif event.type not in QUIET:
            self._line(f"{self._time()}  {event.agent}  {narrate(event)}")

    def remark(self, words: str) -> None:
        """Say a sentence that is no event."""
        if self._json:
            stamp = self._clock.now().isoformat(timespec="milliseconds")
            self._line(json.dumps({"ts": stamp, "message": words}, ensure_ascii=False))
        else:
            self._line(f"{self._time()}  {words}")

    def _time(self) -> str:
        return self._clock.now().strftime("%H:%M:%S")

    def _line(self, text: str) -> None:
        if self._quiet:
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self._quiet = True
