"""Files dropped into `_inbox/`: each version is delivered once, over kills too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside

if TYPE_CHECKING:
    from pathlib import Path, PurePosixPath

    from tests.support.inside import Inside


class Killed(Exception):
    """The daemon died here."""


async def begun(a: Inside) -> None:
    a.model.says(COORDINATOR, call("wait", timeout=9000))
    await a.begin()
    await a.asked(COORDINATOR)
    await a.until(lambda: a.lines()[-1]["role"] == "assistant")


async def heard(a: Inside, words: str, times: int) -> None:
    """So often it was told in the end, and no more."""
    for _ in range(9):
        a.model.says(COORDINATOR, call("wait", timeout=9000))
    await a.look()
    await a.until(lambda: a.told().count(words) >= times)
    await a.look()
    await a.stays(lambda: a.told().count(words) == times)


def read(a: Inside) -> list[str]:
    return sorted(path.read_text() for path in (a.home / "_inbox/.read").iterdir())


async def test_a_file_dropped_again_after_a_kill_behind_its_move_is_delivered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        accept = a.desk.mail.accept

        async def dies(source: str, drafts: list[object], memory: object) -> object:
            if memory is None:
                raise Killed
            return await accept(source, drafts, memory)  # type: ignore[arg-type]

        monkeypatch.setattr(a.desk.mail, "accept", dies)
        a.write("_inbox/go.md", "Go on.\n")
        with pytest.raises(Killed):
            await a.look()
        assert read(a) == ["Go on.\n"]
        a.write("_inbox/go.md", "Go on.\n")  # while no daemon runs

        await a.restart()

        await heard(a, "Go on.", 2)
        assert read(a) == ["Go on.\n", "Go on.\n"]
        assert not list((a.home / "_state/accepted/_inbox").iterdir())


async def test_a_file_that_was_accepted_and_not_moved_is_delivered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)

        async def dies(source: PurePosixPath, target: PurePosixPath) -> None:
            raise Killed

        monkeypatch.setattr(a.pen, "move", dies)
        a.write("_inbox/go.md", "Go on.\n")
        with pytest.raises(Killed):
            await a.look()

        await a.restart()

        await heard(a, "Go on.", 1)
        assert read(a) == ["Go on.\n"]


@pytest.mark.parametrize("killed", [False, True])
async def test_what_is_written_over_a_file_just_before_it_moves_is_delivered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, killed: bool
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        move = a.pen.move

        async def late(source: PurePosixPath, target: PurePosixPath) -> None:
            monkeypatch.setattr(a.pen, "move", move)
            a.write("_inbox/beside", "The second.\n")
            (a.home / "_inbox/beside").rename(a.home / "_inbox/go.md")
            await move(source, target)
            if killed:
                raise Killed

        monkeypatch.setattr(a.pen, "move", late)
        a.write("_inbox/go.md", "The first.\n")
        if killed:
            with pytest.raises(Killed):
                await a.look()
            await a.restart()
        else:
            await a.look()

        await heard(a, "The second.", 1)
        assert a.told().count("The first.") == 1
        assert read(a) == ["The second.\n"]


async def test_the_same_words_under_the_same_name_are_a_message_each_time(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        for times in (1, 2, 3):
            a.write("_inbox/go.md", "Go on.\n")
            await heard(a, "Go on.", times)
        assert len(read(a)) == 3


@pytest.mark.parametrize("name", ["a#1.md", "b #2", f"{'long' * 62}.md"])
async def test_a_file_of_any_name_is_a_message(tmp_path: Path, name: str) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        a.write(f"_inbox/{name}", "Go on.\n")
        await heard(a, "Go on.", 1)
        assert read(a) == ["Go on.\n"]
        assert not list((a.home / "_state/accepted/_inbox").iterdir())
        await a.restart()
        await a.stays(lambda: a.told().count("Go on.") == 1)
