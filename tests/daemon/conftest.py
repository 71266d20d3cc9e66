"""One daemon for the tests of a module; each test has agents of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.daemon import Daemon

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("home"), {}) as running:
        yield running
