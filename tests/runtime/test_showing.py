"""What a model is shown: as much as fits, with a way to the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_result_too_large_for_the_context_goes_to_a_file(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        lines = [f"- {number}: Paris is large." for number in range(1_400)]
        a.write("MEMORY.md", "\n".join(lines))
        a.model.says(COORDINATOR, call("memory_read", path="MEMORY.md"))
        await a.begin()
        await a.asked(COORDINATOR, 2)

        (shown,) = a.results("memory_read")
        assert len(shown) < 25_000
        assert shown.startswith(lines[0])
        assert shown.endswith(lines[-1])
        kept, _, rest = shown.partition("kept in ")[2].partition("; read on with ")
        assert kept.startswith("outputs/")
        assert rest.startswith("read_file, offset=")
        first = int(rest.removeprefix("read_file, offset=").split()[0])
        assert a.text(kept) == "\n".join(lines)

        a.model.says(COORDINATOR, call("read_file", path=kept, offset=first))
        await a.asked(COORDINATOR, 3)
        (more,) = a.results("read_file")
        assert more.startswith(lines[first - 1])
        assert lines[first - 2] in shown
        assert lines[first - 1] not in shown


async def test_a_single_inference_has_its_refs_whole(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.write("inputs/long.txt", "word " * 10_000 + "the end")
        one = node("n", max_turns=1, refs={"text": "inputs/long.txt"})
        a.model.says(COORDINATOR, one, say("ok"))
        await a.begin()
        await a.asked("n")

        assert "the end" in a.model.heard("n")
        assert "read_file" not in a.model.heard("n")


async def test_a_single_inference_whose_refs_do_not_fit_fails_and_says_why(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.window = 20_000
        a.write("inputs/long.txt", "word " * 20_000)
        one = node("n", max_turns=1, refs={"text": "inputs/long.txt"})
        a.model.says(COORDINATOR, one, say("ok"))
        await a.begin()
        await a.until(lambda: a.state("n") == "failed")

        assert "inputs/long.txt" in a.desk.nodes["n"].status.error
        assert "without tools" in a.desk.nodes["n"].status.error
        assert a.model.asked("n") == 0


async def test_a_persons_edit_of_memory_is_not_overwritten_unseen(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("MEMORY.md", "Paris is large.\n")
        await a.begin()
        await a.asked(COORDINATOR)
        a.write("MEMORY.md", "Paris is large.\nNever call before nine.\n")
        write = call("memory_write", path="MEMORY.md", content="Paris is old.\n")
        a.model.says(COORDINATOR, write)
        await a.asked(COORDINATOR, 2)

        assert "+Never call before nine." in a.results("memory_write")[0]
        assert "nine" in (a.home / "MEMORY.md").read_text()


async def test_a_spec_changed_over_a_restart_is_shown_to_its_worker(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        await a.begin()
        await a.asked("n")
        await a.end()
        a.write(f"runs/{a.run.name}/nodes/n/_spec.md", "Do something else.\n")
        await a.restart()
        await a.asked("n", 2)
        assert "Do something else." in a.model.heard("n")
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")
