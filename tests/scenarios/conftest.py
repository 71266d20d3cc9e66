from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 60.0


@pytest.fixture(autouse=True)
def under_a_minute() -> Iterator[None]:
    """A scenario that takes longer is stuck somewhere, even if it gets there."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < LONGEST
