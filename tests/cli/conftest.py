from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from agiraph.cli.app import agiraph
from tests.support.trees import BROKEN, HELD, NEWS, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with three agents: at work, held, broken."""
    return write(tmp_path / "agents", NEWS | HELD | BROKEN)


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Types a command line for that tree."""
    monkeypatch.setenv("AGIRAPH_AGENTS", str(root))
    monkeypatch.chdir(root.parent)

    def typed(*words: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(agiraph, list(words), input=stdin)

    return typed
