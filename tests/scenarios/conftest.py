from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.house import House, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 60.0


@pytest.fixture(autouse=True)
def under_a_minute() -> Iterator[None]:
    """A scenario that takes longer is stuck somewhere, even if it gets there."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < LONGEST


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One daemon and one model server for the short stories of a module."""
    with opened(tmp_path_factory.mktemp("house")) as house:
        yield house
