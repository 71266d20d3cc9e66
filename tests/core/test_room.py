"""When the disk takes no new work, and when it does again."""

from __future__ import annotations

import pytest

from agiraph.core.room import MIB, Room, crowded


@pytest.mark.parametrize(
    ("left", "was", "parks"),
    [(17, False, False), (15, False, True), (20, True, True), (33, True, False)],
)
def test_work_parks_below_the_floor_and_goes_on_well_above_it(
    left: int, was: bool, parks: bool
) -> None:
    words = crowded(Room(left * MIB, None), was=was)
    assert bool(words) is parks
    if parks:
        assert words.startswith(f"the disk is nearly full: {left} MiB left")
        assert "goes on by itself when 32 MiB are free" in words


@pytest.mark.parametrize(
    ("left", "was", "parks"),
    [(17, False, False), (0, False, True), (20, True, True), (64, True, False)],
)
def test_names_for_new_files_count_too(left: int, was: bool, parks: bool) -> None:
    words = crowded(Room(10**12, left), was=was)
    assert bool(words) is parks
    assert not parks or f"({left} inodes)" in words


def test_a_disk_that_does_not_count_is_not_judged() -> None:
    assert crowded(Room(None, None), was=True) == ""
