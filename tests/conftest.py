"""Drawn tests draw the same every time, so that a failure is about the change at hand.

`pytest --hypothesis-profile=explore` draws anew and keeps what it finds.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("same")
