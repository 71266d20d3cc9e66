"""`_status.md` and `_board.md` change only when what they say changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import Inside, call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

LOOK = call("list_files", path="scratch")


def written(a: Inside) -> list[str]:
    """The names of all pages that are written from now on."""
    names: list[str] = []
    write = a.pen.write

    async def noted(path: object, *args: object, **more: object) -> None:
        names.append(str(path))
        await write(path, *args, **more)  # type: ignore[arg-type]

    a.pen.write = noted  # type: ignore[method-assign, assignment]
    return names


def pages(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith(("_status.md", "_board.md"))]


async def test_model_calls_alone_change_no_page_for_half_a_minute(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        looks = [call("list_files", path=path) for path in ("scratch", "inputs")] * 2
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        a.model.says("n", LOOK)
        await a.begin()
        await a.asked("n", 2)
        await a.stays(lambda: True, 0.3)

        names = written(a)
        a.model.says("n", *looks)
        await a.asked("n", 6)
        await a.stays(lambda: pages(names) == [])

        await a.leap(31)
        board = a.run / "_board.md"
        await a.until(lambda: "| worker-1 | 5 |" in board.read_text())
        assert pages(names).count(f"a/runs/{a.run.name}/_board.md") == 1
        a.model.says("n", publish())
        await a.until(lambda: "completed" in board.read_text())


async def test_a_restart_changes_no_board_that_says_the_same(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin()
        await a.asked("n")
        board = a.run / "_board.md"
        await a.until(lambda: "running" in board.read_text())
        before = board.stat().st_mtime_ns

        await a.restart()
        await a.asked("n", 2)
        await a.stays(lambda: board.stat().st_mtime_ns == before)
