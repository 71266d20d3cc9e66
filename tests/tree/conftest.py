from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.tree.pen import DiskPen
from tests.support.clock import HandClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with one agent's home, `ada`."""
    root = tmp_path / "agents"
    (root / "ada").mkdir(parents=True)
    return root


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=[None, False], ids=["openat2", "by hand"])
def by_kernel(request: pytest.FixtureRequest) -> bool | None:
    """Both ways of opening paths; `openat2` falls back where the kernel has none."""
    return request.param


@pytest.fixture
async def pen(root: Path) -> AsyncIterator[DiskPen]:
    pen = DiskPen(str(root))
    yield pen
    await pen.close()
