"""Server-sent events, from bytes to names and data.

The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html
as far as model services use it: `event:` and `data:` lines, ended by a blank line.
"""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    """One event; the name is empty where the service gave none."""

    name: str
    data: str


class Decoder:
    """Takes bytes as they come and gives back whole events."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that this chunk completes."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        found: list[Event] = []
        for raw in lines:
            line = raw.removesuffix(b"\r")
            if not line:
                self._end(found)
            elif line.startswith(b"data:"):
                self._data.append(_value(line[5:]))
            elif line.startswith(b"event:"):
                self._name = _value(line[6:])
        return found

    def close(self) -> list[Event]:
        """The event that stands at the very end without a blank line, if any.

        Some servers leave out the last line ends; a cut-off one is caught by whoever
        reads its data.
        """
        found = self.feed(b"\n") if self._rest else []
        self._end(found)
        return found

    def _end(self, found: list[Event]) -> None:
        if self._data:
            found.append(Event(self._name, "\n".join(self._data)))
        self._name = ""
        self._data = []


def _value(raw: bytes) -> str:
    return raw.removeprefix(b" ").decode("utf-8", "replace")
