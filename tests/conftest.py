"""Drawn tests draw the same every time, so that a failure is about the change at hand.

`pytest --hypothesis-profile=explore` draws anew and keeps what it finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--wires`: see `tests/support/manners.py`; here, because here it is found."""
    parser.addoption(
        "--wires",
        default="",
        help="how the scenarios speak to models: all, or names such as gemini-whole",
    )
