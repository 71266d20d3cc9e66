from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support import manners
from tests.support.house import House, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.manners import Manner

LONGEST = 60.0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tell each story in every manner that is wanted."""
    if "manner" in metafunc.fixturenames:
        wires = str(metafunc.config.getoption("--wires"))
        story = metafunc.module.__name__.rpartition(".")[2]
        try:
            wanted = manners.chosen(wires, story)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        metafunc.parametrize("manner", wanted, ids=str, scope="module")


@pytest.fixture(autouse=True)
def under_a_minute() -> Iterator[None]:
    """A scenario that takes longer is stuck somewhere, even if it gets there."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < LONGEST


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, manner: Manner) -> Iterator[House]:
    """One daemon and one model server for the short stories of a module."""
    with opened(tmp_path_factory.mktemp("house"), manner) as house:
        yield house
