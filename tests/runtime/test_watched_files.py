"""Files that triggers wait for: what is news, how often is looked, and how far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import read_triggers
from agiraph.core.codec.report import Good
from agiraph.runtime.triggers import eye
from agiraph.runtime.triggers.watched import EVERY, Watched
from tests.runtime.test_triggers import PULSE, arm, finished, later, told
from tests.support.inside import inside

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from agiraph.model.trigger import Trigger
    from tests.support.inside import Inside


def waits_for(*globs: str) -> tuple[Trigger, ...]:
    found = read_triggers(
        "".join(
            f"- {{id: t{n}, type: on_event, event: file.changed, "
            f"filter: {{path: '{each}'}}, action: {{type: wake_agent, task: T}}}}\n"
            for n, each in enumerate(globs)
        )
    )
    assert isinstance(found, Good)
    return found.value


def being_written(a: Inside) -> None:
    """What is on the disk counts as just written, however slow the machine is."""
    a.in_step()
    a.clock.wall -= 50


def news(a: Inside) -> list[str]:
    """What was told of files, in order: how and which."""
    return [
        f"{event.data['how']} {event.data['path']}"
        for event in a.said
        if event.type.value == "file.changed"
    ]


async def test_what_was_just_written_at_the_first_look_is_no_news(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        watched = Watched(a.desk)
        a.write("inputs/old.csv", "0\n")
        being_written(a)
        await watched.scan(waits_for("inputs/**"))
        a.clock.ahead += 100
        await watched.scan(waits_for("inputs/**"))
        a.write("memory/old.md", "0\n")
        being_written(a)
        await watched.scan(waits_for("inputs/**", "memory/**"))
        a.clock.ahead += 100
        await watched.scan(waits_for("inputs/**", "memory/**"))
        assert news(a) == []
        a.write("inputs/old.csv", "1\n")
        a.write("inputs/new.csv", "1\n")
        a.clock.ahead += 100
        await watched.scan(waits_for("inputs/**", "memory/**"))
        assert news(a) == ["new a/inputs/new.csv", "changed a/inputs/old.csv"]


async def test_what_is_just_being_written_is_told_once_it_has_settled(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        watched, wanted = Watched(a.desk), waits_for("inputs/**")
        a.goal("The goal.")
        await watched.scan(wanted)
        a.clock.ahead += 100
        a.write("inputs/new.csv", "1\n")
        being_written(a)
        await watched.scan(wanted)
        assert news(a) == []
        a.clock.ahead += 100
        await watched.scan(wanted)
        await watched.scan(wanted)
        assert news(a) == ["new a/inputs/new.csv"]


async def test_a_look_at_the_files_comes_no_sooner_than_the_pace_allows(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        watched, wanted = Watched(a.desk), waits_for("inputs/**")
        a.write("inputs/old.csv", "0\n")
        await watched.scan(wanted)
        a.write("inputs/new.csv", "1\n")
        a.clock.wall += 100  # it has settled long ago; the pace goes by the other clock
        a.clock.ahead += EVERY / 20
        await watched.scan(wanted)
        assert news(a) == []
        wait = watched.seconds(wanted)
        assert wait is not None
        assert 0 < wait < EVERY
        a.clock.ahead += wait
        await watched.scan(wanted)
        assert news(a) == ["new a/inputs/new.csv"]


async def test_no_more_files_and_folders_are_looked_at_than_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eye, "MOST_FILES", 20)
    async with inside(tmp_path) as a:
        for n in range(25):
            a.write(f"inputs/{n:02}.csv", f"{n}\n")
        looks = eye.Eye(a.world.reader, a.desk.home.path)
        assert len(looks.files(("inputs/**",))) == 20
        assert looks.full
        assert looks.files(("inputs/24.csv", "GOAL.md")).keys() == {"inputs/24.csv"}
        assert not looks.full


async def test_no_folder_is_entered_that_a_glob_does_not_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eye, "MOST_FILES", 3)
    async with inside(tmp_path) as a:
        for n in range(9):
            a.write(f"runs/old/{n}.csv", "0\n")
        for path in ("GOAL.md", "inputs/a.csv", "inputs/b/c.csv", "inputs/b/d/e.csv"):
            a.write(path, "0\n")
        looks = eye.Eye(a.world.reader, a.desk.home.path)

        def seen(pattern: str) -> list[str]:
            found = looks.files((pattern,))
            assert not looks.full, "it went where nothing is meant"
            return sorted(found)

        assert seen("GOAL.md") == ["GOAL.md"]
        assert seen("*.md") == ["GOAL.md"]
        assert seen("inputs/*.csv") == ["inputs/a.csv"]
        assert seen("inputs/b/*") == ["inputs/b/c.csv"]
        assert seen("inputs/?/*") == ["inputs/b/c.csv"]
        assert seen("inputs/b/**") == ["inputs/b/c.csv", "inputs/b/d/e.csv"]
        assert seen("in*/a.csv") == ["inputs/a.csv"]
        assert seen("inputs/**/e.csv") == ["inputs/b/d/e.csv"]


async def test_a_beat_that_watches_more_than_is_looked_at_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eye, "MOST_FOLDERS", 5)
    async with inside(tmp_path) as a:
        for n in range(10):
            a.write(f"inputs/{n}/a.csv", f"{n}\n")
        beat = PULSE.replace("every: 1h", "every: 1h, watch: 'inputs/**'")
        await finished(a, beat)
        await later(a, 3600)
        words = "a: pulse watches more files than are looked at; name fewer"
        assert words in a.remarks
        a.remarks.clear()
        arm(a, PULSE)
        await later(a, 3600)
        assert words not in a.remarks


async def test_a_new_input_is_no_change_to_a_beat_that_watches_none(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE)
        a.write("inputs/new.csv", "1,2\n")
        await later(a, 3600)
        assert told(a, "pulse") == ["skipped unchanged"]
        assert a.model.asked("coordinator") == 1
