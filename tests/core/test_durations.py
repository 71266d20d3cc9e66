"""A duration is said in seconds or in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.durations import seconds
from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from agiraph.model.json import Json


@pytest.mark.parametrize(
    ("said", "meant"),
    [(90, 90), (0.5, 0.5), ("90", 90), ("90s", 90), ("30m", 1800), ("1.5 h", 5400),
     ("2 Hours", 7200), ("1d", 86400), (" 5 min ", 300)],
)  # fmt: skip
def test_seconds_and_words_are_understood(said: Json, meant: float) -> None:
    assert seconds(said) == meant


@pytest.mark.parametrize("said", [0, -1, "soon", "", None, True, "1w", 1e12, []])
def test_everything_else_is_refused_with_examples(said: Json) -> None:
    with pytest.raises(ToolRefused, match="30m"):
        seconds(said)
