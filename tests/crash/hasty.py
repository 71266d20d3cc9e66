"""Agiraph as it ships, but what grows old is put away every fifth of a second.

Half an hour, as it is, would be too long for each point of a sweep.
"""

from __future__ import annotations

import runpy
import sys

from agiraph.runtime.retention import passes

EVERY = 0.2


def hurry() -> None:
    """From here on in this process."""
    passes.EVERY = EVERY  # type: ignore[misc]  # Final for everybody else


if __name__ == "__main__":
    hurry()
    sys.argv[0] = "agiraph"
    runpy.run_module("agiraph", run_name="__main__", alter_sys=True)
