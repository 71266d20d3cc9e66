"""A passage is replaced only where it stands exactly once."""

from __future__ import annotations

import pytest

from agiraph.core.edits import replaced
from agiraph.errors import ToolRefused

TEXT = "def one():\n    return 1\n\ndef two():\n    return 2\n"


def refused(old: str, new: str = "x", text: str = TEXT) -> str:
    with pytest.raises(ToolRefused) as refusal:
        replaced(text, old, new, shown="a.py")
    return str(refusal.value)


def test_what_stands_there_once_is_replaced() -> None:
    assert replaced(TEXT, "return 2", "return 3", shown="a.py").endswith("return 3\n")


def test_what_stands_there_often_is_refused_with_its_lines() -> None:
    assert "2 times in a.py (lines 2, 5)" in refused("return")


def test_other_spaces_are_pointed_out() -> None:
    said = refused("def two():\n  return 2")

    assert "other spaces stand at line 4" in said
    assert "    return 2" in said


def test_the_nearest_line_is_shown() -> None:
    assert "nearest is line 4:\ndef two():" in refused("def twoo():")


def test_nothing_like_it_is_said_to_be_so() -> None:
    assert "Nothing like it" in refused("import asyncio from nowhere")


def test_other_line_ends_are_pointed_out() -> None:
    assert "\\r\\n" in refused("a\nb", text="a\r\nb\r\n")


def test_an_empty_passage_and_an_empty_change_are_refused() -> None:
    assert "write_file" in refused("")
    assert "the same" in refused("return 2", "return 2")


def test_a_large_file_is_searched_for_a_near_miss_in_bounded_time() -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(50_000))

    assert "nearest is line 501" in refused("value_500 = 50x", text=text)
