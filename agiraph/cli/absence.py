"""Whether the person is away, as the file AWAY says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model import layout

if TYPE_CHECKING:
    from agiraph.cli.read import Files


def away_words(files: Files) -> str:
    """For how long the person is away, by the file AWAY; empty when they are not."""
    if not files.there(layout.AWAY):
        return ""
    from datetime import UTC, datetime

    from agiraph.core.away import read_away

    now = datetime.now(UTC).astimezone()
    away = read_away(files.text(layout.AWAY), now.tzinfo or UTC)
    return "" if away.left(now) == 0.0 else away.told()
