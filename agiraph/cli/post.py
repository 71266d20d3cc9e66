"""Writing to an agent: one message, one file in its `_inbox/`."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agiraph.cli.codes import Misused
from agiraph.cli.write import encoded, put
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from pathlib import PurePosixPath

_LONGEST = 8 * 1024 * 1024


def post(
    root: str, agent: str, text: str, *, to: str | None = None, urgent: bool = False
) -> PurePosixPath:
    """Put a message before an agent; the path of its file.

    Args:
        to: a worker, `coordinator` or `all`; None where the text itself may say.

    Raises:
        Misused: there is nothing to send, or it is too long.
    """
    if not text.strip():
        raise Misused("there is nothing to send: the text is empty.")
    message = _message(text, to=to, urgent=urgent)
    if len(encoded(message)) > _LONGEST:
        raise Misused("the text is longer than 8 MiB; put it into inputs/ instead.")
    path = Home(agent).dropbox / _file_name()
    put(root, path, message)
    return path


def _message(text: str, *, to: str | None, urgent: bool) -> str:
    """The file of one message; with settings even where its text begins like some."""
    from agiraph.core.codec import emit

    settings = ({"to": to} if to else {}) | ({"urgent": True} if urgent else {})
    return emit.page(settings, text)


def _file_name() -> str:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return f"{stamp}-{secrets.token_hex(3)}.md"
