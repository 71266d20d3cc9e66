"""Which names are conflict copies of which files."""

from __future__ import annotations

import pytest

from agiraph.core.copies import copied

KNOWN = ("GOAL.md", "_inbox.md", "triggers.yaml")


@pytest.mark.parametrize(
    ("name", "original"),
    [
        ("GOAL.sync-conflict-20261121-201403-ABCDEFG.md", "GOAL.md"),
        ("_inbox (Ann's conflicted copy 2026-11-21).md", "_inbox.md"),
        ("triggers (SFConflict ann 2026-11-21).yaml", "triggers.yaml"),
        ("GOAL.md", ""),
        ("GOAL.md.error.md", ""),
        ("conflict.md", ""),
        ("my GOAL conflict.md", ""),
        ("GOAL.sync-conflict-20261121-201403-ABCDEFG.txt", ""),
    ],
)
def test_a_conflict_copy_is_known_by_the_word_in_its_name(
    name: str, original: str
) -> None:
    assert copied(name, KNOWN) == original
