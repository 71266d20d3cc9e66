"""How things look: JSON, tables, numbers, and text that cannot harm a terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType

    from agiraph.cli.call import Call

_LOOKS = {
    "working": "cyan",
    "running": "cyan",
    "assigned": "cyan",
    "busy": "cyan",
    "completed": "green",
    "idle": "green",
    "done": "green",
    "waiting_for_human": "bold yellow",
    "held": "yellow",
    "paused": "yellow",
    "stale": "yellow",
    "elsewhere": "yellow",
    "forked": "yellow",
    "failed": "bold red",
    "broken": "bold red",
    "stopped": "red",
    "cancelled": "bright_black",
    "pending": "bright_black",
}
_WIDE = 240
# C0 and C1 but tab and newline, the characters that turn the direction of text, and
# halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def data(text: str) -> None:
    """A line of what was asked for, on standard output."""
    click.echo(text)


def say(text: str) -> None:
    """A line of words about it, on standard error."""
    click.echo(text, err=True)


def next_step(command: str) -> None:
    """What to type next, for people."""
    say(f"Next: {command}")


def as_json(value: object) -> str:
    """JSON for scripts: one object, in the order of its keys."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def as_line(value: object) -> str:
    """The same on one line, for streams."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def clean(text: str) -> str:
    """Text without control characters: what models wrote may not drive a terminal."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def short(text: str, most: int = 100) -> str:
    """The first characters of a text, on one line."""
    line = " ".join(clean(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def short_line(text: str, most: int) -> str:
    """A line that keeps its own spaces, cut where it is too long."""
    line = clean(text).replace("\n", " ").rstrip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def moment(stamp: str) -> str:
    """A moment of the records in the time of this machine, without its fraction."""
    from datetime import datetime

    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return clean(stamp)
    local = when.astimezone() if when.tzinfo else when
    return local.strftime("%Y-%m-%d %H:%M:%S")


def size(count: int) -> str:
    """A count of bytes, short: 950 B, 12.3 kB, 1.2 MB."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"


def tokens(count: int | None) -> str:
    """A count of tokens, short: 950, 12.3k, 1.20M."""
    if count is None:
        return "-"
    if count < 1000:
        return str(count)
    if count < 1_000_000:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.2f}M"


def money(cost: float | None, *, spent: bool) -> str:
    """A cost in USD; unknown where something was spent at an unknown price.

    Args:
        cost: USD, or None where it is not known.
        spent: whether anything was used at all.
    """
    if cost is None:
        return "unknown" if spent else "-"
    if cost == 0:
        return "$0" if spent else "-"
    return f"${cost:.4f}" if cost < 0.1 else f"${cost:.2f}"


def console(call: Call, file: TextIO | None = None) -> Console:
    """Where tables are drawn: as wide as the terminal; wide where there is none."""
    from rich.console import Console

    plain = Console(
        file=file,
        color_system="auto" if call.color else None,
        no_color=not call.color,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )
    if not plain.is_terminal:
        plain.width = _WIDE
    return plain


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()
) -> RenderableType:
    """A table without lines; a cell that is a known state has its colour.

    Args:
        heads: the columns' names.
        rows: their cells, in the same order.
        right: names of the columns that hold numbers.
    """
    from rich.table import Table
    from rich.text import Text

    numbers = set(right)
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        drawn.add_column(
            head, justify="right" if head in numbers else "left", overflow="fold"
        )
    for row in rows:
        drawn.add_row(*(Text(clean(cell), style=_LOOKS.get(cell, "")) for cell in row))
    return drawn


def look(state: str) -> str:
    """The colour of a state, in rich's words; empty for none."""
    return _LOOKS.get(state, "")
