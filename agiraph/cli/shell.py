"""Names as they can be typed into a shell."""

from __future__ import annotations

import shlex


def quoted(name: str) -> str:
    """A name that can be typed as one word, after `--` where it has a dash."""
    word = shlex.quote(name)
    return f"-- {word}" if name.startswith("-") else word
