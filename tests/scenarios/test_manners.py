"""Of the eight manners of speaking to a model, each is the one of some story."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.manners import MANNERS, SAMPLE, chosen


def test_every_manner_is_tried_and_every_story_has_one() -> None:
    assert len(MANNERS) == 8
    assert set(SAMPLE.values()) == set(MANNERS)
    stories = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert stories - {Path(__file__).stem} == set(SAMPLE)


def test_manners_are_chosen_by_name() -> None:
    assert [str(one) for one in chosen("", "test_smoke")] == ["messages"]
    assert chosen("all", "test_smoke") == list(MANNERS.values())
    named = chosen("gemini, chat-whole", "test_smoke")
    assert [(one.wire, one.stream) for one in named] == [
        ("gemini", True),
        ("chat", False),
    ]
    with pytest.raises(ValueError, match="--wires other: it may be all, or messages"):
        chosen("chat,other", "test_smoke")
