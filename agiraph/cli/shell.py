"""What a person can type into a shell: names, and this program itself."""

from __future__ import annotations

import os
import shlex
import shutil
import sys


def quoted(name: str) -> str:
    """A name that can be typed as one word, after `--` where it has a dash."""
    word = shlex.quote(name)
    return f"-- {word}" if name.startswith("-") else word


def on_path() -> str:
    """What puts `agiraph` on the path of the shell; empty where it is there already."""
    here = os.path.join(os.path.dirname(sys.executable), "agiraph")
    found = shutil.which("agiraph")
    if found is not None and os.path.realpath(found) == os.path.realpath(here):
        return ""
    activate = os.path.join(os.path.dirname(here), "activate")
    if os.path.exists(activate):
        return f"source {shlex.quote(activate)}"
    return "" if found else f"PATH={shlex.quote(os.path.dirname(here))}:$PATH"
