"""A page that stays where it is on the terminal, and changes line by line."""

from __future__ import annotations

import io
import os
import shutil
import sys
from typing import TYPE_CHECKING, Self, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

# xterm's control sequences: a screen of its own and back; cursor home; the rest of the
# line, of the screen, is cleared; the cursor hidden and shown.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _END_OF_LINE, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class _Page(io.StringIO):
    """Text for the terminal, drawn before it is shown."""

    def isatty(self) -> bool:
        return True


class Screen:
    """Shows pages one over the other; without a terminal, one after the other.

    What is drawn over is never cleared first, so nothing flickers; a page longer than
    the terminal is cut, and says so. The last page stays when it is left.
    """

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._live = sys.stdout.isatty()
        self._size = os.terminal_size((0, 0))
        self._last = ""

    def __enter__(self) -> Self:
        if self._live:
            click.echo(_ENTER, nl=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            click.echo(_LEAVE + self._last, nl=False)

    @property
    def resized(self) -> bool:
        """Whether the terminal has another size than when the page was drawn."""
        return self._live and self._size != shutil.get_terminal_size()

    def show(self, draw: Callable[[TextIO | None], None]) -> None:
        """Draw a page where the one before stands."""
        if not self._live:
            draw(None)
            return
        self._size = shutil.get_terminal_size()
        page = _Page()
        draw(page)
        self._last = page.getvalue()
        lines = self._last.splitlines()
        most = self._size.lines - 1
        if len(lines) > most:
            rest = len(lines) - most + 1
            lines = [*lines[: most - 1], f"… {rest} more lines; `agiraph status`"]
        drawn = "".join(f"{line}{_END_OF_LINE}\n" for line in lines)
        click.echo(f"{_HOME}{drawn}{_BELOW}", nl=False)
